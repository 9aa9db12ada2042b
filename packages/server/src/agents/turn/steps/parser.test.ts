import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseExpression } from '../../language/expression.ts';
import type { QuickReply } from '../../step/step.ts';
import { parserStep } from './parser.ts';
import { loadFrom, pastStep, testMemory, testTools } from './test-turn.ts';

const GREETINGS = {
  words: [
    { word: 'hello', expressions: 'greeting(hello)' },
    { word: 'please' },
    { word: 'c++', expressions: 'language(cpp)' },
    { word: 'Straße', expressions: 'street' },
  ],
  phrases: [
    { phrase: 'good morning', expressions: 'greeting(morning), polite' },
    { phrase: 'good morning to you', expressions: 'greeting(long)' },
  ],
  regExs: [{ regEx: '[a-z]{2}-\\d+', expressions: 'order(*)'.replace('*', 'number') }],
};

interface Setup {
  readonly dictionaries?: readonly unknown[];
  readonly config?: Record<string, unknown>;
  readonly quickReplies?: readonly QuickReply[];
  readonly properties?: Record<string, unknown>;
  readonly expressions?: string[];
  readonly intents?: string[];
}

/** What one message is understood as. */
async function parse(input: string | undefined, setup: Setup = {}) {
  const bodies = setup.dictionaries ?? [GREETINGS];
  const compiled = await parserStep.compile(
    {
      type: 'parser',
      ...(setup.config && { config: setup.config }),
      extensions: {
        dictionaries: bodies.map((_, i) => ({
          type: 'regular',
          config: { uri: `patchbay://dictionary/words-${i}?version=1` },
        })),
      },
    },
    loadFrom(Object.fromEntries(bodies.map((body, i) => [`dictionary/words-${i}`, body]))),
  );
  const memory = testMemory({
    input,
    properties: setup.properties ?? {},
    ...(setup.quickReplies && { last: pastStep({ quickReplies: setup.quickReplies }) }),
    ...(setup.expressions && { expressions: setup.expressions }),
    ...(setup.intents && { intents: setup.intents }),
  });
  expect(await compiled.run(memory, testTools())).toBe('continue');
  return memory;
}

const expressionsOf = async (input: string | undefined, setup?: Setup) =>
  (await parse(input, setup)).expressions;

