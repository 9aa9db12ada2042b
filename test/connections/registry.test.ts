// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${vault:key} are the product's own syntax
import { type EngineName, engines } from '@patchbay/testing/stores';
import { describe, expect, it } from 'vitest';
import type { ConfiguredInstances } from '../../packages/server/src/connections/server/configured-instances.ts';
import {
  createRegistry,
  type Registry,
  type ServerChange,
} from '../../packages/server/src/connections/server/registry.ts';
import { type Clock, systemClock } from '../../packages/server/src/kernel/clock.ts';
import { createLogger } from '../../packages/server/src/kernel/logger.ts';
import { createSafeFetch } from '../../packages/server/src/kernel/safe-fetch.ts';
import { createReferences } from '../../packages/server/src/secrets/references.ts';
import type { Vault } from '../../packages/server/src/secrets/vault.ts';
import { dumpTables, newCanary, placesWith } from '../canary.ts';
import { newVaultKey, startVaultRig } from '../secrets/vaults.ts';

const URL_A = 'https://a.example/mcp';
const ADDRESSES: Readonly<Record<string, string[]>> = {
  'a.example': ['1.1.1.1'],
  'inside.example': ['10.0.0.5'],
};

/** A clock whose sleepers wake when the test says so. */
function handClock(): Clock & { wake(): Promise<void> } {
  let sleepers: (() => void)[] = [];
  return {
    now: systemClock.now,
    sleep: (_ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        sleepers.push(resolve);
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      }),
    async wake() {
      const woken = sleepers;
      sleepers = [];
      for (const go of woken) go();
    },
  };
}

interface Node {
  readonly registry: Registry;
  readonly vault: Vault;
  readonly changes: string[];
  readonly clock: ReturnType<typeof handClock>;
}

async function rigOn(engine: EngineName) {
  const rig = await startVaultRig(engine, newVaultKey());
  const started: Registry[] = [];
  return {
    rig,
    async node(
      instances: ConfiguredInstances = {},
      options: { deaf?: boolean; start?: boolean } = {},
    ): Promise<Node> {
      const { store: own, ...vault } = await rig.node();
      const store = options.deaf ? { ...own, subscribe: () => () => {} } : own;
      const logger = createLogger({
        ...{ level: 'debug', format: 'json', clock: systemClock },
        destination: { write: line => rig.log.push(line) },
      });
      const references = createReferences({
        ...{
          vault,
          logger,
          environment: new Map(),
          mayRead: () => false,
          callerIdentity: true,
          grantEnforcement: 'enforce',
        },
        variables: { values: async () => new Map([['host', 'a.example']]) },
      });
      const fetch = createSafeFetch({
        allowPrivate: () => false,
        resolve: async name => ADDRESSES[name] ?? [],
      });
      const clock = handClock();
      const registry = createRegistry({ instances, store, vault, references, fetch, clock, logger });
      const changes: string[] = [];
      registry.subscribe(({ kind, definition: { ref } }: ServerChange) =>
        changes.push(`${kind} ${ref.scope}/${ref.name}`),
      );
      if (options.start !== false) await registry.start();
      started.push(registry);
      return { registry, vault, changes, clock };
    },
    async [Symbol.asyncDispose]() {
      for (const registry of started) await registry.close();
      await rig[Symbol.asyncDispose]();
    },
  };
}

const configured = (servers: Record<string, unknown>, check?: (url: string) => unknown) => ({
  servers,
  check,
  source: 'code' as const,
});
const add = (
  { registry }: Node,
  name: string,
  options: unknown,
  more: { instance?: string; replace?: boolean } = {},
) => registry.add({ instance: 'default', replace: false, by: 'ann', name, options, ...more });
const refused = (promise: Promise<unknown>) =>
  promise.then(
    () => 'it was taken',
    (error: { kind?: string; message: string }) => `${error.kind}: ${error.message}`,
  );

