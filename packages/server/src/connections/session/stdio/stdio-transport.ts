import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { Clock } from '../../../kernel/clock.ts';
import type { Logger } from '../../../kernel/logger.ts';
import { createScrubber, isSecretName } from '../../../kernel/redact.ts';
import { programEnvironment } from './environment.ts';
import { createInputQueue, type InputQueue } from './input-queue.ts';
import { createLineSplitter } from './line-splitter.ts';
import { type Program, type ProgramExit, startProgram, within } from './program.ts';
import type { ProgramHost } from './program-host.ts';
import { createProgramLog, type ProgramLog } from './program-log.ts';
import { readLine } from './read-message.ts';
import { StdioFailure } from './stdio-failure.ts';

export interface StdioOptions {
  readonly host: ProgramHost;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Run as it is, without a shell. Everybody on this machine can read it and the arguments: secrets belong into `env`. */
  readonly command: string;
  readonly args: readonly string[];
  /** The program's own variables, which win over the inherited ones. */
  readonly env: Readonly<Record<string, string>>;
  /** Names of those whose values are secret, whatever they look like. */
  readonly secret?: readonly string[] | undefined;
  readonly cwd: string | undefined;
  /** The platform's environment, of which nine variables are handed on. */
  readonly inherited: Readonly<Record<string, string | undefined>>;
  /** Told each line the program says besides its messages, fit to be shown. */
  readonly onStderr?: ((line: string) => void) | undefined;
  readonly limits?: Partial<StdioLimits> | undefined;
}

export interface StdioLimits {
  /** Bytes of one line, which is one message. */
  readonly maxLineBytes: number;
  /** Bytes that may wait to be read by the program. */
  readonly maxQueuedBytes: number;
}

const MEBIBYTE = 1024 * 1024;
const LIMITS: StdioLimits = { maxLineBytes: 64 * MEBIBYTE, maxQueuedBytes: 64 * MEBIBYTE };

/** Lines that are no messages, before the first one: more, and it is said that this may be no MCP server. */
const NOISY_LINES = 20;
/** Milliseconds for what a program wrote before it ended to come through; a process it left behind may hold the pipe for ever. */
const DRAIN_WAIT_MS = 500;

/** The connection to a server that is a program of this machine. */
export interface StdioTransport extends Transport {
  readonly pid: number | undefined;
  /** The last lines the program said besides its messages, oldest first. */
  readonly stderr: readonly string[];
  /** When the program itself has ended, however that came. */
  readonly exited: Promise<ProgramExit>;
  /** Ends the program and all it started; resolves when nothing of it runs. */
  close(): Promise<void>;
}

/**
 * Runs a program and speaks MCP with it over its stdin and stdout. `start` rejects with a `StdioFailure` that names the command. When the program
 * ends, or breaks a limit, `onerror` says why in a `StdioFailure`, `onclose` follows, and whatever the program has left behind is ended. What is
 * printed between messages goes to the log, like stderr.
 */
export function createStdioTransport(options: StdioOptions): StdioTransport {
  return new ProgramTransport(options);
}

