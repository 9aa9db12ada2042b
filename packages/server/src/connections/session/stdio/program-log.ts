import { stripVTControlCharacters } from 'node:util';
import type { Clock } from '../../../kernel/clock.ts';
import { redactText } from '../../../kernel/redact.ts';
import { createLineSplitter } from './line-splitter.ts';

/** Bytes of a line that are kept. */
const MAX_LINE_BYTES = 4_096;
/** Lines that are kept to say why a program is down. */
const KEPT_LINES = 50;
/** Lines within `WINDOW_MS`; further ones are counted and dropped. */
const MAX_LINES_PER_WINDOW = 200;
const WINDOW_MS = 10_000;

export interface ProgramLog {
  /** Bytes of stderr, cut anywhere. */
  write(chunk: Buffer): void;
  /** A line of stdout that is no message. */
  note(text: string): void;
  /** Nothing more comes: hands over half a line, and the number of those that were dropped. */
  end(): void;
  /** The last lines, oldest first, as they were told. */
  readonly lines: readonly string[];
}

/**
 * What a program says besides its messages, made fit for a log: one line each, without terminal codes, control characters and secrets, and
 * bounded in length and number. `clean` takes out the secrets the program was given.
 */
export function createProgramLog(options: {
  readonly clock: Pick<Clock, 'now'>;
  readonly clean: (text: string) => string;
  readonly onLine: (line: string) => void;
}): ProgramLog {
  const { clock, clean, onLine } = options;
  const lines: string[] = [];
  let windowStart = Number.NEGATIVE_INFINITY;
  let inWindow = 0;
  let dropped = 0;

  const keep = (line: string) => {
    if (line === '') return;
    lines.push(line);
    if (lines.length > KEPT_LINES) lines.shift();
    onLine(line);
  };
  const sayDropped = () => {
    if (dropped === 1) keep('... 1 more line was dropped');
    if (dropped > 1) keep(`... ${dropped} more lines were dropped`);
    dropped = 0;
  };
  /** True when the window has no room: looking at a line costs more than counting it. */
  const isTooMany = () => {
    const now = clock.now();
    if (now - windowStart >= WINDOW_MS) {
      windowStart = now;
      inWindow = 0;
      sayDropped();
    }
    inWindow += 1;
    return inWindow > MAX_LINES_PER_WINDOW;
  };
  const add = (text: string) => {
    if (text.trim() === '') return;
    if (isTooMany()) dropped += 1;
    else keep(redactText(clean(stripVTControlCharacters(text))).trimEnd());
  };
  const splitter = createLineSplitter({
    maxBytes: MAX_LINE_BYTES,
    onLine: (line, cut) => add(`${line.toString('utf8').trimEnd()}${cut ? '... (cut)' : ''}`),
  });

  return {
    lines,
    write: chunk => splitter.push(chunk),
    note: text => add(text.length > MAX_LINE_BYTES ? `${text.slice(0, MAX_LINE_BYTES)}... (cut)` : text),
    end() {
      splitter.end();
      sayDropped();
    },
  };
}
