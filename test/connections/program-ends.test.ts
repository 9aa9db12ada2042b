import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listProcesses } from '../../packages/server/src/connections/session/stdio/process-tree.ts';
import { systemClock } from '../../packages/server/src/kernel/clock.ts';
import { newPrograms, ODD_PROGRAM } from './programs.ts';

const DYING_PLATFORM = fileURLToPath(new URL('servers/dying-platform.ts', import.meta.url));

let programs: ReturnType<typeof newPrograms>;
beforeEach(() => {
  programs = newPrograms();
});
afterEach(() => programs.end());

describe('nothing is left', () => {
  it.each([
    ['a program that goes when its input ends', ['echo']],
    ['one that goes on after SIGTERM', ['stubborn']],
    ['a wrapper and what it wraps', ['wrapper', 'stubborn']],
    ['children that outlive it', ['forking']],
    ['a child that left the group', ['detaching']],
    ['a daemon', ['daemonizing']],
  ])(
    'of %s (attack 44)',
    async (_what, args) => {
      const { transport, next } = await programs.odd(args.concat());
      if (args[0] !== 'echo') await next();
      expect(await programs.left()).not.toEqual([]);
      await transport.close();
      expect(await programs.left()).toEqual([]);
    },
    20_000,
  );
});

describe('a platform that ends', () => {
  it('ends its programs and its own process before it goes', async () => {
    const platform = startPlatform();
    await platform.run(['forking']);
    const [watchdog] = await childrenOf(platform.process.pid!, 'watchdog.ts');
    const said = once(platform.process.stdout, 'data');
    const exited = once(platform.process, 'exit');
    platform.process.stdin.end();
    expect(String(await said)).toBe('ended\n');
    expect(await exited).toEqual([0, null]);
    expect(await programs.left()).toEqual([]);
    expect(await isRunning(watchdog!)).toBe(false);
  }, 20_000);
});

describe('a platform that is killed', () => {
  it('leaves no program behind for longer than 5 s (attack 59)', async () => {
    const platform = startPlatform();
    for (const kind of [['stubborn'], ['wrapper', 'stubborn'], ['forking'], ['detaching'], ['daemonizing']])
      await platform.run(kind);
    expect((await programs.left()).length).toBeGreaterThan(9);
    platform.process.kill('SIGKILL');
    expect(await leftAfter5s()).toEqual([]);
  }, 20_000);

  it('leaves none behind when what ends them was itself ended before, and another program was started since (attack 59)', async () => {
    const platform = startPlatform();
    await platform.run(['stubborn']);
    const [watchdog] = await childrenOf(platform.process.pid!, 'watchdog.ts');
    const warned = once(platform.process.stderr, 'data');
    process.kill(watchdog!, 'SIGKILL');
    expect(String(await warned)).toContain('has ended itself');
    await platform.run(['stubborn']);
    expect(await programs.left()).toHaveLength(3);
    platform.process.kill('SIGKILL');
    expect(await leftAfter5s()).toEqual([]);
  }, 20_000);

  it('leaves no process of its own behind either', async () => {
    const platform = startPlatform();
    await platform.run(['deaf']);
    const [watchdog] = await childrenOf(platform.process.pid!, 'watchdog.ts');
    expect(await isRunning(watchdog!)).toBe(true);
    platform.process.kill('SIGKILL');
    const until = Date.now() + 5_000;
    while ((await isRunning(watchdog!)) && Date.now() < until) await systemClock.sleep(50);
    expect(await isRunning(watchdog!)).toBe(false);
  }, 20_000);
});

function startPlatform() {
  const platform = spawn(process.execPath, [DYING_PLATFORM], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { PROGRAM_TEST_MARK: programs.mark },
  });
  return {
    process: platform,
    /** Has it run an odd program. */
    async run(args: readonly string[]) {
      platform.stdin.write(`${JSON.stringify([ODD_PROGRAM, ...args])}\n`);
      await once(platform.stdout, 'data');
    },
  };
}

async function leftAfter5s(): Promise<readonly string[]> {
  const until = Date.now() + 5_000;
  while (Date.now() < until && (await programs.left()).length > 0) await systemClock.sleep(50);
  return programs.left();
}

/** Ids of the processes that this one started, with the text in their command line. */
async function childrenOf(parent: number, text: string): Promise<readonly number[]> {
  const children = (await listProcesses())!.filter(entry => entry.parent === parent);
  const lines = await Promise.all(children.map(({ pid }) => readFile(`/proc/${pid}/cmdline`, 'utf8')));
  return children.flatMap(({ pid }, index) => (lines[index]!.includes(text) ? pid : []));
}

async function isRunning(wanted: number): Promise<boolean> {
  return (await listProcesses())!.some(({ pid }) => pid === wanted);
}