class ProgramTransport implements StdioTransport {
  onmessage?: ((message: JSONRPCMessage) => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onclose?: (() => void) | undefined;
  readonly exited: Promise<ProgramExit>;
  private readonly options: StdioOptions;
  private readonly limits: StdioLimits;
  private readonly log: ProgramLog;
  private readonly noteExit: (exit: ProgramExit) => void;
  private starting: Promise<Program> | undefined;
  private program: Program | undefined;
  private input: InputQueue | undefined;
  private isClosed = false;
  private hadMessage = false;
  private noise = 0;

  constructor(options: StdioOptions) {
    this.options = options;
    this.limits = { ...LIMITS, ...options.limits };
    const { promise, resolve } = Promise.withResolvers<ProgramExit>();
    this.exited = promise;
    this.noteExit = resolve;
    this.log = createProgramLog({
      clock: options.clock,
      clean: createScrubber(possibleSecrets(options)),
      onLine: line => {
        options.logger.info('An MCP server says', { command: options.command, line });
        options.onStderr?.(line);
      },
    });
  }

  get pid(): number | undefined {
    return this.program?.pid;
  }

  get stderr(): readonly string[] {
    return this.log.lines;
  }

  async start(): Promise<void> {
    if (this.starting || this.isClosed)
      throw new StdioFailure('closed', 'no', 'a connection starts only once');
    this.starting = this.run();
    this.starting.catch(() => this.noteExit({ code: null, signal: null }));
    const program = await this.starting;
    if (this.isClosed) {
      await program.end();
      throw new StdioFailure('closed', 'no', 'the connection was closed');
    }
    this.program = program;
    this.input = createInputQueue(program.stdin, this.limits.maxQueuedBytes);
    this.read(program);
  }

  private async run(): Promise<Program> {
    const { host, clock, logger, command, args, env, cwd, inherited } = this.options;
    const admission = host.enter(why => this.fail(new StdioFailure('too-large', 'unknown', why)));
    if (admission.kind === 'refused') throw new StdioFailure('refused', 'no', admission.message);
    const { place } = admission;
    const environment = programEnvironment(inherited, env);
    return startProgram({ clock, logger, place, command, args, environment, cwd });
  }

  private read(program: Program): void {
    const splitter = createLineSplitter({
      maxBytes: this.limits.maxLineBytes,
      onLine: (line, cut) => this.receive(line, cut),
    });
    program.stdout.on('data', chunk => splitter.push(chunk));
    program.stderr.on('data', chunk => this.log.write(chunk));
    const ended = [program.stdout, program.stderr].map(
      stream => new Promise(resolve => stream.once('close', resolve)),
    );
    // Without its output it cannot answer any more; one that is just ending has its own way to say so.
    program.stdout.once('end', async () => {
      if (await within(program.exited, DRAIN_WAIT_MS, this.options.clock)) return;
      this.fail(new StdioFailure('closed', 'unknown', this.describe('has closed its output')));
    });
    void program.exited.then(async exit => {
      await within(Promise.all(ended), DRAIN_WAIT_MS, this.options.clock);
      splitter.end();
      this.log.end();
      this.noteExit(exit);
      this.fail(new StdioFailure('closed', 'unknown', this.describe(howItEnded(exit))));
    });
  }

  private receive(line: Buffer, cut: boolean): void {
    if (this.isClosed) return;
    if (cut) {
      const message = `it wrote a line of more than ${this.limits.maxLineBytes} bytes, the limit of a message`;
      this.program?.stdout.destroy();
      this.fail(new StdioFailure('too-long', 'unknown', message));
      return;
    }
    const read = readLine(line);
    if (read.kind === 'noise') this.noteNoise(read.text);
    if (read.kind !== 'messages') return;
    this.hadMessage = true;
    for (const message of read.messages) this.handOver(message);
  }

  /** A mistake of whoever takes messages in must not end the platform, which a throw out of a stream's event does. */
  private handOver(message: JSONRPCMessage): void {
    try {
      this.onmessage?.(message);
    } catch (error) {
      const { logger, command } = this.options;
      logger.error('A message of an MCP server could not be taken in', { command, error });
    }
  }

  private noteNoise(text: string): void {
    this.log.note(text);
    this.noise += 1;
    if (this.noise !== NOISY_LINES || this.hadMessage) return;
    const { logger, command } = this.options;
    logger.warn('An MCP server prints lines that are no messages; does it speak MCP over stdio?', {
      command,
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (!this.input) throw new StdioFailure('closed', 'no', 'the connection is not open');
    await this.input.send(lineOf(message));
  }

  async close(): Promise<void> {
    this.end('the connection was closed');
    const program = await this.starting?.catch(() => undefined);
    if (!program) this.noteExit({ code: null, signal: null });
    await program?.end();
  }

  private fail(failure: StdioFailure): void {
    if (this.isClosed) return;
    try {
      this.onerror?.(failure);
    } finally {
      this.end(failure.message);
    }
  }

  /** Nothing more is sent or received from here on. */
  private end(why: string): void {
    if (this.isClosed) return;
    this.isClosed = true;
    void this.program?.end();
    this.input?.close(why);
    this.onclose?.();
  }

  /** The command, what it did, and what it said last. */
  private describe(what: string): string {
    const said = lastWords(this.log.lines);
    return `the command ${JSON.stringify(this.options.command)} ${what}${said === '' ? '' : `; it said: ${said}`}`;
  }
}

function howItEnded({ code, signal }: ProgramExit): string {
  return signal === null ? `ended with code ${code}` : `was ended by ${signal}`;
}

/** One line, also for the many servers that read with Node's `readline`, to which U+2028 and U+2029 end a line. */
function lineOf(message: JSONRPCMessage): string {
  const json = JSON.stringify(message).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
  return `${json}\n`;
}

/** A value of this length is a secret unless it is a path; a shorter one is, if its name says so. `debug` and `8080` are neither. */
const SECRET_LENGTH = 16;

function possibleSecrets({ env, secret = [] }: StdioOptions): readonly string[] {
  const isLong = (value: string) =>
    value.length >= SECRET_LENGTH && !/^(?:[~.]{0,2}\/|[A-Za-z]:\\)/.test(value);
  return Object.entries(env).flatMap(([name, value]) =>
    secret.includes(name) || isSecretName(name) || isLong(value) ? value : [],
  );
}

const MAX_LAST_LINES = 6;
const MAX_LAST_LINE = 200;

/** Of a stack trace the places say nothing to whoever wants to know why a program is down. */
function lastWords(lines: readonly string[]): string {
  return lines
    .filter(line => !/^\s*at /.test(line))
    .slice(-MAX_LAST_LINES)
    .map(line => line.trim().slice(0, MAX_LAST_LINE))
    .join(' | ');
}
