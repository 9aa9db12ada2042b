import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { engines } from '@patchbay/testing/stores';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import type { Vault } from '../../packages/server/src/secrets/vault.ts';
import type { Schema } from '../../packages/server/src/store/schema.ts';
import {
  firstLease,
  insertClaimedConversation,
} from '../../packages/server/src/store/tables/conversations.ts';
import { dumpTables, newCanary, placesWith } from '../canary.ts';
import { newVaultKey, startVaultRig, type VaultRig, valueIn } from './vaults.ts';

const put = (vault: Vault, name: string, value: string, allowedAgents?: readonly string[]) =>
  vault.put({ name, value, allowedAgents, by: 'user_x' });

/** Two secrets, sealed with one key, on a rig whose nodes have it. */
async function withTwoSecrets(engine: (typeof engines)[number]) {
  const rig = await startVaultRig(engine, newVaultKey());
  const vault = await rig.node();
  await put(vault, 'one', 'value of one', ['clerk']);
  await put(vault, 'two', 'value of two');
  const rows = await rig.store.db.selectFrom('secrets').selectAll().orderBy('name').execute();
  return { rig, one: rows[0]!, two: rows[1]! };
}

/** What a node that remembers nothing makes of secret `one` after its row was changed from outside. */
async function afterChange(rig: VaultRig, change: Partial<Schema['secrets']>): Promise<string> {
  await rig.store.db.updateTable('secrets').set(change).where('name', '=', 'one').execute();
  return valueIn(await rig.node(), 'one', 'clerk');
}

