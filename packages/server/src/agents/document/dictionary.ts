import { z } from 'zod';
import { compileTokenPattern } from '../language/token-pattern.ts';
import { tokenize } from '../language/tokens.ts';
import type { DocumentSchema } from './document-type.ts';
import { expressionsField } from './fields.ts';

/** Empty: the words are known but mean nothing, and give `unused(...)`. */
const meaning = z.union([expressionsField, z.literal('')]).default('');

const MAX_PATTERN = 200;

const regEx = z
  .string()
  .min(1, 'must not be empty')
  .max(MAX_PATTERN, `must have at most ${MAX_PATTERN} characters`)
  .superRefine((source, context) => {
    try {
      compileTokenPattern(source);
    } catch (error) {
      context.addIssue((error as Error).message);
    }
  });

const word = z
  .string()
  .refine(text => tokenize(text, 2).length === 1, 'must be one word; what has blanks is a phrase');

const phrase = z.string().refine(text => tokenize(text, 1).length > 0, 'must hold at least one word');

/** What people say and what it means (platform.md 3.2). Matching ignores case and punctuation around words. */
export const dictionaryDocument = {
  type: 'dictionary',
  body: z.strictObject({
    /** Consulted only when the conversation property `lang` (default `en`) is this. */
    lang: z.string().min(1).optional(),
    words: z
      .array(
        z.strictObject({
          word,
          expressions: meaning,
          /** Of two entries for the same text the more frequent wins, then the first. */
          frequency: z.int().min(0).default(0),
        }),
      )
      .default([]),
    phrases: z.array(z.strictObject({ phrase, expressions: meaning })).default([]),
    /** Each is tried on every word no entry knows, and must match the whole of it. */
    regExs: z
      .array(z.strictObject({ regEx, expressions: expressionsField }))
      .max(50)
      .default([]),
  }),
} as const satisfies DocumentSchema;

export type DictionaryDocument = z.output<typeof dictionaryDocument.body>;
