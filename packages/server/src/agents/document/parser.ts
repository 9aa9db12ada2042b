import { z } from 'zod';
import { listOf, tooMany, withOldNames } from './fields.ts';
import { referenceTo } from './references.ts';

const MAX_DICTIONARIES = 20;
const MAX_CORRECTIONS = 10;
const MAX_NORMALIZERS = 10;
const MAX_TOKENS = 10_000;
const MAX_COUNT = 10_000;
const MAX_ERRORS = 5;
const MAX_CANDIDATES = 100;
const MAX_MARKS = 50;

/** Other platforms store text, and take what is less than 1 for "as usual". */
function count(usual: number, max: number) {
  return z
    .preprocess(value => {
      const number = typeof value === 'string' && /^-?\d{1,9}$/.test(value) ? Number(value) : value;
      return typeof number === 'number' && number < 1 ? usual : number;
    }, z.int().max(max))
    .prefault(usual);
}

function flag(usual: boolean) {
  return z
    .preprocess(value => (value === 'true' ? true : value === 'false' ? false : value), z.boolean())
    .prefault(usual);
}

const noConfig = z.strictObject({}).optional();

/** The dictionaries that come with the parser. */
const BUILT_IN_DICTIONARIES = [
  'integer',
  'decimal',
  'punctuation',
  'email',
  'time',
  'ordinalNumber',
] as const;

const DICTIONARY_KINDS = ['regular', ...BUILT_IN_DICTIONARIES];

const builtIn = z.strictObject({
  type: z.enum(BUILT_IN_DICTIONARIES, `must be one of ${DICTIONARY_KINDS.join(', ')}`),
  config: noConfig,
});

const regular = z.strictObject({
  type: z.literal('regular'),
  config: z.strictObject({ uri: referenceTo('dictionary') }),
});

const CORRECTIONS = 'must be one of levenshtein, phonetic, mergedTerms; stemming is not supported';

const correction = z.discriminatedUnion(
  'type',
  [
    z.strictObject({
      type: z.literal('levenshtein'),
      config: z
        .strictObject({
          /** Typing errors a word may have. */
          distance: count(2, MAX_ERRORS),
          /** How many words are tried in its place. */
          maxCandidates: count(5, MAX_CANDIDATES),
        })
        .prefault({}),
    }),
    z.strictObject({ type: z.literal('phonetic'), config: noConfig }),
    z.strictObject({ type: z.literal('mergedTerms'), config: noConfig }),
  ],
  { error: issue => (issue.code === 'invalid_union' ? CORRECTIONS : undefined) },
);

const normalizer = z.discriminatedUnion(
  'type',
  [
    z.strictObject({
      type: z.literal('punctuation'),
      config: z
        .strictObject({
          removePunctuation: flag(false),
          /** The characters that count as punctuation. */
          punctuationRegexPattern: z
            .string()
            .min(1, 'must not be empty')
            .max(MAX_MARKS, tooMany(MAX_MARKS, 'characters'))
            .default('!?:.,;'),
        })
        .prefault({}),
    }),
    z.strictObject({ type: z.literal('specialCharacter'), config: noConfig }),
    z.strictObject({ type: z.literal('contractedWords'), config: noConfig }),
    z.strictObject({ type: z.literal('allowedCharacter'), config: noConfig }),
  ],
  {
    error: issue =>
      issue.code === 'invalid_union'
        ? 'must be one of punctuation, specialCharacter, contractedWords, allowedCharacter'
        : undefined,
  },
);

const config = z
  .strictObject({
    /** Words no dictionary knows give `unknown(word)`. */
    includeUnknown: flag(true),
    /** Words a dictionary knows without a meaning give `unused(word)`. */
    includeUnused: flag(true),
    /** Keep the expressions an earlier workflow of this turn found. */
    appendExpressions: flag(true),
    /** Words after these are not looked at. */
    maxInputTokens: count(200, MAX_TOKENS),
    /** How many corrected words are tried in one message. */
    maxSuggestions: count(1_000, MAX_COUNT),
    /** How many corrected words are tried in place of one. */
    maxSolutions: count(100, MAX_COUNT),
  })
  .prefault({});

const corrections = listOf(correction, MAX_CORRECTIONS).default([]);
const normalizers = listOf(normalizer, MAX_NORMALIZERS).default([]);

/** The `config` and `extensions` of a parser step (platform.md 3.2). */
export const PARSER_SHAPE = {
  config,
  extensions: withOldNames(
    z
      .strictObject({
        dictionaries: listOf(z.union([regular, builtIn]), MAX_DICTIONARIES).default([]),
        corrections,
        normalizer: normalizers,
      })
      .prefault({}),
    { normalizers: 'normalizer' },
  ).prefault({}),
};

export type CorrectionDocument = z.output<typeof correction>;
export type NormalizerDocument = z.output<typeof normalizer>;

/** The member `parser` of an agent file. The file's own dictionary is the first, and is no part of it. */
export const parserMember = z.strictObject({
  dictionaries: listOf(builtIn, MAX_DICTIONARIES - 1).default([]),
  corrections,
  normalizers,
  config,
});
