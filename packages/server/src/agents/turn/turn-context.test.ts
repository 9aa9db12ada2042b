import { describe, expect, it } from 'vitest';
import { readCallerContext } from './turn-context.ts';

const text = (value: string) => ({ type: 'text', text: value });

describe('the context of a caller', () => {
  it('has values that are plain or say their type', () => {
    const { values, types } = readCallerContext({
      mcp: 'true',
      age: 36,
      user: { name: 'Ada' },
      tags: ['a'],
      nothing: null,
      typed: { type: 'string', value: 'x' },
      number: { type: 'string', value: 7 },
      mood: { type: 'expressions', value: 'mood(good), polite' },
      thing: { type: 'object', value: { a: 1 } },
      list: { type: 'array', value: [1] },
      looksTyped: { type: 'string', value: 'x', more: 1 },
    });
    expect(values).toEqual({
      mcp: 'true',
      age: 36,
      user: { name: 'Ada' },
      tags: ['a'],
      nothing: null,
      typed: 'x',
      number: '7',
      mood: 'mood(good), polite',
      thing: { a: 1 },
      list: [1],
      looksTyped: { type: 'string', value: 'x', more: 1 },
    });
    expect(types).toEqual({
      mcp: 'string',
      age: 'string',
      user: 'object',
      tags: 'array',
      typed: 'string',
      number: 'string',
      mood: 'expressions',
      thing: 'object',
      list: 'array',
      looksTyped: 'object',
    });
  });

  it('keeps nothing under the reserved names, nor under names that begin with one', () => {
    const reserved = [
      'groupId',
      'groupConversationId',
      'groupDepth',
      'groupTranscript',
      'dynamicAgentConfig',
    ];
    const names = [...reserved, 'dynamicCreatedAgentIds', 'delegationDepth', 'groupId2', 'groupTranscript:1'];
    const given = Object.fromEntries([...names, 'group', 'mygroupId'].map(name => [name, 'x']));
    expect(readCallerContext(given).values).toEqual({ group: 'x', mygroupId: 'x' });
  });

  it('has the agent say what stands under names that begin with output and quickReplies', () => {
    const { injected } = readCallerContext({
      output: 'Hello',
      'output:image': { type: 'object', value: { type: 'image', uri: 'https://example.org/a.png' } },
      outputs: [text('a'), 'b', { valueAlternatives: [text('c'), text('d')] }],
      quickReplies: { type: 'array', value: ['Yes', { value: 'No', expressions: 'no' }] },
      quickRepliesMore: { value: 'Maybe' },
    });
    expect(injected).toEqual({
      output: [
        text('Hello'),
        { type: 'image', uri: 'https://example.org/a.png' },
        text('a'),
        text('b'),
        text('c'),
      ],
      quickReplies: [{ value: 'Yes' }, { value: 'No', expressions: 'no' }, { value: 'Maybe' }],
    });
    expect(readCallerContext().injected).toEqual({ output: [], quickReplies: [] });
  });

  it.each([
    ['a text that is none', { a: { type: 'string', value: [] } }, 'context.a:'],
    [
      'broken expressions',
      { a: { type: 'expressions', value: 'a(' } },
      'context.a: the whole value is not valid: must be a comma list',
    ],
    ['an object that is a list', { a: { type: 'object', value: [] } }, 'context.a:'],
    ['a list that is none', { a: { type: 'array', value: {} } }, 'context.a:'],
    ['a broken bubble', { output: { type: 'object', value: { type: 'text' } } }, 'field "text"'],
    ['a broken quick reply', { quickReplies: [{ value: '' }] }, 'context.quickReplies: field "value"'],
    ['many bubbles', { output: Array(101).fill('x') }, 'at most 100'],
    [
      'many values',
      Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`k${i}`, 1])),
      'at most 100 values',
    ],
    ['long names', { ['x'.repeat(201)]: 1 }, 'names of 200 characters'],
    ['long values', { a: 'x'.repeat(200_000) }, '200000 characters'],
  ])('is refused with %s', (_, given, problem) => {
    expect(() => readCallerContext(given)).toThrow(problem);
  });
});
