import { z } from 'zod';

// What callers read that accept `text/event-stream`: any number of `delta`, perhaps an `error`, and always `done` as the last (BX-18).

const delta = z.object({
  type: z.literal('delta'),
  text: z.string().describe('A bubble of the reply, or a piece of one that is being written'),
  index: z.int().describe('Which bubble, counted from 0'),
});

const error = z.object({
  type: z.literal('error'),
  error: z.looseObject({ code: z.string(), message: z.string() }),
});

/** The stream of an operation that runs a turn; `done` holds these members where the turn was answered. */
export function turnStream<Done extends z.ZodRawShape>(done: Done) {
  return {
    frame: z.discriminatedUnion('type', [delta, error, z.object({ type: z.literal('done'), ...done })]),
    last: { type: 'done' },
  } as const;
}
