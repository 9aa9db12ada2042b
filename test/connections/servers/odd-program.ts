/**
 * A program for tests, as odd as its first argument says. Whatever it is, it answers a request on stdin with its method and parameters, unless
 * it says that it does not.
 */
import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [kind = '', ...rest] = process.argv.slice(2);
const SELF = import.meta.filename;
const GREETING = { jsonrpc: '2.0', method: 'hello', params: {} };

const KINDS: Record<string, () => void> = {
  echo: answer,
  environment: () => send({ ...GREETING, params: { env: process.env, argv: process.argv } }),
  exit: () => {
    process.stderr.write(rest[1] ?? '');
    process.exitCode = Number(rest[0]);
  },
  stubborn: () => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => undefined);
    setInterval(() => undefined, 1_000);
    greet();
  },
  /** Like npx: waits for another process, which has its streams. */
  wrapper: () => {
    const inner = spawn(process.execPath, [SELF, ...rest], { stdio: 'inherit' });
    inner.on('exit', code => process.exit(code ?? 1));
  },
  /** Leaves processes behind, in the same group, that nothing but SIGKILL ends. */
  forking: () => {
    for (let count = 0; count < 3; count++) spawn(process.execPath, [SELF, 'stubborn'], { stdio: 'ignore' });
    greet();
    answer();
  },
  /** Its child has a session of its own, and none of its streams. */
  detaching: () => {
    spawn(process.execPath, [SELF, 'stubborn'], { stdio: 'ignore', detached: true });
    greet();
    answer();
  },
  /** A daemon: a session of its own, and a parent that has ended. It keeps stderr. */
  daemonizing: () => {
    const child = spawn(process.execPath, [SELF, 'detach-and-leave'], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    child.on('exit', () => {
      greet();
      answer();
    });
  },
  'detach-and-leave': () => {
    spawn(process.execPath, [SELF, 'stubborn'], { stdio: ['ignore', 'ignore', 'inherit'], detached: true });
    process.exit();
  },
  /** Its lines are given as JSON texts, `\n` included where it is wanted. */
  says: () => {
    for (const text of rest) process.stdout.write(JSON.parse(text));
    answer();
  },
  /** One byte at a time. */
  dripping: async () => {
    for (const byte of Buffer.from(`${JSON.stringify({ ...GREETING, params: { text: rest[0] } })}\n`)) {
      await new Promise<void>(resolve =>
        process.stdout.write(Uint8Array.of(byte), () => setImmediate(resolve)),
      );
    }
  },
  long: () => {
    const mebibyte = Buffer.alloc(1024 * 1024, 'x');
    let left = Number(rest[0]);
    const write = () => {
      while (left-- > 0) if (!process.stdout.write(mebibyte)) return process.stdout.once('drain', write);
      process.stdout.write('\n');
    };
    write();
  },
  complaining: () => {
    for (let count = 0; count < Number(rest[0]); count++) process.stderr.write(`complaint ${count}\n`);
    greet();
    answer();
  },
  /** Closes its stdout and goes on. */
  mute: () => {
    process.stdout.end();
    setInterval(() => undefined, 1_000);
  },
  deaf: () => {
    setInterval(() => undefined, 1_000);
    greet();
  },
  /** Closes its stdin and goes on. */
  closing: () => {
    closeSync(0);
    setInterval(() => undefined, 1_000);
    greet();
  },
  hungry: () => {
    const kept = Buffer.alloc(Number(rest[0]) * 1024 * 1024, 1);
    greet();
    setInterval(() => kept.fill(2), 1_000);
  },
};

function send(message: unknown): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

function greet(): void {
  send({ ...GREETING, params: { pid: process.pid } });
}

function answer(): void {
  createInterface({ input: process.stdin }).on('line', line => {
    const { id, method, params } = JSON.parse(line);
    if (method === 'exit') process.exit(params.code);
    send({ jsonrpc: '2.0', id, result: { method, params } });
  });
}

KINDS[kind]?.();
