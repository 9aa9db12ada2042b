import { EventEmitter } from 'node:events';
import { PassThrough, Writable } from 'node:stream';
import type { Io } from '../io.ts';
import { run } from '../run.ts';

export interface TestIo extends Io {
  readonly stdin: PassThrough & { isTTY?: boolean };
  readonly signals: EventEmitter;
  out(): string;
  err(): string;
  /** Runs a command line as the shell would. */
  run(...argv: string[]): Promise<number>;
}

export function createTestIo(
  over: Partial<Io> & { readonly home: string; readonly terminal?: boolean },
): TestIo {
  const { terminal = false, ...rest } = over;
  const stdout = new Capture(terminal);
  const stderr = new Capture(terminal);
  const stdin: TestIo['stdin'] = new PassThrough();
  if (terminal) stdin.isTTY = true;
  const io: TestIo = {
    stdin,
    stdout,
    stderr,
    env: {},
    cwd: over.home,
    osPlatform: 'linux',
    nodeVersion: '24.22.3',
    fetch,
    now: () => Date.UTC(2026, 10, 30, 12),
    signals: new EventEmitter(),
    self: { command: '/opt/node', args: ['/opt/patchbay.mjs'] },
    startPlatform: () => Promise.reject(new Error('no platform to start in this test')),
    examineInstallation: () => Promise.reject(new Error('no installation to look at in this test')),
    lintAgentFile: () => Promise.reject(new Error('no linter in this test')),
    modelNeeds: () => Promise.reject(new Error('no models in this test')),
    ...rest,
    out: () => stdout.text,
    err: () => stderr.text,
    run: (...argv) => run(argv, io),
  } as TestIo;
  return io;
}

class Capture extends Writable {
  text = '';
  readonly isTTY: boolean;

  constructor(isTTY: boolean) {
    super();
    this.isTTY = isTTY;
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.text += chunk.toString('utf8');
    done();
  }
}
