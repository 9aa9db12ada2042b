import { describe, expect, it } from 'vitest';
import { llmDocument } from '../../../document/llm.ts';
import { parseDocument } from '../../../document/parse-document.ts';
import { objectInstruction, objectRequest, readAnswerObject } from './answer-object.ts';

const taskWith = (parameters: object) =>
  parseDocument(llmDocument, { tasks: [{ id: 'x', type: 'ollama', parameters }] }).tasks[0]!;
const schema = { type: 'object', properties: { mood: { type: 'string' } } };

describe('readAnswerObject', () => {
  it('reads an object, also in a fence, with what of it is made use of', () => {
    const object = {
      htmlResponseText: 'Hi',
      quickReplies: ['Yes', { value: 'No' }, { value: '' }, 1],
      mood: 'fine',
    };
    for (const answer of [
      JSON.stringify(object),
      `\n\`\`\`json\n${JSON.stringify(object, null, 2)}\n\`\`\`\n`,
    ]) {
      expect(readAnswerObject(answer)).toEqual({ value: object, text: 'Hi', quickReplies: ['Yes', 'No'] });
    }
    expect(readAnswerObject('{"mood":"fine","quickReplies":"none"}')).toEqual({
      ...{ value: { mood: 'fine', quickReplies: 'none' }, text: undefined, quickReplies: [] },
    });
  });

  it('offers so many replies of such a length, and no more', () => {
    const quickReplies = [...Array.from({ length: 30 }, (_, i) => `reply ${i}`), 'x'.repeat(201)];
    expect(readAnswerObject(JSON.stringify({ quickReplies }))!.quickReplies).toEqual(
      quickReplies.slice(0, 20),
    );
    expect(readAnswerObject(JSON.stringify({ quickReplies: ['x'.repeat(201)] }))!.quickReplies).toEqual([]);
  });

  it('finds none in anything else', () => {
    for (const answer of [
      'Hello',
      '[1]',
      '"x"',
      '{"a":1',
      '```\n{"a":1}',
      `${'['.repeat(50)}${']'.repeat(50)}`,
      '{"__proto__":{}}',
    ])
      expect(readAnswerObject(answer), answer).toBeUndefined();
  });
});

describe('what a model is asked', () => {
  it('is nothing of an object where none is wanted', () => {
    expect(objectInstruction(taskWith({ responseSchema: schema }))).toBe('');
    expect(objectRequest(taskWith({ responseSchema: schema }))).toBeUndefined();
  });

  it('is an object that fits the schema, however that is written', () => {
    for (const responseSchema of [schema, JSON.stringify(schema)]) {
      const task = taskWith({ convertToObject: 'true', responseSchema });
      expect(objectInstruction(task)).toContain(`fits this schema:\n${JSON.stringify(schema)}`);
      expect(objectRequest(task)).toEqual({ schema });
    }
  });

  it('is an object as the author describes it in words, or any', () => {
    const told = taskWith({ convertToObject: true, responseSchema: '{"mood": "how they feel"}' });
    expect(objectInstruction(told)).toContain('fits this schema:\n{"mood": "how they feel"}');
    expect(objectRequest(told)).toEqual({});
    const any = taskWith({ convertToObject: true });
    expect(objectInstruction(any)).toMatch(/without a code fence$/);
    expect(objectRequest(any)).toEqual({});
  });
});
