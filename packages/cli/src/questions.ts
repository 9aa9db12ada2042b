import { createInterface } from 'node:readline';
import { usageError } from './cli-error.ts';
import type { Io } from './io.ts';
import { writeLine } from './text.ts';

/** Asks a person, or a script that writes the answers line by line. */
export interface Questions {
  /**
   * The answer, or `usual` for an empty line. `problemOf` says what is wrong with an answer, as a phrase: a person is asked again, a
   * script is refused. `flag` is named where the answers end early.
   */
  ask(
    question: string,
    options: {
      readonly usual?: string | undefined;
      readonly flag: string;
      readonly problemOf?: (answer: string) => string | undefined;
    },
  ): Promise<string>;
  /** An empty line is no answer; neither is the end of the answers. */
  askMore(question: string): Promise<string | undefined>;
  close(): void;
}

export function createQuestions(io: Io): Questions {
  const isPerson = io.stdin.isTTY === true;
  const reader = createInterface({ input: io.stdin, crlfDelay: Number.POSITIVE_INFINITY });
  const lines = reader[Symbol.asyncIterator]();

  async function nextLine(prompt: string): Promise<string | undefined> {
    io.stderr.write(prompt);
    const { value, done } = await lines.next();
    // What a script answers is not seen otherwise.
    if (!isPerson) writeLine(io.stderr, done ? '' : value);
    return done ? undefined : value.trim();
  }

  return {
    async ask(question, { usual, flag, problemOf = () => undefined }) {
      for (;;) {
        const line = await nextLine(usual === undefined ? `${question}: ` : `${question} [${usual}]: `);
        const answer = line === undefined || line === '' ? usual : line;
        if (answer === undefined && line === undefined) {
          throw usageError(`The answers ended before '${question}'; answer it with ${flag}, or give --yes.`);
        }
        const problem = answer === undefined ? 'needs an answer' : problemOf(answer);
        if (problem === undefined) return answer!;
        if (!isPerson) throw usageError(`${question}: '${answer ?? ''}' ${problem}.`);
        writeLine(io.stderr, `It ${problem}.`);
      }
    },
    async askMore(question) {
      const line = await nextLine(`${question}: `);
      return line === '' ? undefined : line;
    },
    close: () => reader.close(),
  };
}