describe.each(engines)('the registry of servers on %s', engine => {
  it('adds, lists and removes servers while it runs (W-49) (W-50) (W-51) (W-58)', async () => {
    await using on = await rigOn(engine);
    const node = await on.node();
    expect(node.registry.servers('default')).toEqual([]);
    const { definition, stored } = await add(node, 'linear', { url: URL_A });
    expect(definition).toMatchObject({
      ref: { scope: 'default', name: 'linear' },
      transport: { url: URL_A },
    });
    expect(stored).toMatchObject({ revision: 1, createdBy: 'ann' });
    await add(node, 'github', { command: 'npx', args: ['-y', 'server-github'] });
    expect(node.registry.servers('default')).toEqual(['github', 'linear']);
    expect(node.registry.find({ scope: 'default', name: 'github' })?.definition.transport.kind).toBe('stdio');
    expect(await node.registry.remove({ scope: 'default', name: 'linear' })).toBe(true);
    expect(node.registry.servers('default')).toEqual(['github']);
    expect(node.changes).toEqual(['added default/linear', 'added default/github', 'removed default/linear']);
  });

  it('keeps what was added over a restart (W-61)', async () => {
    await using on = await rigOn(engine);
    const first = await on.node();
    await add(first, 'linear', { url: URL_A, except: ['delete_all'], gated: false });
    const before = first.registry.find({ scope: 'default', name: 'linear' })!.definition;
    await first.registry.close();
    const second = await on.node();
    expect(second.registry.find({ scope: 'default', name: 'linear' })?.definition).toEqual(before);
  });

  it('replaces a server only when that is asked for', async () => {
    await using on = await rigOn(engine);
    const node = await on.node();
    await add(node, 'linear', { url: URL_A });
    expect(await refused(add(node, 'linear', { url: URL_A }))).toContain(
      'conflict: There is a server default/linear',
    );
    await add(node, 'linear', { url: URL_A, prefix: 'l' }, { replace: true });
    await add(node, 'linear', { url: URL_A, prefix: 'l' }, { replace: true });
    expect(node.registry.find({ scope: 'default', name: 'linear' })).toMatchObject({
      definition: { prefix: 'l' },
      stored: { revision: 3 },
    });
    // The third is the same as the second: nobody has to connect again.
    expect(node.changes).toEqual(['added default/linear', 'changed default/linear']);
  });

  it('has instances that do not see each other (W-02)', async () => {
    await using on = await rigOn(engine);
    const node = await on.node({ sales: configured({ crm: { url: URL_A } }) });
    await add(node, 'crm', { url: `${URL_A}/2` });
    await add(node, 'mail', { url: URL_A }, { instance: 'sales' });
    expect(node.registry.servers('default')).toEqual(['crm']);
    expect(node.registry.servers('sales')).toEqual(['crm', 'mail']);
    expect(node.registry.list('sales').servers.map(({ definition }) => definition.ref.name)).toEqual([
      'crm',
      'mail',
    ]);
    expect(() => node.registry.servers('nobody')).toThrow(
      'There is no instance "nobody"; there are default, sales.',
    );
    expect(await refused(add(node, 'x', { url: URL_A }, { instance: 'nobody' }))).toContain('not_found');
  });

  it('gives no name of the configuration away (W-59) (W-60)', async () => {
    await using on = await rigOn(engine);
    const node = await on.node({ default: configured({ github: { url: URL_A } }) });
    const ref = { scope: 'default', name: 'github' };
    expect(await refused(add(node, 'github', { url: URL_A }, { replace: true }))).toBe(
      'conflict: The configuration has a server default/github already: take another name, or change it there.',
    );
    expect(await refused(node.registry.remove(ref))).toContain(
      'conflict: default/github is a server of the configuration',
    );
    expect(await node.registry.remove({ scope: 'default', name: 'unknown' })).toBe(false);
    expect(node.registry.servers('default')).toEqual(['github']);
  });

  it('takes data only, and names every wrong option (W-54)', async () => {
    await using on = await rigOn(engine);
    const node = await on.node();
    expect(await refused(add(node, 'a', { url: URL_A, cost: () => ({ usd: 1 }) }))).toContain(
      'invalid: Server a: cost is a function',
    );
    expect(await refused(add(node, 'a', { url: URL_A, onyl: [] }))).toContain('did you mean only');
    expect(await refused(add(node, 'a', {}))).toContain('transport is required');
    expect(node.registry.servers('default')).toEqual([]);
  });

  it('asks about each address when a server is added, and stores none that is refused (W-62) (W-65) (W-66) (attack 30)', async () => {
    await using on = await rigOn(engine);
    const asked: string[] = [];
    const check = (url: string) => {
      asked.push(url);
      return url.includes('forbidden') ? 'that is not for us.' : undefined;
    };
    const node = await on.node({ default: configured({}, check) });
    expect(await refused(add(node, 'a', { url: 'https://a.example/forbidden?x=1' }))).toBe(
      "invalid: https://a.example/forbidden can't be reached: that is not for us",
    );
    expect(await refused(add(node, 'a', { url: 'https://a.example/s/forbidden-1234567890abc/mcp' }))).toBe(
      "invalid: https://a.example/s/.../mcp can't be reached: that is not for us",
    );
    expect(await refused(add(node, 'a', { url: 'https://10.0.0.5/mcp' }))).toBe(
      "invalid: https://10.0.0.5/mcp can't be reached: 10.0.0.5 is a private address",
    );
    expect(await refused(add(node, 'a', { url: 'https://inside.example/mcp' }))).toContain(
      'inside.example is at a private address',
    );
    await add(node, 'a', { url: 'https://${vars:host}/mcp' });
    expect(asked).toEqual([
      'https://a.example/forbidden?x=1',
      'https://a.example/s/forbidden-1234567890abc/mcp',
      'https://10.0.0.5/mcp',
      'https://inside.example/mcp',
      'https://a.example/mcp',
    ]);
    expect(node.registry.servers('default')).toEqual(['a']);
    await node.registry.reconcile('default');
    expect(node.registry.servers('default')).toEqual(['a']);
  });

  it('refuses private addresses without a check of its own, too', async () => {
    await using on = await rigOn(engine);
    const node = await on.node();
    expect(await refused(add(node, 'a', { url: 'https://10.0.0.5/mcp' }))).toBe(
      "invalid: https://10.0.0.5/mcp can't be reached: 10.0.0.5 is a private address",
    );
    expect(node.registry.checkOf('default')).toBeUndefined();
  });

  it('refuses what a check throws, answers with no reason, or does not answer in time', async () => {
    await using on = await rigOn(engine);
    const canary = newCanary();
    const answers: Record<string, () => unknown> = {
      throws: () => {
        throw new Error('broken');
      },
      rejects: () => Promise.reject(new Error('broken')),
      false: () => false,
      late: () => new Promise(() => {}),
      secret: () => `no, because of Bearer ${canary.core}`,
      fine: async () => true,
    };
    const node = await on.node({
      default: configured({}, url => answers[new URL(url).pathname.slice(1)]!()),
    });
    const answerTo = (path: string) => refused(add(node, 'a', { url: `https://a.example/${path}` }));
    expect(await answerTo('throws')).toContain('the check of addresses failed; the log says why');
    expect(await answerTo('rejects')).toContain('the check of addresses failed');
    expect(await answerTo('false')).toContain('the check of addresses refuses it');
    expect(placesWith(canary, { answer: await answerTo('secret') })).toEqual([]);
    const late = answerTo('late');
    const ticking = setInterval(() => void node.clock.wake(), 5);
    expect(await late).toContain('the check of addresses took too long');
    clearInterval(ticking);
    expect(await answerTo('fine')).toBe('it was taken');
  });

  it('offers the check for every start of a connection (W-63)', async () => {
    await using on = await rigOn(engine);
    let open = true;
    const node = await on.node({ default: configured({}, () => (open ? undefined : 'closed')) });
    const check = node.registry.checkOf('default')!;
    await check(URL_A);
    open = false;
    expect(await refused(check(`${URL_A}?key=1`))).toBe(`invalid: ${URL_A} can't be reached: closed`);
  });

  it('refuses commands where addresses are checked, but for those of the configuration (W-64) (W-68) (attack 36)', async () => {
    await using on = await rigOn(engine);
    const command = { command: 'npx', args: ['-y', 'server-github'] };
    const before = await on.node();
    await add(before, 'old', command);
    await before.registry.close();
    const node = await on.node({ default: configured({ own: command }, () => undefined) });
    expect(await refused(add(node, 'new', command))).toContain('The server default/new is a command');
    expect(node.registry.servers('default')).toEqual(['own']);
    expect(node.registry.list().unusable).toMatchObject([
      { ref: { name: 'old' }, reason: expect.stringContaining('default/old is a command') },
    ]);
  });

  it('moves credentials into the vault, for this server only, and takes them out again (attack 46)', async () => {
    await using on = await rigOn(engine);
    const node = await on.node();
    const [header, variable, query, path] = [newCanary(), newCanary(), newCanary(), newCanary()];
    await add(node, 'http', {
      url: `https://a.example/s/${path.core}/mcp?api_key=${query.core}&mode=fast`,
      headers: { authorization: `Bearer ${header.value}`, 'x-org': '1' },
    });
    await add(node, 'stdio', { command: 'x', env: { GITHUB_TOKEN: variable.value, LOG_LEVEL: 'debug' } });
    const http = node.registry.find({ scope: 'default', name: 'http' })!.definition.transport;
    const names = (await node.vault.list({ after: '', limit: 10 })).map(({ name }) => name);
    expect(http).toMatchObject({
      url: expect.stringMatching(
        /^https:\/\/a\.example\/s\/\$\{vault:servers\.default\.http\.url-\w+\}\/mcp\?api_key=\$\{vault:[^}]+\}&mode=fast$/,
      ),
      headers: { authorization: '${vault:servers.default.http.authorization}', 'x-org': '1' },
    });
    expect(node.registry.find({ scope: 'default', name: 'stdio' })!.definition.transport).toMatchObject({
      env: { GITHUB_TOKEN: '${vault:servers.default.stdio.GITHUB_TOKEN}', LOG_LEVEL: 'debug' },
    });
    const secret = 'servers.default.http.authorization';
    expect(await node.vault.open(secret, 'servers/default/http')).toEqual({
      kind: 'opened',
      value: `Bearer ${header.value}`,
    });
    expect(await node.vault.open(secret, 'some-agent')).toEqual({ kind: 'not-allowed' });
    expect(await node.vault.open(secret, 'servers/default/stdio')).toEqual({ kind: 'not-allowed' });
    for (const canary of [header, variable, query, path]) {
      const places = { log: on.rig.log, tables: await dumpTables(on.rig.store), list: node.registry.list() };
      expect(placesWith(canary, places)).toEqual([]);
      expect(
        placesWith(canary, {
          opened: await Promise.all(
            names.map(async name => [
              await node.vault.open(name, 'servers/default/http'),
              await node.vault.open(name, 'servers/default/stdio'),
            ]),
          ),
        }),
      ).toEqual(['opened']);
    }

    await add(node, 'http', { url: URL_A, headers: { authorization: 'Bearer other' } }, { replace: true });
    expect((await node.vault.list({ after: '', limit: 10 })).map(({ name }) => name)).toEqual([
      'servers.default.http.authorization',
      'servers.default.stdio.GITHUB_TOKEN',
    ]);
    await node.registry.remove({ scope: 'default', name: 'http' });
    await node.registry.remove({ scope: 'default', name: 'stdio' });
    expect(await node.vault.list({ after: '', limit: 10 })).toEqual([]);
  });

  it.each([
    [['--token', 'abcdef'], 'args[1]'],
    [['--api-key=abcdef'], 'args[0]'],
    [['--header', 'Authorization: Bearer abcdefgh'], 'args[1]'],
  ])('refuses a credential among the arguments of a command: %j (attack 49)', async (args, place) => {
    await using on = await rigOn(engine);
    const node = await on.node();
    const answer = await refused(add(node, 'a', { command: 'x', args }));
    expect(answer).toContain(`${place} looks like a credential`);
    expect(answer).not.toContain('abcdef');
    expect(
      await refused(add(node, 'a', { command: 'x', args: ['--token-file', '/run/token', '--port', '8080'] })),
    ).toBe('it was taken');
  });

  it('lists what is stored and cannot be used, with the reason', async () => {
    await using on = await rigOn(engine);
    const node = await on.node();
    await add(node, 'a', { url: URL_A });
    await on.rig.store.db.updateTable('servers').set({ options: '{"urll": 1}', revision: 2 }).execute();
    await node.registry.reconcile('default');
    expect(node.registry.list()).toMatchObject({
      servers: [],
      unusable: [
        { ref: { name: 'a' }, reason: expect.stringContaining('urll is no option; did you mean url') },
      ],
    });
    expect(node.changes).toEqual(['added default/a', 'removed default/a']);
    await node.registry.remove({ scope: 'default', name: 'a' });
    expect(node.registry.list().unusable).toEqual([]);
  });

  it('takes as many as there may be', async () => {
    await using on = await rigOn(engine);
    const node = await on.node();
    const rows = Array.from({ length: 999 }, (_, index) => ({
      ...{ instance: 'default', name: `s${index}`, options: JSON.stringify({ url: URL_A }), revision: 1 },
      ...{ created_by: 'ann', created_at: 0, updated_at: 0 },
    }));
    for (let at = 0; at < rows.length; at += 100) {
      await on.rig.store.db
        .insertInto('servers')
        .values(rows.slice(at, at + 100))
        .execute();
    }
    await add(node, 'last', { url: URL_A });
    expect(node.registry.servers('default')).toHaveLength(1_000);
    expect(await refused(add(node, 'more', { url: URL_A }))).toBe(
      'conflict: There are 1000 servers, as many as there may be.',
    );
    await add(node, 'last', { url: URL_A, prefix: 'l' }, { replace: true });
  });

  it('takes another configuration whole or not at all, and tells only what is different', async () => {
    await using on = await rigOn(engine);
    const node = await on.node({ default: configured({ a: { url: URL_A }, b: { url: URL_A } }) });
    await add(node, 'c', { url: URL_A });
    expect(() =>
      node.registry.configure({ default: configured({ a: { url: URL_A, timeout: 'x' }, d: {} }) }),
    ).toThrow(/Server a: timeout must be a whole number.*\n.*Server d: transport is required/s);
    expect(node.registry.servers('default')).toEqual(['a', 'b', 'c']);
    const unchanged = node.registry.find({ scope: 'default', name: 'a' })!.definition;
    node.changes.length = 0;
    node.registry.configure({
      default: configured({
        a: { url: URL_A },
        b: { url: URL_A, prefix: 'x' },
        c: { url: URL_A, timeout: 1 },
      }),
    });
    expect(node.changes).toEqual(['changed default/b', 'changed default/c']);
    expect(node.registry.find({ scope: 'default', name: 'a' })!.definition).toBe(unchanged);
    expect(node.registry.list().unusable).toMatchObject([
      { ref: { name: 'c' }, reason: expect.stringContaining('goes before it') },
    ]);
    node.registry.configure({});
    expect(node.registry.servers('default')).toEqual(['c']);
  });
});

