import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDocument } from '../../document/parse-document.ts';
import { workflowDocument } from '../../document/workflow.ts';
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
  /** Built-in dictionaries, by their type. */
  readonly values?: readonly string[];
  readonly corrections?: readonly object[];
  readonly normalizer?: readonly object[];
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
        dictionaries: [
          ...bodies.map((_, i) => ({
            type: 'regular',
            config: { uri: `patchbay://dictionary/words-${i}?version=1` },
          })),
          ...(setup.values ?? []).map(type => ({ type })),
        ],
        corrections: setup.corrections ?? [],
        normalizer: setup.normalizer ?? [],
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

describe('a word with very many marks on its letters', () => {
  it('is read in linear time, also where letters are written plainly (attack 42)', async () => {
    const marks = '\u0301\u0323'.repeat(100_000);
    for (const normalizer of [[], [{ type: 'specialCharacter' }]]) {
      await parse(`hello e${marks}`, { normalizer, corrections: [{ type: 'phonetic' }] });
    }
  }, 5_000);
});

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

  it('knows values by the built-in dictionaries that are listed', async () => {
    const values = ['integer', 'decimal', 'email', 'time', 'ordinalNumber'];
    expect(await expressionsOf('42 3,14 ada@example.org 14:30 2nd', { values })).toEqual([
      'integer(42)',
      'decimal(3.14)',
      'email(ada@example.org)',
      'time(52200000)',
      'ordinal_number(2)',
    ]);
    expect(await expressionsOf('42 3.14', { values: ['decimal'] })).toEqual(['unknown(42)', 'decimal(3.14)']);
    expect((await parse('2nd of 42', { values })).intents).toEqual(['ordinal_number', 'integer']);
  });

  it('prefers an entry to a value', async () => {
    const dictionaries = [{ words: [{ word: '42', expressions: 'answer' }] }];
    expect(await expressionsOf('42 43', { dictionaries, values: ['integer'] })).toEqual([
      'answer',
      'integer(43)',
    ]);
  });

  it('tells sentence marks where the dictionary of punctuation is listed, after the words they follow', async () => {
    const setup = { values: ['punctuation'] };
    expect(await expressionsOf('Hello! Good morning, to you; ok?', setup)).toEqual([
      'greeting(hello)',
      'punctuation(exclamation_mark)',
      'greeting(long)',
      'punctuation(comma)',
      'punctuation(semicolon)',
      'unknown(ok)',
      'punctuation(question_mark)',
    ]);
    expect(await expressionsOf('...', setup)).toEqual(Array(3).fill('punctuation(dot)'));
    expect(await expressionsOf('hello!', {})).toEqual(['greeting(hello)']);
    expect(await expressionsOf('!'.repeat(10_000), setup)).toHaveLength(200);
  });

  it('corrects typing errors in words it does not know, also within phrases', async () => {
    const corrections = [{ type: 'levenshtein' }];
    expect(await expressionsOf('helo hlelo gud mornign', { corrections })).toEqual([
      'greeting(hello)',
      'greeting(hello)',
      'greeting(morning)',
      'polite',
    ]);
    expect(
      await expressionsOf('hlo morning', { corrections: [{ type: 'levenshtein', config: { distance: 1 } }] }),
    ).toEqual(['unknown(hlo)', 'unknown(morning)']);
    // A word that is in a dictionary is meant as it is.
    expect(await expressionsOf('good', { corrections })).toEqual(['unknown(good)']);
  });

  it('takes the nearest word, of equally near ones the more frequent', async () => {
    const words = [
      { word: 'cart', expressions: 'cart' },
      { word: 'card', expressions: 'card', frequency: 3 },
      { word: 'carp', expressions: 'carp', frequency: 9 },
    ];
    const corrections = [{ type: 'levenshtein' }];
    const dictionaries = [{ words: [...words, { word: 'carbon', expressions: 'carbon', frequency: 99 }] }];
    expect(await expressionsOf('carf', { dictionaries, corrections })).toEqual(['carp']);
    expect(await expressionsOf('caard', { dictionaries, corrections })).toEqual(['card']);
  });

  it('corrects words to what sounds alike, and splits words that were drawn together', async () => {
    const dictionaries = [
      {
        words: [
          { word: 'phone', expressions: 'device(phone)' },
          { word: 'night', expressions: 'night' },
        ],
      },
      GREETINGS,
    ];
    const corrections = [{ type: 'phonetic' }, { type: 'mergedTerms' }];
    expect(await expressionsOf('fone nite goodmorning helloPhone', { dictionaries, corrections })).toEqual([
      'device(phone)',
      'night',
      'greeting(morning)',
      'polite',
      'greeting(hello)',
      'device(phone)',
    ]);
  });

  it('corrects no value, and neither what a regular expression matches', async () => {
    const corrections = [{ type: 'levenshtein' }];
    const dictionaries = [
      {
        words: [
          { word: 'ab-13', expressions: 'x' },
          { word: '4711', expressions: 'y' },
        ],
      },
      GREETINGS,
    ];
    expect(await expressionsOf('ab-12 4712', { dictionaries, corrections, values: ['integer'] })).toEqual([
      'order(number)',
      'integer(4712)',
    ]);
  });

  it('corrects towards quick replies, too', async () => {
    const quickReplies = [{ value: 'Perhaps', expressions: 'maybe' }];
    expect(await expressionsOf('perhasp', { quickReplies, corrections: [{ type: 'levenshtein' }] })).toEqual([
      'maybe',
    ]);
  });

  it('corrects no more words than it may', async () => {
    const corrections = [{ type: 'levenshtein' }];
    expect(await expressionsOf('helo helo', { corrections, config: { maxSuggestions: 1 } })).toEqual([
      'greeting(hello)',
      'unknown(helo)',
    ]);
    const dictionaries = [
      {
        words: [
          { word: 'hell', expressions: 'a', frequency: 1 },
          { word: 'help', expressions: 'b', frequency: 2 },
        ],
      },
    ];
    expect(await expressionsOf('helx', { dictionaries, corrections })).toEqual(['b']);
    expect(await expressionsOf('helx', { dictionaries, corrections, config: { maxSolutions: 1 } })).toEqual([
      'a',
    ]);
    expect(
      await expressionsOf('helo', { corrections, config: { maxSuggestions: 0, maxInputTokens: '-3' } }),
    ).toEqual(['greeting(hello)']);
  });

  it('rewrites what was said and its entries alike by the normalizers, in their order', async () => {
    const dictionaries = [
      {
        words: [
          { word: 'Straße', expressions: 'street' },
          { word: "don't", expressions: 'not' },
        ],
        phrases: [{ phrase: 'do not know', expressions: 'no_idea' }],
      },
    ];
    const setup = (...types: string[]) => ({ dictionaries, normalizer: types.map(type => ({ type })) });
    expect(await expressionsOf('strasse STRASSE', setup('specialCharacter'))).toEqual(['street', 'street']);
    expect(await expressionsOf('I don’t know', setup('contractedWords'))).toEqual(['unknown(I)', 'no_idea']);
    expect(await expressionsOf('do not', setup('contractedWords'))).toEqual(['not']);
    expect(await expressionsOf('stra🙂ße', setup('allowedCharacter'))).toEqual(['street']);
    expect(await expressionsOf('straße,straße', setup('punctuation'))).toEqual(['street', 'street']);
    expect(await expressionsOf('straße,straße', setup())).toEqual(['unknown(straße straße)']);
  });

  it('is done quickly with wrong words, however many there are and however large the dictionary is', async () => {
    const words = Array.from({ length: 10_000 }, (_, i) => ({
      word: `${(i * 7_919).toString(36)}${(i * 104_729).toString(26)}`,
      expressions: 'x',
    }));
    const corrections = [{ type: 'levenshtein' }, { type: 'phonetic' }, { type: 'mergedTerms' }];
    const said = words
      .slice(0, 200)
      .map(({ word }) => `q${word.slice(1)}`)
      .join(' ');
    const from = performance.now();
    expect(await expressionsOf(said, { dictionaries: [{ words }], corrections })).toHaveLength(200);
    // Takes some ten milliseconds; comparing each with each would be a second, and longer than a turn may work.
    expect(performance.now() - from).toBeLessThan(5_000);
  });

  it("takes EDDI's names for its parts, and its numbers as text", async () => {
    const part = (kind: string, type: string, config?: object) => ({
      type: `eddi://ai.labs.parser.${kind}.${type}`,
      ...(config && { config }),
    });
    const uri = 'eddi://ai.labs.dictionary/dictionarystore/dictionaries/words-0?version=1';
    const { workflowSteps } = parseDocument(workflowDocument, {
      workflowSteps: [
        {
          type: 'eddi://ai.labs.parser',
          config: { includeUnknown: 'false', maxInputTokens: '5' },
          extensions: {
            dictionaries: [part('dictionaries', 'integer'), part('dictionaries', 'regular', { uri })],
            corrections: [part('corrections', 'levenshtein', { distance: '1' })],
            normalizer: [part('normalizers', 'punctuation', { removePunctuation: 'true' })],
          },
        },
      ],
    });
    const compiled = await parserStep.compile(
      workflowSteps[0]!,
      loadFrom({ 'dictionary/words-0': GREETINGS }),
    );
    const memory = testMemory({ input: 'helo,42 x y z hello' });
    await compiled.run(memory, testTools());
    expect(memory.expressions).toEqual(['greeting(hello)', 'integer(42)']);
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
    [
      'an unknown extension',
      { extensions: { correction: [] } },
      '(known fields there: dictionaries, corrections, normalizer)',
    ],
    [
      'another kind of dictionary',
      { extensions: { dictionaries: [{ type: 'roman' }] } },
      'must be one of regular, integer, decimal, punctuation, email, time, ordinalNumber',
    ],
    ['stemming', { extensions: { corrections: [{ type: 'stemming' }] } }, 'stemming is not supported'],
    [
      'a correction of too many errors',
      { extensions: { corrections: [{ type: 'levenshtein', config: { distance: 6 } }] } },
      'field "distance"',
    ],
    [
      'another kind of normalizer',
      { extensions: { normalizer: [{ type: 'upperCase' }] } },
      'must be one of punctuation, specialCharacter, contractedWords, allowedCharacter',
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