describe('the parser', () => {
  it('finds words in any case, whatever punctuation stands around them', async () => {
    for (const input of ['hello', 'HELLO!', '  "Hello," ', '(hello)', '¿Hello?', 'hello !']) {
      expect(await expressionsOf(input)).toEqual(['greeting(hello)']);
    }
    expect(await expressionsOf('C++, c++!')).toEqual(['language(cpp)', 'language(cpp)']);
  });

  it('takes a letter and its mark as one, however they are encoded', async () => {
    const dictionaries = [{ words: [{ word: 'ár'.normalize('NFC'), expressions: 'price' }] }];
    expect(await expressionsOf('ÁR'.normalize('NFD'), { dictionaries })).toEqual(['price']);
  });

  it('prefers the longest phrase and covers every word once', async () => {
    expect(await expressionsOf('Good morning, to you!')).toEqual(['greeting(long)']);
    expect(await expressionsOf('good morning to all')).toEqual([
      'greeting(morning)',
      'polite',
      'unknown(to)',
      'unknown(all)',
    ]);
    expect(await expressionsOf('good')).toEqual(['unknown(good)']);
  });

  it('tells words it does not know from words that mean nothing', async () => {
    expect(await expressionsOf('please Frobnicate')).toEqual(['unused(please)', 'unknown(Frobnicate)']);
    const config = { includeUnknown: false, includeUnused: false };
    expect(await expressionsOf('please frobnicate hello', { config })).toEqual(['greeting(hello)']);
  });

  it('gives the names of what it found as intents, each once', async () => {
    const { intents } = await parse('hello good morning please xyzzy hello');
    expect(intents).toEqual(['greeting', 'polite']);
  });

  it('tries regular expressions on words it does not know', async () => {
    expect(await expressionsOf('AB-12 abc-12 ab-12.')).toEqual([
      'order(number)',
      'unknown(abc-12)',
      'order(number)',
    ]);
  });

  it('understands the quick replies of the turn before, before anything else', async () => {
    const quickReplies = [
      { value: 'Hello', expressions: 'chosen(hello)' },
      { value: 'Yes, please', expressions: 'confirmed, polite' },
      { value: 'Maybe' },
    ];
    expect(await expressionsOf('hello', { quickReplies })).toEqual(['chosen(hello)']);
    expect(await expressionsOf('yes please', { quickReplies })).toEqual(['confirmed', 'polite']);
    expect(await expressionsOf('maybe', { quickReplies })).toEqual(['unknown(maybe)']);
    expect(await expressionsOf('good morning', { quickReplies })).toEqual(['greeting(morning)', 'polite']);
  });

  it('lets the more frequent entry win, then the first', async () => {
    const one = { words: [{ word: 'bank', expressions: 'money' }] };
    const two = {
      words: [
        { word: 'Bank', expressions: 'river', frequency: 2 },
        { word: 'bank', expressions: 'bench', frequency: 1 },
      ],
    };
    expect(
      await expressionsOf('bank', { dictionaries: [one, { words: [{ word: 'bank', expressions: 'x' }] }] }),
    ).toEqual(['money']);
    expect(await expressionsOf('bank', { dictionaries: [one, two] })).toEqual(['river']);
  });

  it('consults a dictionary of a language only in conversations of that language, English unless told', async () => {
    const dictionaries = [
      { lang: 'hu', words: [{ word: 'igen', expressions: 'yes' }] },
      { lang: 'en', words: [{ word: 'yes', expressions: 'yes' }] },
    ];
    expect(await expressionsOf('igen yes', { dictionaries })).toEqual(['unknown(igen)', 'yes']);
    expect(await expressionsOf('igen yes', { dictionaries, properties: { lang: 'hu' } })).toEqual([
      'yes',
      'unknown(yes)',
    ]);
  });

  it('adds to what an earlier workflow found, or replaces it', async () => {
    const earlier = { expressions: ['mood(good)'], intents: ['mood'] };
    const added = await parse('hello', earlier);
    expect([added.expressions, added.intents]).toEqual([
      ['mood(good)', 'greeting(hello)'],
      ['mood', 'greeting'],
    ]);
    const replaced = await parse('hello', { ...earlier, config: { appendExpressions: false } });
    expect([replaced.expressions, replaced.intents]).toEqual([['greeting(hello)'], ['greeting']]);
  });

  it('looks at the first 200 words unless told', async () => {
    expect(await expressionsOf('hello '.repeat(300))).toHaveLength(200);
    expect(await expressionsOf('hello hello hello', { config: { maxInputTokens: 2 } })).toHaveLength(2);
  });

  it('finds nothing in the greeting turn', async () => {
    expect(await expressionsOf(undefined)).toEqual([]);
  });

  it('makes readable expressions of anything a person can say', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme', maxLength: 60 }), async input => {
        for (const text of await expressionsOf(input)) expect(parseExpression(text)).toBeDefined();
      }),
    );
  });

  it('is done quickly with hostile input', async () => {
    const from = performance.now();
    await expressionsOf(`${'!'.repeat(100_000)}a${'!'.repeat(99_999)}`);
    await expressionsOf(`a${'!'.repeat(199_998)}b`);
    await expressionsOf('good '.repeat(40_000));
    // Quadratic would be minutes; the bound is generous for a busy machine.
    expect(performance.now() - from).toBeLessThan(5000);
  });

  it.each([
    [
      'an unknown option',
      { config: { includeUnknwon: true } },
      'parser step: field "includeUnknwon" at $.config.includeUnknwon is unknown',
    ],
    ['a feature not built', { extensions: { corrections: [] } }, '(known fields there: dictionaries)'],
    [
      'another kind of dictionary',
      { extensions: { dictionaries: [{ type: 'integer' }] } },
      'must be "regular"',
    ],
    [
      'a reference to something else',
      {
        extensions: { dictionaries: [{ type: 'regular', config: { uri: 'patchbay://rules/a1?version=1' } }] },
      },
      'must be patchbay://dictionary/<id>?version=<n>',
    ],
  ])('refuses %s when deployed', async (_, step, problem) => {
    await expect(parserStep.compile({ type: 'parser', ...step }, loadFrom({}))).rejects.toThrow(problem);
  });
});
