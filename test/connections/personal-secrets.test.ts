import { randomBytes } from 'node:crypto';
import { createClient } from '@patchbay/contract/client';
import type { TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dumpTables, placesWith, recordingFetch } from '../canary.ts';
import { platforms } from '../doors/platforms.ts';
import { type Rig, rigsOn } from './live-rig.ts';
import { guard, PERSONAL_ENV, personAt } from './personal-rig.ts';
import { faultServers } from './servers/fault-servers.ts';

const { serverWith } = faultServers();

function newCanary() {
  const core = `canary${randomBytes(12).toString('hex')}`;
  return { value: core, core };
}

describe.each(platforms)('What a person has given for MCP servers, at $kind', ({ start }) => {
  let platform: TestPlatform;
  let rig: Rig;
  beforeAll(async () => {
    platform = await start({ env: { ...PERSONAL_ENV, PATCHBAY_LOG_LEVEL: 'debug' } });
    rig = rigsOn(platform)[0]!;
  });
  afterAll(() => platform?.close());
  const nodes = () => (platform as { nodes?: readonly TestPlatform[] }).nodes ?? [platform];
  const rows = () => platform.platform.store.db.selectFrom('personal_credentials').selectAll().execute();

  /** A server on every node, and a person of it with a canary for a credential. */
  async function known(name: string) {
    const server = await serverWith('whoami');
    const guarded = guard(server);
    await rig.add(name, { url: server.url, credentialName: name });
    for (const { platform: one } of nodes())
      await expect.poll(() => one.registry.find(rig.refOf(name))).toBeDefined();
    const person = await personAt(platform, nodes());
    const canary = newCanary();
    guarded.knows('ann', canary.value);
    return { server, guarded, person, canary };
  }

  it('is listed by name and server, changed and taken back, each by themselves, and noted without its value', async () => {
    const { person } = await known('notes');
    const other = await personAt(platform, nodes());
    const own = async (who: typeof person) => {
      const { credentials } = await who.client.call('list_credentials', {});
      return credentials.filter(({ name }) => name === 'notes' || name === 'unused');
    };
    expect(await own(person)).toEqual([{ name: 'notes', servers: ['default/notes'] }]);
    expect(await person.give('notes', 'first')).toMatchObject({ name: 'notes', created: true });
    expect(await person.give('notes', 'second')).toMatchObject({ name: 'notes', created: false });
    expect(await person.give('unused', 'third')).toMatchObject({ servers: [], created: true });
    const given = { givenOn: expect.any(Number), changedOn: expect.any(Number) };
    expect(await own(person)).toEqual([
      { name: 'notes', servers: ['default/notes'], ...given },
      { name: 'unused', servers: [], ...given },
    ]);
    expect(await own(other)).toEqual([{ name: 'notes', servers: ['default/notes'] }]);
    await expect(other.take('notes')).rejects.toMatchObject({ code: 'not_found' });
    expect(await person.take('unused')).toEqual({ name: 'unused', deleted: true });
    await expect(person.give('notes', 'a\nb')).rejects.toMatchObject({ code: 'invalid_param' });
    const events = await platform.platform.store.db
      .selectFrom('audit_events')
      .selectAll()
      .where('user_id', '=', person.userId)
      .execute();
    expect(events.map(({ operation, subject }) => [operation, JSON.parse(subject)])).toEqual([
      ['put_credential', { name: 'notes' }],
      ['put_credential', { name: 'notes' }],
      ['put_credential', { name: 'unused' }],
      ['delete_credential', { name: 'unused' }],
    ]);
  });

  it('is nowhere but with its server (attack 46)', async () => {
    const { server, guarded, person, canary } = await known('vaulted');
    const recorder = recordingFetch();
    const client = createClient({ baseUrl: platform.url, token: person.key, fetch: recorder.fetch });
    const errors: unknown[] = [];
    await client.call('put_credential', { name: 'vaulted', token: canary.value });
    await client.call('list_credentials', {});
    for (const tool of ['whoami', 'call', 'nothing'])
      await person.call('vaulted', tool).catch(error => errors.push(error));
    server.instead = (_, response) =>
      response
        .writeHead(400)
        .end(JSON.stringify({ error: { code: -32000, message: canary.value }, id: null }));
    errors.push(await person.call('vaulted'));
    guard(server);
    errors.push(await person.call('vaulted'));
    const places = {
      answers: recorder.answers,
      log: platform.logLines(),
      tables: await dumpTables(platform.platform.store),
      errors,
    };
    expect(placesWith(canary, places)).toEqual([]);
    expect(placesWith(canary, { server: guarded.shown() })).toEqual(['server']);
  });

  it('is encrypted anew with the secrets of the vault, and opens for nobody and nothing else (attack 46)', async () => {
    const { person, canary } = await known('sealed');
    await person.give('sealed', canary.value);
    await person.call('sealed');
    const [before] = (await rows()).filter(({ user_id }) => user_id === person.userId);
    await rig.client.call('rotate_secrets', {});
    const [after] = (await rows()).filter(({ user_id }) => user_id === person.userId);
    expect(after!.data_key_id).not.toBe(before!.data_key_id);
    expect(after).toMatchObject({ revision: before!.revision, given: before!.given });
    expect(await person.call('sealed')).toMatchObject({ text: 'ann' });
    const used = await platform.platform.store.db.selectFrom('data_keys').select('id').execute();
    expect(used.map(({ id }) => id)).not.toContain(before!.data_key_id);
    const thief = await personAt(platform, nodes());
    await platform.platform.store.commit(db =>
      db
        .insertInto('personal_credentials')
        .values({ ...after!, user_id: thief.userId })
        .execute(),
    );
    expect(await thief.call('sealed')).toMatchObject({
      outcome: 'failed',
      message: 'the credential for default/sealed cannot be had now',
    });
  });
});