describe('nodes on one database', () => {
  it('see what others add and remove, without being asked (W-52) (W-53)', async () => {
    await using on = await rigOn('postgres');
    const [one, other] = [await on.node(), await on.node()];
    await add(one, 'linear', { url: URL_A });
    await expect.poll(() => other.registry.servers('default')).toEqual(['linear']);
    await other.registry.remove({ scope: 'default', name: 'linear' });
    expect(other.registry.servers('default')).toEqual([]);
    await expect.poll(() => one.registry.servers('default')).toEqual([]);
    expect(one.changes).toEqual(['added default/linear', 'removed default/linear']);
    expect(other.changes).toEqual(['added default/linear', 'removed default/linear']);
  });

  it('see it at once when they reconcile, and each minute, though news is lost (W-55) (W-56)', async () => {
    await using on = await rigOn('postgres');
    const [one, deaf] = [await on.node(), await on.node({}, { deaf: true })];
    await add(one, 'linear', { url: URL_A });
    expect(deaf.registry.servers('default')).toEqual([]);
    await deaf.registry.reconcile('default');
    expect(deaf.registry.servers('default')).toEqual(['linear']);
    await one.registry.remove({ scope: 'default', name: 'linear' });
    await deaf.clock.wake();
    await expect.poll(() => deaf.registry.servers('default')).toEqual([]);
  });
});
