import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../kernel/clock.ts';
import { PlatformError } from '../kernel/errors.ts';
import { createLogger } from '../kernel/logger.ts';
import { importConfigScript } from './config-script.ts';
import { loadConfig } from './load-config.ts';
import type { ServerSections } from './server-sections.ts';
import { configSignature, watchConfig } from './watch-config.ts';

let cwd: string;
let stop: () => Promise<void>;
let applied: ServerSections[];
let lines: { level: string; message: string }[];

beforeEach(async () => {
  cwd = await mkdtemp(path.join(tmpdir(), 'patchbay-watch-'));
  applied = [];
  lines = [];
});
afterEach(async () => {
  await stop();
  await rm(cwd, { recursive: true });
});

/** As an editor does it: a reader sees the old file or the new one. */
async function write(content: unknown, name = 'patchbay.config.json'): Promise<void> {
  const draft = path.join(cwd, 'draft');
  await writeFile(draft, typeof content === 'string' ? content : JSON.stringify(content));
  await rename(draft, path.join(cwd, name));
}

async function watch(
  take: (servers: ServerSections) => void = servers => applied.push(servers),
  meanwhile?: () => Promise<void>,
) {
  const sources = { env: {}, cwd, home: cwd };
  const signature = await configSignature(sources);
  const loaded = loadConfig({ ...sources, script: await importConfigScript(sources) });
  await meanwhile?.();
  stop = watchConfig({
    ...{ sources, loaded, signature },
    apply: async ({ servers }) => take(servers),
    // Looks often, and waits long for what it looks at.
    clock: { ...systemClock, sleep: (ms, signal) => systemClock.sleep(ms < 10_000 ? 2 : 500, signal) },
    logger: createLogger({
      ...{ level: 'debug', format: 'json', clock: systemClock },
      destination: { write: line => lines.push(JSON.parse(line)) },
    }),
  });
}

const messages = (level: string) => lines.filter(line => line.level === level).map(({ message }) => message);
const lastServers = () => Object.keys(applied.at(-1)?.default?.servers ?? {});

describe('a configuration file that changes', () => {
  it('is read again, also when there was none', async () => {
    await watch();
    await write({ servers: { a: { url: 'https://a.example' } } });
    await expect.poll(lastServers).toEqual(['a']);
    await write({ servers: { a: { url: 'https://a.example' }, b: {} } });
    await expect.poll(lastServers).toEqual(['a', 'b']);
    await rm(path.join(cwd, 'patchbay.config.json'));
    await expect.poll(lastServers).toEqual([]);
  });

  it('may be a program that never ends: that is said, and the next change is read', async () => {
    const endless = 'await new Promise(() => undefined); export default { servers: {} };';
    await watch();
    await write(endless, 'patchbay.config.ts');
    await expect
      .poll(() => messages('error'))
      .toContainEqual(expect.stringContaining('It runs for more than'));
    await write(`export default { servers: { a: {} } };`, 'patchbay.config.ts');
    await expect.poll(lastServers).toEqual(['a']);
    expect(applied).toHaveLength(1);
  });

  it('is read again when it changed while the platform started', async () => {
    await watch(undefined, () => write({ servers: { a: {} } }));
    await expect.poll(lastServers).toEqual(['a']);
  });

  it('is run again where it is a program', async () => {
    await write('export const servers = { a: {} };', 'patchbay.config.ts');
    await watch();
    await write(
      'const servers: Record<string, object> = { b: { cost: () => ({ usd: 1 }) } };\nexport default { servers, check: () => undefined };',
      'patchbay.config.ts',
    );
    await expect.poll(lastServers).toEqual(['b']);
    expect(applied.at(-1)?.default).toMatchObject({ source: 'code', check: expect.any(Function) });
  });

  it.each([
    ['{', 'patchbay.config.json cannot be read'],
    ['[]', 'must hold one JSON object'],
    ['{"agents": {}}', 'agents in patchbay.config.json must be a list'],
    ['{"servers": []}', 'servers in patchbay.config.json must be an object'],
    [
      '{"check": true}',
      'check in patchbay.config.json must be a function, which patchbay.config.ts can have',
    ],
    [
      '{"instances": {"a": {"server": {}}}}',
      'instances.a.server in patchbay.config.json is unknown; did you mean servers',
    ],
    [
      '{"servers": {}, "instances": {"default": {}}}',
      'instances.default in patchbay.config.json and servers',
    ],
    ['{"port": "many"}', 'port in patchbay.config.json is "many" but must be a whole number'],
    ['{"servers": {"refused": {}}}', 'Server refused: no.'],
  ])(
    'and cannot be used leaves all as it was, and the log says why in one sentence: %s',
    async (content, sentence) => {
      await watch(servers => {
        if (servers.default?.servers.refused) throw new PlatformError('invalid', 'Server refused: no.');
        applied.push(servers);
      });
      await write(content);
      await expect.poll(() => messages('error')).toHaveLength(1);
      expect(messages('error')[0]).toContain(sentence);
      expect(messages('error')[0]).toMatch(
        /^The configuration file changed and is not used, all stays as it was: /,
      );
      expect(applied).toEqual([]);
      await write({ servers: { a: {} } });
      await expect.poll(lastServers).toEqual(['a']);
    },
  );

  it('and is a program with a mistake says which', async () => {
    await watch();
    await write('export default { servers: ', 'patchbay.config.ts');
    await expect.poll(() => messages('error')).toHaveLength(1);
    expect(messages('error')[0]).toContain('The configuration file patchbay.config.ts cannot be run: ');
  });

  it('does not change settings while the platform runs, which is said once', async () => {
    await write({ port: 1, log: { level: 'info' } });
    await watch();
    await write({ port: 2, log: { level: 'debug' }, databaseUrl: 'postgres://u:canary1@h/d' });
    await expect.poll(() => messages('warn')).toHaveLength(1);
    expect(messages('warn')[0]).toBe(
      'Settings in the configuration file changed and wait for the next start: databaseUrl, log.level, port',
    );
    await write({
      port: 2,
      log: { level: 'debug' },
      databaseUrl: 'postgres://u:canary1@h/d',
      servers: { a: {} },
    });
    await expect.poll(lastServers).toEqual(['a']);
    expect(messages('warn')).toHaveLength(1);
    expect(JSON.stringify(lines)).not.toContain('canary1');
  });
});
