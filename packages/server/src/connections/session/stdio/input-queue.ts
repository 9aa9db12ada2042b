import type { Writable } from 'node:stream';
import { StdioFailure } from './stdio-failure.ts';

export interface InputQueue {
  /** Resolves when the system has taken the line. Rejects with a `StdioFailure` that says whether the program can have it. */
  send(line: string): Promise<void>;
  /** Rejects what waits, and whatever comes later. */
  close(why: string): void;
}

interface Waiting {
  readonly bytes: Buffer;
  readonly resolve: () => void;
  readonly reject: (failure: StdioFailure) => void;
}

/**
 * Lines on their way to a program, one after the other: the next is handed to the system when it has taken the one before, so of all
 * but that one it is known that they were not written. What waits is bounded in bytes.
 */
export function createInputQueue(stream: Writable, maxBytes: number): InputQueue {
  const waiting: Waiting[] = [];
  let queued = 0;
  let writing: Waiting | undefined;
  let closedBecause: string | undefined;

  const writeNext = () => {
    writing = waiting.shift();
    if (!writing) return;
    const one = writing;
    stream.write(one.bytes, error => {
      queued -= one.bytes.length;
      if (error) one.reject(failureOfWrite(error));
      else one.resolve();
      // Closed in the meantime: what waited has been rejected.
      if (writing === one) writeNext();
    });
  };

  return {
    send(line) {
      return new Promise((resolve, reject) => {
        if (closedBecause !== undefined) return reject(new StdioFailure('closed', 'no', closedBecause));
        const bytes = Buffer.from(line, 'utf8');
        if (queued + bytes.length > maxBytes) {
          const message = `it does not read what it is sent: ${queued} bytes wait already, and ${maxBytes} may`;
          return reject(new StdioFailure('not-reading', 'no', message));
        }
        queued += bytes.length;
        waiting.push({ bytes, resolve, reject });
        if (!writing) writeNext();
      });
    },
    close(why) {
      closedBecause ??= why;
      writing?.reject(new StdioFailure('closed', 'unknown', why));
      writing = undefined;
      for (const one of waiting.splice(0)) one.reject(new StdioFailure('closed', 'no', why));
    },
  };
}

/**
 * The program has closed its end before the system took the whole line. It had no line to act on then, and no end of its input either, behind which
 * some take half a line for a whole one.
 */
const CLOSED_BY_PROGRAM = new Set<unknown>(['EPIPE', 'ECONNRESET']);

function failureOfWrite(error: NodeJS.ErrnoException): StdioFailure {
  const reached = CLOSED_BY_PROGRAM.has(error.code) ? 'no' : 'unknown';
  return new StdioFailure('closed', reached, 'it no longer reads what it is sent', { cause: error });
}