describe.each(engines)('the vault on %s', engine => {
  it('gives an agent what was stored, and stores nothing that can be read', async () => {
    await using rig = await startVaultRig(engine, newVaultKey());
    const vault = await rig.node();
    const canary = newCanary();
    const stored = await put(vault, 'crm-key', canary.value, ['clerk']);
    expect(stored).toMatchObject({ created: true, secret: { name: 'crm-key', allowedAgents: ['clerk'] } });
    expect(await valueIn(vault, 'crm-key', 'clerk')).toBe(canary.value);
    expect(await valueIn(vault, 'crm-key', 'other')).toBe('not-allowed');
    expect(await valueIn(vault, 'nothing')).toBe('absent');
    expect(placesWith(canary, { ...(await dumpTables(rig.store)), log: rig.log, stored })).toEqual([]);
    expect(placesWith(canary, { control: await vault.open('crm-key', 'clerk') })).toEqual(['control']);
  });

  it('keeps what a change leaves out, and asks a new secret for its value', async () => {
    await using rig = await startVaultRig(engine, newVaultKey());
    const vault = await rig.node();
    const first = await vault.put({ name: 'a', value: 'first', description: 'of it', by: 'user_x' });
    const changed = await vault.put({ name: 'a', allowedAgents: ['clerk', 'clerk'], by: 'user_y' });
    expect(changed).toEqual({
      created: false,
      secret: {
        ...first.secret,
        allowedAgents: ['clerk'],
        modifiedBy: 'user_y',
        modifiedAt: expect.any(Number),
      },
    });
    expect([await valueIn(vault, 'a', 'clerk'), await valueIn(vault, 'a', 'b')]).toEqual([
      'first',
      'not-allowed',
    ]);
    await expect(vault.put({ name: 'b', by: 'user_x' })).rejects.toMatchObject({ kind: 'invalid' });
  });

  it('has checksums that tell values apart and nothing else', async () => {
    await using rig = await startVaultRig(engine, newVaultKey());
    const vault = await rig.node();
    const checksum = async (name: string, value: string) => (await put(vault, name, value)).secret.checksum;
    const [same, again] = [await checksum('a', 'value'), await checksum('a', 'value')];
    expect(same).toBe(again);
    expect(await checksum('a', 'other')).not.toBe(same);
    expect(await checksum('b', 'value')).not.toBe(same);
  });

  describe('refuses a row that was changed from outside:', () => {
    it('with the ciphertext of another secret', async () => {
      const { rig, two } = await withTwoSecrets(engine);
      await using _ = rig;
      expect(await afterChange(rig, { sealed: two.sealed })).toBe('secret_damaged');
    });

    it('for other agents', async () => {
      const { rig } = await withTwoSecrets(engine);
      await using _ = rig;
      expect(await afterChange(rig, { allowed_agents: '[]' })).toBe('secret_damaged');
      expect(await afterChange(rig, { allowed_agents: '["clerk","thief"]' })).toBe('secret_damaged');
      expect(await afterChange(rig, { allowed_agents: '["clerk"]' })).toBe('value of one');
    });

    it('under another name', async () => {
      const { rig } = await withTwoSecrets(engine);
      await using _ = rig;
      await rig.store.db.updateTable('secrets').set({ name: 'three' }).where('name', '=', 'one').execute();
      expect(await valueIn(await rig.node(), 'three', 'clerk')).toBe('secret_damaged');
    });

    it('with any byte of it another one, or cut', async () => {
      const { rig, one } = await withTwoSecrets(engine);
      await using _ = rig;
      const sealed = new Uint8Array(one.sealed);
      await fc.assert(
        fc.asyncProperty(fc.nat(sealed.length - 1), fc.integer({ min: 1, max: 255 }), async (at, bits) => {
          const changed = sealed.with(at, sealed[at]! ^ bits);
          expect(await afterChange(rig, { sealed: changed })).toBe('secret_damaged');
          expect(await afterChange(rig, { sealed: sealed.slice(0, at) })).toBe('secret_damaged');
        }),
        { numRuns: 10 },
      );
      expect(await afterChange(rig, { sealed })).toBe('value of one');
    });

    it('with a data key that was changed or is of another row', async () => {
      const { rig } = await withTwoSecrets(engine);
      await using _ = rig;
      const { db } = rig.store;
      const key = await db.selectFrom('data_keys').selectAll().executeTakeFirstOrThrow();
      await db
        .insertInto('data_keys')
        .values({ ...key, id: 'dek_copy', is_current: 0 })
        .execute();
      expect(await afterChange(rig, { data_key_id: 'dek_copy' })).toBe('data_key_damaged');
      expect(await afterChange(rig, { data_key_id: key.id })).toBe('value of one');
    });
  });

  describe('without the right key', () => {
    it('starts, says so in its log, and refuses with the setting that mends it', async () => {
      const { rig } = await withTwoSecrets(engine);
      await using _ = rig;
      for (const wrong of [{ key: newVaultKey() }, { key: undefined, file: join(rig.folder, 'vault-key') }]) {
        rig.log.length = 0;
        const vault = await rig.node(wrong);
        expect(rig.log.join()).toContain('The vault cannot be used');
        for (const use of [
          () => put(vault, 'x', 'value'),
          () => put(vault, 'one', 'value'),
          () => vault.rotate(),
          () => vault.open('one', 'clerk'),
        ])
          await expect(use()).rejects.toMatchObject({
            kind: 'disabled',
            message: expect.stringMatching(
              /another vault key.*PATCHBAY_VAULT_KEY.*PATCHBAY_VAULT_PREVIOUS_KEY/,
            ),
          });
        expect((await vault.list({ after: '', limit: 9 })).map(({ name }) => name)).toEqual(['one', 'two']);
        expect(await vault.grants(['one', 'x'])).toEqual(new Map([['one', ['clerk']]]));
      }
      expect(await readdir(rig.folder), 'no new key beside a database that has another').toEqual([]);
      expect(await valueIn(await rig.node(), 'one', 'clerk')).toBe('value of one');
    });

    it('is off, and says how to switch it on', async () => {
      await using rig = await startVaultRig(engine, undefined);
      const vault = await rig.node();
      expect(rig.log).toEqual([]);
      for (const use of [() => put(vault, 'x', 'value'), () => vault.rotate()])
        await expect(use()).rejects.toMatchObject({
          kind: 'disabled',
          message: expect.stringMatching(/vault is off.*secrets new-key.*PATCHBAY_VAULT_KEY/),
        });
      expect(await valueIn(vault, 'x')).toBe('absent');
    });
  });

  describe('with its key in a file', () => {
    it('makes the file for its owner when the first secret is stored, and reads it after a restart', async () => {
      await using rig = await startVaultRig(engine, undefined);
      const file = join(rig.folder, 'vault-key');
      const vault = await rig.node({ file });
      expect(await valueIn(vault, 'a')).toBe('absent');
      expect(await readdir(rig.folder)).toEqual([]);
      await Promise.all([put(vault, 'a', 'value a'), put(vault, 'b', 'value b')]);
      expect(await readdir(rig.folder)).toEqual(['vault-key']);
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      const restarted = await rig.node({ file });
      expect([await valueIn(restarted, 'a'), await valueIn(restarted, 'b')]).toEqual(['value a', 'value b']);
    });

    it('says what is wrong with a file that holds none', async () => {
      await using rig = await startVaultRig(engine, undefined);
      const file = join(rig.folder, 'vault-key');
      await writeFile(file, 'password\n');
      const vault = await rig.node({ file });
      await expect(put(vault, 'a', 'value')).rejects.toMatchObject({
        kind: 'disabled',
        message: `${file} holds no vault key: put the file back as it was made.`,
      });
      expect(await readFile(file, 'utf8')).toBe('password\n');
    });

    it('takes over from a setting to the file, too', async () => {
      const { rig } = await withTwoSecrets(engine);
      await using _ = rig;
      const file = join(rig.folder, 'vault-key');
      const old = newVaultKey();
      await rm(file, { force: true });
      await using other = await startVaultRig(engine, old);
      await put(await other.node(), 'a', 'value a');
      await other.node({ key: undefined, previousKey: old, file });
      expect(await valueIn(await other.node({ key: undefined, file }), 'a')).toBe('value a');
    });
  });

  describe('changes its key', () => {
    it('by a start with both, while nodes with the old one go on', async () => {
      const [old, fresh] = [newVaultKey(), newVaultKey()];
      await using rig = await startVaultRig(engine, old);
      const before = await rig.node();
      await put(before, 'a', 'value a');
      await put(before, 'unread', 'value of it');

      const both = await rig.node({ key: fresh, previousKey: old });
      expect(await valueIn(both, 'a')).toBe('value a');
      expect(await valueIn(before, 'unread')).toBe('value of it');
      await put(before, 'b', 'value b');

      const after = await rig.node({ key: fresh });
      expect([await valueIn(after, 'a'), await valueIn(after, 'b')]).toEqual(['value a', 'value b']);
      expect(await valueIn(await rig.node(), 'a')).toBe('disabled');
    });

    it('once, when several nodes start with both at the same time', async () => {
      const [old, fresh] = [newVaultKey(), newVaultKey()];
      await using rig = await startVaultRig(engine, old);
      await put(await rig.node(), 'a', 'value a');
      await Promise.all([1, 2, 3].map(() => rig.node({ key: fresh, previousKey: old })));
      expect(await valueIn(await rig.node({ key: fresh }), 'a')).toBe('value a');
    });
  });

  describe('rotates its data key', () => {
    it('while others read and store, and ends with one key for all', async () => {
      await using rig = await startVaultRig(engine, newVaultKey());
      let now = Date.UTC(2026, 10, 30);
      // Time flies for the one that reads, so it never finds what it remembers still good.
      const reading = await rig.node({ now: () => (now += 400_000) });
      const [rotating, storing] = [await rig.node(), await rig.node()];
      const names = Array.from({ length: 230 }, (_, index) => `s${index}`);
      for (const name of names) await put(storing, name, `value of ${name}`);
      const [before] = await rig.store.db.selectFrom('data_keys').select('id').execute();

      let over = false;
      const reads = (async () => {
        const seen = new Set<string>();
        for (let at = 0; !over; at = (at + 7) % names.length) seen.add(await valueIn(reading, names[at]!));
        return seen;
      })();
      const stores = (async () => {
        let count = 0;
        for (; !over || count < 3; count += 1) await put(storing, `late${count}`, 'stored meanwhile');
        return count;
      })();
      const both = await Promise.all([rotating.rotate(), storing.rotate()]);
      over = true;
      const late = await stores;
      expect([...(await reads)].filter(text => !text.startsWith('value of s'))).toEqual([]);
      expect(both.flatMap(({ damaged }) => damaged)).toEqual([]);

      await rotating.reseal();
      const keys = await rig.store.db.selectFrom('data_keys').select(['id', 'is_current']).execute();
      expect(keys).toEqual([{ id: expect.not.stringMatching(before!.id), is_current: 1 }]);
      const fresh = await rig.node();
      for (const name of names) expect(await valueIn(fresh, name)).toBe(`value of ${name}`);
      expect(await valueIn(fresh, `late${late - 1}`)).toBe('stored meanwhile');
    });

    it('to its end on any node, when the one that began it stopped half way', async () => {
      await using rig = await startVaultRig(engine, newVaultKey());
      const names = Array.from({ length: 250 }, (_, index) => `s${index}`);
      const healthy = await rig.node();
      for (const name of names) await put(healthy, name, `value of ${name}`);
      let commits = 0;
      const dying = await rig.node({
        commit: unit => {
          commits += 1;
          if (commits > 2) throw new Error('the node is gone');
          return rig.store.commit(unit);
        },
      });
      await expect(dying.rotate()).rejects.toThrow('the node is gone');
      const jobs = await rig.store.db.selectFrom('jobs').select('kind').execute();
      expect(jobs).toEqual([{ kind: 'reseal-secrets' }]);
      expect(await rig.store.db.selectFrom('data_keys').select('id').execute()).toHaveLength(2);

      expect(await healthy.reseal()).toEqual({ count: 150, damaged: [] });
      expect(await healthy.reseal()).toEqual({ count: 0, damaged: [] });
      expect(await rig.store.db.selectFrom('data_keys').select('id').execute()).toHaveLength(1);
      const fresh = await rig.node();
      for (const name of names) expect(await valueIn(fresh, name)).toBe(`value of ${name}`);
    });

    it('past a damaged secret, which it names and leaves as it is', async () => {
      const { rig } = await withTwoSecrets(engine);
      await using _ = rig;
      await rig.store.db
        .updateTable('secrets')
        .set({ allowed_agents: '[]' })
        .where('name', '=', 'one')
        .execute();
      const vault = await rig.node();
      expect(await vault.rotate()).toEqual({ count: 1, damaged: ['one'] });
      expect([await valueIn(vault, 'one'), await valueIn(vault, 'two')]).toEqual([
        'secret_damaged',
        'value of two',
      ]);
      await put(vault, 'one', 'stored again');
      expect(await vault.rotate()).toEqual({ count: 2, damaged: [] });
    });
  });

  it('has one data key and one value, however many nodes store the first secret at once', async () => {
    await using rig = await startVaultRig(engine, newVaultKey());
    const nodes = await Promise.all([1, 2, 3, 4].map(() => rig.node()));
    const stored = await Promise.all(nodes.map((vault, index) => put(vault, 'same', `value ${index}`)));
    expect(stored.filter(({ created }) => created)).toHaveLength(1);
    expect(await rig.store.db.selectFrom('data_keys').select('id').execute()).toHaveLength(1);
    await vi.waitFor(async () => {
      const values = await Promise.all([...nodes, await rig.node()].map(vault => valueIn(vault, 'same')));
      expect(new Set(values).size).toBe(1);
      expect(values[0]).toMatch(/^value [0-3]$/);
    });
  });

  it('remembers what it opened until it is changed on whatever node, and never a failure', async () => {
    await using rig = await startVaultRig(engine, newVaultKey());
    const [here, there] = [await rig.node(), await rig.node()];
    expect(await valueIn(there, 'a')).toBe('absent');
    await put(here, 'a', 'first');
    expect(await valueIn(there, 'a')).toBe('first');
    await put(here, 'a', 'second');
    await vi.waitFor(async () => expect(await valueIn(there, 'a')).toBe('second'));
    await here.put({ name: 'a', allowedAgents: ['clerk'], by: 'user_x' });
    await vi.waitFor(async () => expect(await valueIn(there, 'a')).toBe('not-allowed'));
    expect(await here.remove('a')).toBe(true);
    await vi.waitFor(async () => expect(await valueIn(there, 'a', 'clerk')).toBe('absent'));
    expect(await here.remove('a')).toBe(false);
  });

  it('keeps what was told in a conversation as long as the conversation, and apart from what people store', async () => {
    await using rig = await startVaultRig(engine, newVaultKey());
    const vault = await rig.node();
    await rig.store.commit(db =>
      insertClaimedConversation(db, {
        ...{ lease: firstLease('conv_x'), agentId: 'clerk', agentVersion: 1, environment: 'production' },
        ...{ userId: 'u', holder: 'node', leaseMs: 1_000, at: 0 },
      }),
    );
    const tell = (name: string) =>
      vault.put({
        name: `conv_x.${name}`,
        value: 'told',
        allowedAgents: ['clerk'],
        by: 'u',
        conversationId: 'conv_x',
      });
    for (let count = 0; count < 100; count += 1) await tell(`s${count}`);
    await expect(tell('one-more')).rejects.toMatchObject({ kind: 'conflict' });
    await tell('s7');
    await put(vault, 'stored', 'by a person');
    expect(await valueIn(vault, 'conv_x.s7', 'clerk')).toBe('told');
    expect((await vault.list({ after: '', limit: 200 })).map(({ name }) => name)).toEqual(['stored']);
    expect(await vault.rotate()).toEqual({ count: 101, damaged: [] });

    await rig.store.commit(db =>
      db
        .deleteFrom('conversations')
        .execute()
        .then(() => {}),
    );
    expect(await valueIn(await rig.node(), 'conv_x.s7', 'clerk')).toBe('absent');
    expect(await valueIn(vault, 'stored')).toBe('by a person');
  });

  it('notes to the hour when a secret was last used', async () => {
    await using rig = await startVaultRig(engine, newVaultKey());
    const noon = Date.UTC(2026, 10, 30, 12);
    let now = noon + 1_234_567;
    const vault = await rig.node({ now: () => now });
    const lastAccess = async () => (await vault.list({ after: '', limit: 1 }))[0]?.lastAccessedAt;
    await put(vault, 'a', 'value');
    expect(await lastAccess()).toBeUndefined();
    await valueIn(vault, 'a');
    expect(await lastAccess()).toBe(noon);
    now += 3_600_000;
    await valueIn(vault, 'a');
    expect(await lastAccess()).toBe(noon + 3_600_000);
  });

  it('is a map, whatever is done to it on two nodes', async () => {
    const name = fc.constantFrom('a', 'b', 'c');
    const step = fc.oneof(
      fc.record({
        kind: fc.constant('put' as const),
        name,
        value: fc.string({ minLength: 1 }),
        node: fc.nat(1),
      }),
      fc.record({ kind: fc.constant('remove' as const), name, node: fc.nat(1) }),
      fc.record({ kind: fc.constant('rotate' as const), node: fc.nat(1) }),
      fc.record({ kind: fc.constant('restart' as const), node: fc.nat(1) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async steps => {
        await using rig = await startVaultRig(engine, newVaultKey());
        const nodes = [await rig.node(), await rig.node()];
        const model = new Map<string, string>();
        for (const step of steps) {
          const vault = nodes[step.node]!;
          if (step.kind === 'put') {
            const value = step.value.replaceAll('\0', '');
            await put(vault, step.name, value);
            model.set(step.name, value);
          } else if (step.kind === 'remove') {
            expect(await vault.remove(step.name)).toBe(model.delete(step.name));
          } else if (step.kind === 'rotate') await vault.rotate();
          else nodes[step.node] = await rig.node();
          const wanted = ['a', 'b', 'c'].map(each => model.get(each) ?? 'absent');
          for (const node of nodes)
            await vi.waitFor(async () =>
              expect(await Promise.all(['a', 'b', 'c'].map(each => valueIn(node, each)))).toEqual(wanted),
            );
        }
      }),
      { numRuns: 12 },
    );
  });
});
