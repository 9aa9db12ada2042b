import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { newCanary, placesWith } from '../canary.ts';
import { newPrograms, ODD_PROGRAM } from './programs.ts';

const MEBIBYTE = 1024 * 1024;

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
    // Node hands this one on by itself unless it is kept from it.
    vi.stubEnv('NODE_V8_COVERAGE', '/coverage');
    const { next } = await programs.odd(['environment'], { inherited, env: { USER: 'own', TOKEN: 'own' } });
    const { SECRET_OF_THE_PLATFORM, NODE_OPTIONS, ...nine } = inherited;
    expect(await next()).toMatchObject({
      params: { env: { ...nine, USER: 'own', TOKEN: 'own', PROGRAM_TEST_MARK: programs.mark } },
    });
    const seen = (await programs.odd(['environment'], { inherited: {} }).then(heard => heard.next())) as {
      params: { env: object };
    };
    vi.unstubAllEnvs();
    expect(Object.keys(seen.params.env)).toEqual(['PROGRAM_TEST_MARK']);
  });

  it('has no secret where everybody on the machine can read it (attack 49)', async () => {
    const canary = newCanary();
    const { transport, next } = await programs.odd(['echo'], { env: { TOKEN: canary.value } });
    await transport.send(request(1, 'there'));
    await next();
    const read = (name: string) => readFile(`/proc/${transport.pid}/${name}`);
    expect(placesWith(canary, { argv: await read('cmdline'), title: await read('comm') })).toEqual([]);
    expect(placesWith(canary, { environment: await read('environ') })).toEqual(['environment']);
    const others = await Promise.all(
      (await readdir('/proc'))
        .filter(name => /^\d+$/.test(name))
        .map(pid => readFile(`/proc/${pid}/cmdline`).catch(() => '')),
    );
    expect(placesWith(canary, { others })).toEqual([]);
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

describe('what a program writes', () => {
  const hello = (text: string) => ({ jsonrpc: '2.0', method: 'hello', params: { text } });
  const says = (...texts: readonly string[]) =>
    programs.odd(['says', ...texts.map(text => JSON.stringify(text))]);

  it('is read at line feeds and nowhere else, with carriage returns, a byte order mark and empty lines', async () => {
    const first = JSON.stringify(hello('a\u2028b\u2029c'));
    const { next } = await says(`\ufeff${first}\r\n\r\n\n`, `${JSON.stringify(hello('d'))}\n`);
    expect(await next()).toEqual(hello('a\u2028b\u2029c'));
    expect(await next()).toEqual(hello('d'));
  });

  it('keeps characters whose bytes come one by one', async () => {
    const { next } = await programs.odd(['dripping', 'größer 🦜 漢字']);
    expect(await next()).toEqual(hello('größer 🦜 漢字'));
  });

  it('besides messages is kept as log, and the connection goes on (attack 44)', async () => {
    const noise = Array.from({ length: 25 }, (_, count) => `starting ${count} token=abcdefgh\n`).join('');
    const { transport, next, errors } = await says(
      noise,
      '{"jsonrpc":"2.0", half\n',
      `${JSON.stringify(hello('a'))}\n`,
    );
    expect(await next()).toEqual(hello('a'));
    await transport.send(request(1, 'still there'));
    expect(await next()).toMatchObject({ id: 1 });
    expect(errors).toEqual([]);
    expect(transport.stderr).toHaveLength(26);
    expect(transport.stderr[0]).toBe('starting 0 token=[redacted]');
    expect(programs.logs.filter(line => line.includes('does it speak MCP over stdio?'))).toHaveLength(1);
  });

  it('as it ends may be half a line, which is no message, or one without its end (attack 44)', async () => {
    const cut = await says('{"jsonrpc":"2.0","id":1,"result":{"a":');
    await cut.transport.send({ jsonrpc: '2.0', method: 'exit', params: { code: 0 } });
    await cut.closed;
    expect(cut.messages).toEqual([]);
    expect(cut.transport.stderr).toEqual(['{"jsonrpc":"2.0","id":1,"result":{"a":']);
    const whole = await says(JSON.stringify(hello('a')));
    await whole.transport.send({ jsonrpc: '2.0', method: 'exit', params: { code: 0 } });
    await whole.closed;
    expect(whole.messages).toEqual([hello('a')]);
  });

  it('without ever ending a line ends the connection, and memory stays bounded (attack 44)', async () => {
    const before = process.memoryUsage().rss;
    const options = { limits: { maxLineBytes: 8 * MEBIBYTE } };
    const { closed, errors, messages, transport } = await programs.odd(['long', '2048'], options);
    await closed;
    expect(errors).toMatchObject([
      {
        kind: 'too-long',
        message: `it wrote a line of more than ${8 * MEBIBYTE} bytes, the limit of a message`,
      },
    ]);
    expect(messages).toEqual([]);
    await transport.close();
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * MEBIBYTE);
  }, 20_000);

  it('and cannot be taken in is logged, and the connection goes on', async () => {
    const { transport, next } = await programs.odd(['echo']);
    const takeIn = transport.onmessage;
    transport.onmessage = () => {
      transport.onmessage = takeIn;
      throw new Error('a mistake of ours');
    };
    await transport.send(request(1, 'first'));
    await transport.send(request(2, 'second'));
    expect(await next()).toMatchObject({ id: 2 });
    expect(programs.logs.join('')).toContain('a mistake of ours');
  });

  it('may be a message of many mebibytes', async () => {
    const { transport, next } = await programs.odd(['echo']);
    const text = 'é'.repeat(10 * MEBIBYTE);
    await transport.send(request(1, 'large', { text }));
    const answer = (await next()) as unknown as { result: { params: { text: string } } };
    expect(answer.result.params.text === text).toBe(true);
  });

  it('to stderr is kept without secrets: also those it was given, wherever they stand (attack 46)', async () => {
    const canary = newCanary();
    const own = {
      SETTING: canary.value,
      DB_PASSWORD: 'short',
      LEVEL: 'info',
      HOME_OF_IT: '/var/lib/some/server',
    };
    const said = `${canary.value} short info /var/lib/some/server\n`;
    const { closed, errors, transport } = await programs.odd(['exit', '1', said], { env: own });
    await closed;
    expect(transport.stderr).toEqual(['[redacted] [redacted] info /var/lib/some/server']);
    expect(placesWith(canary, { errors, lines: transport.stderr, logs: programs.logs })).toEqual([]);
    expect(placesWith(canary, { said })).toEqual(['said']);
  });

  it('to stderr without end holds nobody up', async () => {
    const { transport, next } = await programs.odd(['complaining', '100000']);
    await next();
    await transport.send(request(1, 'still there'));
    expect(await next()).toMatchObject({ id: 1 });
    expect(transport.stderr.length).toBeLessThanOrEqual(50);
    expect(programs.logs.length).toBeLessThan(500);
  });

  it('ends with its stdout: without that it is ended', async () => {
    const { closed, errors } = await programs.odd(['mute']);
    await closed;
    expect(errors).toMatchObject([
      { kind: 'closed', message: expect.stringMatching(/has closed its output$/) },
    ]);
  });
});

describe('what is sent to a program', () => {
  it('waits while it does not read, up to a limit', async () => {
    const { transport, next } = await programs.odd(['deaf'], { limits: { maxQueuedBytes: MEBIBYTE } });
    await next();
    const big = request(1, 'big', { text: 'x'.repeat(900_000) });
    const waiting = transport.send(big);
    const reached = waiting.catch(error => error.reached);
    await expect(transport.send(big)).rejects.toMatchObject({ kind: 'not-reading', reached: 'no' });
    await transport.close();
    expect(await reached).toBe('unknown');
  });

  it('provably has not reached one that no longer listens (A-67)', async () => {
    const { transport, next } = await programs.odd(['closing']);
    await next();
    await expect(transport.send(request(1, 'late'))).rejects.toMatchObject({ kind: 'closed', reached: 'no' });
  });

  it('may have reached one that is killed before it answers (A-67)', async () => {
    const { transport, next, closed, errors } = await programs.odd(['deaf']);
    await next();
    await transport.send(request(1, 'taken'));
    process.kill(transport.pid!, 'SIGKILL');
    await closed;
    expect(errors).toMatchObject([
      { kind: 'closed', reached: 'unknown', message: expect.stringContaining('SIGKILL') },
    ]);
    await expect(transport.send(request(2, 'late'))).rejects.toMatchObject({ kind: 'closed', reached: 'no' });
    expect(await transport.exited).toEqual({ code: null, signal: 'SIGKILL' });
  });
});

describe('a connection', () => {
  it('closed while it starts leaves nothing', async () => {
    const transport = programs.create({ args: [ODD_PROGRAM, 'stubborn'] });
    const starting = transport.start();
    const closing = transport.close();
    await expect(starting).rejects.toMatchObject({ kind: 'closed', reached: 'no' });
    await closing;
    expect(await programs.left()).toEqual([]);
  });

  it('closed before it started never starts', async () => {
    const transport = programs.create({ args: [ODD_PROGRAM, 'echo'] });
    await transport.close();
    await expect(transport.start()).rejects.toMatchObject({ kind: 'closed', reached: 'no' });
    expect(await transport.exited).toEqual({ code: null, signal: null });
  });

  it('ends when the program ends, and takes along what that left behind', async () => {
    const { transport, next, closed } = await programs.odd(['forking']);
    await next();
    await transport.send({ jsonrpc: '2.0', method: 'exit', params: { code: 0 } });
    await closed;
    await transport.close();
    expect(await programs.left()).toEqual([]);
  });
});

describe('the programs of one platform', () => {
  it('are so many at the most, and the refusal names the setting', async () => {
    const few = newPrograms({ maxPrograms: 1 });
    const first = await few.odd(['echo']);
    const second = few.create({ args: [ODD_PROGRAM, 'echo'] });
    await expect(second.start()).rejects.toMatchObject({
      kind: 'refused',
      reached: 'no',
      message: 'as many programs run as connections.maxPrograms allows, 1',
    });
    await first.transport.close();
    await few.odd(['echo']);
    await few.end();
  });

  it('have a limit of memory, each with all it started, and one beyond it is ended for that reason', async () => {
    const small = newPrograms({ maxProgramMib: 250 });
    const modest = await small.odd(['echo']);
    const hungry = await small.odd(['wrapper', 'hungry', '300']);
    await hungry.closed;
    expect(hungry.errors).toMatchObject([
      {
        kind: 'too-large',
        message: expect.stringMatching(
          /^it uses \d+ MiB of memory, more than the 250 that connections\.maxProgramMib allows$/,
        ),
      },
    ]);
    await hungry.transport.close();
    expect(modest.errors).toEqual([]);
    await small.end();
  });
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
