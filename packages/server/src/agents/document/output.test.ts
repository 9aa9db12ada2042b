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
      { type: 'video', uri: 'https://example.org/a.mp4', poster: 'b' },
      { type: 'audio', uri: 'https://example.org/a.mp3' },
      { type: 'quickReply', value: 'Yes', expressions: 'yes', isDefault: true },
      { type: 'map', at: [1, 2] },
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
    ['a video without address', withItem({ type: 'video' }), 'field "uri"'],
    ['a quick reply without value', withItem({ type: 'quickReply' }), 'field "value"'],
    [
      'a quick reply as a bubble that means nothing readable',
      withItem({ type: 'quickReply', value: 'Yes', expressions: 'yes(' }),
      'must be a comma list of expressions',
    ],
    ['an input field of no kind', withItem({ type: 'inputField', subType: 1 }), 'field "subType"'],
    ['an item without type', withItem({ text: 'x' }), 'valueAlternatives[0].type'],
    ['a bare text', withItem('Hello'), 'valueAlternatives[0]'],
    [
      'no alternative',
      { outputSet: [{ action: 'a', outputs: [{ valueAlternatives: [] }] }] },
      'valueAlternatives',
    ],
    ['an entry for every action', { outputSet: [{ action: '*' }] }, 'must be one action'],
    ['a negative level', { outputSet: [{ action: 'a', timesOccurred: -1 }] }, 'field "timesOccurred"'],
    [
      'a quick reply that means nothing readable',
      { outputSet: [{ action: 'a', quickReplies: [{ value: 'Yes', expressions: 'yes(' }] }] },
      'must be a comma list of expressions',
    ],
  ])('refuses %s', (_, body, problem) => {
    expect(() => save(body)).toThrow(problem);
  });

  const say = { type: 'text', text: 'x' };
  const bubbles = (count: number, alternatives = 1) => ({
    action: 'a',
    outputs: Array.from({ length: count }, () => ({ valueAlternatives: Array(alternatives).fill(say) })),
  });
  const replies = (count: number) => ({ action: 'a', quickReplies: Array(count).fill({ value: 'x' }) });
  it.each([
    ['entries', Array(2_000).fill(bubbles(1)), Array(2_001).fill(bubbles(1)), 'at most 2000 entries'],
    ['bubbles', [bubbles(100)], [bubbles(101)], 'at most 100 entries'],
    ['alternatives', [bubbles(1, 100)], [bubbles(1, 101)], 'at most 100 entries'],
    ['quick replies', [replies(100)], [replies(101)], 'at most 100 entries'],
  ])('takes so many %s and no more', (_, most, tooMany, problem) => {
    expect(() => save({ outputSet: most })).not.toThrow();
    expect(() => save({ outputSet: tooMany })).toThrow(problem);
  });
});
