import { describe, expect, it } from 'vitest';
import { outputDocument } from './output.ts';
import { parseDocument } from './parse-document.ts';

const save = (body: unknown) => parseDocument(outputDocument, body);
const withItem = (item: unknown) => ({
  outputSet: [{ action: 'greet', outputs: [{ valueAlternatives: [item] }] }],
});

describe('an output document', () => {
  it('fills in the documented defaults', () => {
    expect(save({ outputSet: [{ action: 'greet' }] })).toEqual({
      outputSet: [{ action: 'greet', timesOccurred: 0, outputs: [], quickReplies: [] }],
    });
  });

  it('keeps text, image and whatever else a client can show', () => {
    const items = [
      { type: 'text', text: 'Hello', delay: 400 },
      { type: 'image', uri: 'https://example.org/a.png', alt: 'a' },
      { type: 'button', label: 'Go', onPress: { value: 'go' } },
      { type: 'inputField', subType: 'password' },
    ];
    const saved = save({ outputSet: [{ action: 'a', outputs: [{ valueAlternatives: items }] }] });
    expect(saved.outputSet[0]!.outputs[0]!.valueAlternatives).toEqual(items);
  });

  it.each([
    [
      'a delay of more than ten seconds',
      withItem({ type: 'text', text: 'x', delay: 10_001 }),
      'field "delay"',
    ],
    ['a delay in parts of milliseconds', withItem({ type: 'text', text: 'x', delay: 0.5 }), 'field "delay"'],
    ['a text with unknown fields', withItem({ type: 'text', text: 'x', speech: 'y' }), 'field "speech"'],
    ['a text without text', withItem({ type: 'text' }), 'known fields there: type, text, delay'],
    ['an image without address', withItem({ type: 'image' }), 'field "uri"'],
    ['an item without type', withItem({ text: 'x' }), 'valueAlternatives[0].type'],
    ['a bare text', withItem('Hello'), 'valueAlternatives[0]'],
    [
      'no alternative',
      { outputSet: [{ action: 'a', outputs: [{ valueAlternatives: [] }] }] },
      'valueAlternatives',
    ],
    ['an entry for every action', { outputSet: [{ action: '*' }] }, 'must be one action'],
    ['an entry for a pause', { outputSet: [{ action: 'PAUSE_CONVERSATION' }] }, 'is not supported'],
    ['a negative level', { outputSet: [{ action: 'a', timesOccurred: -1 }] }, 'field "timesOccurred"'],
    [
      'a quick reply that means nothing readable',
      { outputSet: [{ action: 'a', quickReplies: [{ value: 'Yes', expressions: 'yes(' }] }] },
      'must be a comma list of expressions',
    ],
  ])('refuses %s', (_, body, problem) => {
    expect(() => save(body)).toThrow(problem);
  });
});
