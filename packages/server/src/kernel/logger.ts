import { pino } from 'pino';
import type { Clock } from './clock.ts';
import { type DescribedError, redactFields, redactText } from './redact.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export type LogFields = Readonly<Record<string, unknown>>;
/** Fields that cost something to find are given as a function, called only when the line is written. */
export type LogFieldsSource = LogFields | (() => LogFields);

/**
 * Where parts say what happened. The message is a fixed sentence, what varies goes into the fields; an error goes in as
 * `{ error }`. Secrets are taken out of both (`redact.ts`), so a line never holds one and never forges another line.
 */
export interface Logger {
  debug(message: string, fields?: LogFieldsSource): void;
  info(message: string, fields?: LogFieldsSource): void;
  warn(message: string, fields?: LogFieldsSource): void;
  error(message: string, fields?: LogFieldsSource): void;
  /** A logger whose lines carry these fields too. */
  child(fields: LogFields): Logger;
}

/** What lines are written to, one call a line: `process.stderr` in the running platform. */
export interface LogDestination {
  write(line: string): unknown;
  readonly isTTY?: boolean | undefined;
}

/** A line as it was written, without its secrets. */
export interface LogLine {
  /** Epoch ms. */
  readonly at: number;
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: LogFields;
}

export interface LoggerOptions {
  readonly level: LogLevel;
  /** `auto` is `pretty` on a terminal and `json` elsewhere. */
  readonly format: 'auto' | 'json' | 'pretty';
  readonly destination: LogDestination;
  readonly clock: Pick<Clock, 'now'>;
  /** Told about each line that is written. Must not throw, and must not log. */
  readonly onLine?: ((line: LogLine) => void) | undefined;
}

export function createLogger(options: LoggerOptions): Logger {
  const { destination, clock, onLine } = options;
  const pretty = options.format === 'pretty' || (options.format === 'auto' && destination.isTTY === true);
  const write = pretty
    ? (line: string) => destination.write(prettyLines(JSON.parse(line)))
    : (line: string) => destination.write(line);
  const sink = pino(
    {
      level: options.level,
      base: null,
      messageKey: 'message',
      timestamp: () => `,"time":"${new Date(clock.now()).toISOString()}"`,
      formatters: { level: level => ({ level }) },
    },
    { write },
  );
  const tell = onLine && ((line: Omit<LogLine, 'at'>) => onLine({ at: clock.now(), ...line }));
  return loggerWith(sink, tell, {});
}

/** pino's own members of a line; a field of that name would write a second one. */
const OWN_MEMBERS = ['level', 'time', 'message'] as const;

type Sink = ReturnType<typeof pino<never>>;

function loggerWith(
  sink: Sink,
  tell: ((line: Omit<LogLine, 'at'>) => void) | undefined,
  bound: LogFields,
): Logger {
  const log = (level: LogLevel, message: string, source: LogFieldsSource | undefined) => {
    // Redacting costs more than writing: a line below the level costs neither.
    if (!sink.isLevelEnabled(level)) return;
    const fields = typeof source === 'function' ? source() : source;
    const safe = redactFields(fields ? { ...bound, ...fields } : bound);
    for (const name of OWN_MEMBERS) {
      if (!(name in safe)) continue;
      safe[`${name}_`] = safe[name];
      delete safe[name];
    }
    const text = redactText(String(message));
    sink[level](safe, text);
    tell?.({ level, message: text, fields: safe });
  };
  return {
    debug: (message, fields) => log('debug', message, fields),
    info: (message, fields) => log('info', message, fields),
    warn: (message, fields) => log('warn', message, fields),
    error: (message, fields) => log('error', message, fields),
    child: fields => loggerWith(sink, tell, { ...bound, ...fields }),
  };
}

/** One line for a person; an error adds indented lines, so nothing in it can pass for a line of its own. */
function prettyLines(record: Record<string, unknown>): string {
  const { level, time, message, ...fields } = record;
  const words: string[] = [];
  const below: string[] = [];
  for (const [name, value] of Object.entries(fields)) {
    if (isDescribedError(value)) below.push(...errorLines(value, '  '));
    else words.push(`${name}=${prettyValue(value)}`);
  }
  const head = `${String(time).slice(11, 19)} ${String(level).toUpperCase().padEnd(5)} ${message}`;
  return `${[[head, ...words].join('  '), ...below].join('\n')}\n`;
}

function prettyValue(value: unknown): string {
  return typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
}

function errorLines(error: DescribedError, indent: string): string[] {
  const { name, message, stack = [], cause, errors, ...rest } = error;
  const extra = Object.entries(rest).map(([key, value]) => `  ${key}=${prettyValue(value)}`);
  const lines = [
    `${indent}${name}: ${message}${extra.join('')}`,
    ...stack.map(frame => `${indent}  ${frame}`),
  ];
  for (const inner of [...(errors ?? []), ...(cause === undefined ? [] : [cause])]) {
    if (isDescribedError(inner)) lines.push(`${indent}caused by`, ...errorLines(inner, `${indent}  `));
    else lines.push(`${indent}caused by ${prettyValue(inner)}`);
  }
  return lines;
}

function isDescribedError(value: unknown): value is DescribedError {
  return (
    typeof value === 'object' &&
    value !== null &&
    'name' in value &&
    'message' in value &&
    ('stack' in value || 'cause' in value)
  );
}
