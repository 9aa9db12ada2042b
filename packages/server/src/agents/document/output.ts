import { z } from 'zod';
import type { DocumentSchema } from './document-type.ts';
import { actionField, expressionsField, listOf } from './fields.ts';

const MAX_ENTRIES = 2_000;
/** Of one entry; a turn that says more, in several entries, fails. */
export const MAX_BUBBLES = 100;
export const MAX_QUICK_REPLIES = 100;
const MAX_ALTERNATIVES = 100;

const filled = z.string().min(1, 'must not be empty');

/** Typing time before the bubble, in milliseconds. */
const delay = z.int().min(0).max(10_000).optional();

const text = z.strictObject({ type: z.literal('text'), text: filled, delay });

const image = z.strictObject({ type: z.literal('image'), uri: filled, alt: z.string().optional(), delay });

// Of these, what an agent means by them is checked, and whatever else a client can show is handed on.
const video = z.looseObject({ type: z.literal('video'), uri: filled });
const audio = z.looseObject({ type: z.literal('audio'), uri: filled });
const button = z.looseObject({ type: z.literal('button'), label: z.string().optional() });
const inputField = z.looseObject({
  type: z.literal('inputField'),
  /** What is typed into it, such as `password`. */
  subType: z.string().optional(),
});
const quickReplyItem = z.looseObject({
  type: z.literal('quickReply'),
  value: filled,
  expressions: expressionsField.optional(),
  isDefault: z.boolean().optional(),
});

const KNOWN = [text, image, video, audio, button, inputField, quickReplyItem] as const;
const KNOWN_TYPES: readonly string[] = KNOWN.map(({ shape }) => shape.type.value);

/** Anything else a client knows how to show: handed on as it is. */
const free = z.looseObject({
  type: z
    .string()
    .regex(/^[A-Za-z][\w-]{0,63}$/, 'must be a plain word: text, image, or any other the client can show')
    .refine(type => !KNOWN_TYPES.includes(type), {
      message: 'is one of the types with fixed fields',
      // So that a broken text is refused as a text.
      abort: true,
    }),
});

/** One bubble (platform.md 3.6). */
export const outputItem = z.union([...KNOWN, free]);

export const quickReplyField = z.strictObject({
  value: filled,
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
            valueAlternatives: listOf(outputItem, MAX_ALTERNATIVES).min(1),
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
