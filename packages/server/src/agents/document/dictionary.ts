import { z } from 'zod';
import { compileTokenPattern } from '../language/token-pattern.ts';
import { tokenize } from '../language/tokens.ts';
import type { DocumentSchema } from './document-type.ts';
import { expressionsField, listOf, tooMany } from './fields.ts';

/** Empty: the words are known but mean nothing, and give `unused(...)`. */
const meaning = z.union([expressionsField, z.literal('')]).default('');

const MAX_ENTRIES = 10_000;
const MAX_WORD = 200;
const MAX_PHRASE = 1_000;
const MAX_PATTERNS = 50;
const MAX_PATTERN = 200;
/** Of all patterns of a dictionary together. */
const MAX_STATES = 5_000;

const regEx = z
  .string()
  .min(1, 'must not be empty')
  .max(MAX_PATTERN, tooMany(MAX_PATTERN, 'characters'))
  .superRefine((source, context) => {
    try {
      compileTokenPattern(source);
    } catch (error) {
      context.addIssue((error as Error).message);
    }
  });

const word = z
  .string()
  .max(MAX_WORD, tooMany(MAX_WORD, 'characters'))
  .refine(text => tokenize(text, 2).length === 1, 'must be one word; what has blanks is a phrase');

const phrase = z
  .string()
  .max(MAX_PHRASE, tooMany(MAX_PHRASE, 'characters'))
  .refine(text => tokenize(text, 1).length > 0, 'must hold at least one word');

/** What people say and what it means (platform.md 3.2). Matching ignores case and punctuation around words. */
export const dictionaryDocument = {
  type: 'dictionary',
  body: z.strictObject({
    /** Consulted only when the conversation property `lang` (default `en`) is this. */
    lang: z.string().min(1).optional(),
    words: listOf(
      z.strictObject({
        word,
        expressions: meaning,
        /** Of two entries for the same text the more frequent wins, then the first. */
        frequency: z.int().min(0).default(0),
      }),
      MAX_ENTRIES,
    ).default([]),
    phrases: listOf(z.strictObject({ phrase, expressions: meaning }), MAX_ENTRIES).default([]),
    /** Each is tried on every word no entry knows, and must match the whole of it. */
    regExs: listOf(z.strictObject({ regEx, expressions: expressionsField }), MAX_PATTERNS)
      // A transform runs when the patterns are right in themselves.
      .transform((list, context) => {
        const states = list.reduce((sum, { regEx: source }) => sum + compileTokenPattern(source).states, 0);
        if (states > MAX_STATES) {
          context.addIssue(`are too big together: they need more than ${MAX_STATES} states; repeat less`);
        }
        return list;
      })
      .default([]),
  }),
} as const satisfies DocumentSchema;

export type DictionaryDocument = z.output<typeof dictionaryDocument.body>;
