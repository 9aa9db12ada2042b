import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../packages/server/src/kernel/clock.ts';
import { newPrograms, ODD_PROGRAM } from './programs.ts';

const DYING_PLATFORM = fileURLToPath(new URL('servers/dying-platform.ts', import.meta.url));

let programs: ReturnType<typeof newPrograms>;
beforeEach(() => {
  programs = newPrograms();
});
afterEach(() => programs.end());

const request = (id: number, method: string, params = {}) =>
  ({ jsonrpc: '2.0', id, method, params }) as const;

describe('a server that is a program', () => {
  it('is spoken with over its streams, in both directions', async () => {
    const { transport, next } = await programs.odd(['echo']);
    await transport.send(request(1, 'one', { text: 'größer\u2028\u2029' }));
    expect(await next()).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: { method: 'one', params: { text: 'größer\u2028\u2029' } },
    });
    expect(transport.pid).toBeGreaterThan(1);
  });

  it('has the nine variables and its own, which win, and nothing else (W-07, W-08, W-09) (attack 45)', async () => {
    const inherited = {
      HOME: '/h',
      LANG: 'C',
      LC_ALL: 'C',
      LOGNAME: 'l',
      PATH: process.env.PATH,
      SHELL: '/bin/sh',
      TERM: 'dumb',
      TMPDIR: '/tmp',
      USER: 'inherited',
      SECRET_OF_THE_PLATFORM: 'x',
      NODE_OPTIONS: '--no-such-option',
    };
    const { next } = await programs.odd(['environment'], { inherited, env: { USER: 'own', TOKEN: 'own' } });
    const { SECRET_OF_THE_PLATFORM, NODE_OPTIONS, ...nine } = inherited;
    expect(await next()).toMatchObject({
      params: { env: { ...nine, USER: 'own', TOKEN: 'own', PROGRAM_TEST_MARK: programs.mark } },
    });
    const seen = (await programs.odd(['environment'], { inherited: {} }).then(heard => heard.next())) as {
      params: { env: object };
    };
    expect(Object.keys(seen.params.env)).toEqual(['PROGRAM_TEST_MARK']);
  });

  it('that ended says how, and what it said last', async () => {
    const { errors, closed, transport } = await programs.odd(['exit', '3', 'no license\nkey=abcdefghij\n']);
    await closed;
    expect(errors.map(error => error.message)).toEqual([
      `the command ${JSON.stringify(process.execPath)} ended with code 3; it said: no license | key=[redacted]`,
    ]);
    expect(await transport.exited).toEqual({ code: 3, signal: null });
    await expect(transport.send(request(1, 'late'))).rejects.toMatchObject({ kind: 'closed', reached: 'no' });
  });

  it.each([
    ['no-such-command-here', 'it is in no folder of PATH'],
    ['/no/such/file', 'there is no such file'],
    [ODD_PROGRAM, 'it may not be run'],
  ])('that cannot be started is named: %s', async (command, why) => {
    const transport = programs.create({ command });
    await expect(transport.start()).rejects.toMatchObject({
      kind: 'not-started',
      reached: 'no',
      message: expect.stringContaining(`the command ${JSON.stringify(command)} could not be started: ${why}`),
    });
  });
});

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

describe('a platform that is killed', () => {
  it('leaves no program behind for longer than 5 s (attack 59)', async () => {
    const kinds = [['stubborn'], ['wrapper', 'stubborn'], ['forking'], ['detaching'], ['daemonizing']];
    const platform = spawn(
      process.execPath,
      [DYING_PLATFORM, ...kinds.map(kind => JSON.stringify([ODD_PROGRAM, ...kind]))],
      { stdio: ['ignore', 'pipe', 'inherit'], env: { PROGRAM_TEST_MARK: programs.mark } },
    );
    await once(platform.stdout, 'data');
    expect((await programs.left()).length).toBeGreaterThan(9);
    platform.kill('SIGKILL');
    const until = Date.now() + 5_000;
    while ((await programs.left()).length > 0 && Date.now() < until) await systemClock.sleep(50);
    expect(await programs.left()).toEqual([]);
  }, 20_000);
});

describe('servers from npm', () => {
  it.each([
    ['everything', import.meta.resolve('@modelcontextprotocol/server-everything/package.json'), 'echo', []],
    [
      'filesystem',
      import.meta.resolve('@modelcontextprotocol/server-filesystem/package.json'),
      'read_text_file',
      [import.meta.dirname],
    ],
    [
      'memory',
      import.meta.resolve('@modelcontextprotocol/server-memory/package.json'),
      'create_entities',
      [],
    ],
    [
      'sequential-thinking',
      import.meta.resolve('@modelcontextprotocol/server-sequential-thinking/package.json'),
      'sequentialthinking',
      [],
    ],
  ])('%s lists its tools', async (_name, manifest, tool, args) => {
    const client = new Client({ name: 'test', version: '1' });
    const program = fileURLToPath(new URL('dist/index.js', manifest));
    await client.connect(programs.create({ args: [program, ...args] }));
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain(tool);
    await client.close();
  });
});
