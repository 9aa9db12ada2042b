import { z } from 'zod';
import type { DocumentSchema } from './document-type.ts';
import { actionField, expressionsField, listOf } from './fields.ts';

const MAX_ENTRIES = 2_000;
/** Of one entry; a turn that says more, in several entries, fails. */
export const MAX_BUBBLES = 100;
export const MAX_QUICK_REPLIES = 100;
const MAX_ALTERNATIVES = 100;

const text = z.strictObject({
  type: z.literal('text'),
  text: z.string().min(1, 'must not be empty'),
  /** Typing time before the bubble, in milliseconds. */
  delay: z.int().min(0).max(10_000).optional(),
});

const image = z.strictObject({
  type: z.literal('image'),
  uri: z.string().min(1, 'must not be empty'),
  alt: z.string().optional(),
});

/** Anything a client knows how to show, such as `button`, `video` or `inputField`: handed on as it is. */
const free = z.looseObject({
  type: z
    .string()
    .regex(/^[A-Za-z][\w-]{0,63}$/, 'must be a plain word: text, image, or any other the client can show')
    .refine(type => type !== 'text' && type !== 'image', {
      message: 'is one of the types with fixed fields',
      // So that a broken text is refused as a text.
      abort: true,
    }),
});

const quickReplyField = z.strictObject({
  value: z.string().min(1, 'must not be empty'),
  /** What choosing it means to the next turn's rules. */
  expressions: expressionsField.optional(),
  isDefault: z.boolean().optional(),
});

/** What the agent says when an action is raised (platform.md 3.6). */
export const outputDocument = {
  type: 'output',
  body: z.strictObject({
    outputSet: listOf(
      z.strictObject({
        action: actionField,
        /** Said when the action was raised this often in earlier turns. */
        timesOccurred: z.int().min(0).default(0),
        /** One bubble each; one of the alternatives is said. */
        outputs: listOf(
          z.strictObject({
            valueAlternatives: listOf(z.union([text, image, free]), MAX_ALTERNATIVES).min(1),
          }),
          MAX_BUBBLES,
        ).default([]),
        quickReplies: listOf(quickReplyField, MAX_QUICK_REPLIES).default([]),
      }),
      MAX_ENTRIES,
    ),
  }),
} as const satisfies DocumentSchema;

export type OutputDocument = z.output<typeof outputDocument.body>;
