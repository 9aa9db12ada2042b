import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { text as readAll } from 'node:stream/consumers';
import { CliError, EXIT, usageError } from './cli-error.ts';
import type { Io } from './io.ts';

/**
 * A value that does not stand on the command line: standard input without its last line break, or what a person types at the
 * prompt. `hidden` shows nothing of what they type; `usual` is what an empty answer means.
 */
export async function askValue(
  io: Io,
  prompt: string,
  { hidden, usual }: { readonly hidden: boolean; readonly usual?: string },
): Promise<string> {
  const value = io.stdin.isTTY
    ? await ask(io, prompt, hidden)
    : (await readAll(io.stdin)).replace(/\r?\n$/, '');
  if (value === '' && usual !== undefined) return usual;
  if (value === '') throw usageError('No value was given: pipe it in, or type it at the prompt.');
  return value;
}

function ask(io: Io, prompt: string, hidden: boolean): Promise<string> {
  // In terminal mode the reader itself echoes what is typed, so what it cannot write is not seen.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input: io.stdin, output: hidden ? nowhere : io.stderr, terminal: true });
  if (hidden) io.stderr.write(prompt);
  return new Promise((resolve, reject) => {
    reader.once('SIGINT', () => reader.close());
    reader.once('close', () => {
      if (hidden) io.stderr.write('\n');
      reject(new CliError(EXIT.failed, 'Nothing was changed.'));
    });
    reader.question(hidden ? '' : prompt, answer => {
      resolve(answer);
      reader.close();
    });
  });
}
