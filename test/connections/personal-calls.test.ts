import type { TestPlatform } from '@patchbay/testing/platform';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { platforms } from '../doors/platforms.ts';
import { type Rig, rigsOn } from './live-rig.ts';
import { guard, isToolCall, newToken, PERSONAL_ENV, personAt } from './personal-rig.ts';
import { faultServers } from './servers/fault-servers.ts';

const { serverWith } = faultServers();

describe.each(platforms)(
  'A server that each person reaches with their own credential, at $kind',
  ({ start }) => {
    let platform: TestPlatform;
    let rigs: readonly Rig[];
    let rig: Rig;
    beforeAll(async () => {
      platform = await start({ env: PERSONAL_ENV });
      rigs = rigsOn(platform);
      rig = rigs[0]!;
    });
    afterAll(() => platform?.close());
    afterEach(async () => {
      for (const { definition, stored } of platform.platform.registry.list().servers)
        if (stored) await platform.platform.registry.remove(definition.ref);
    });
    const nodes = () => (platform as { nodes?: readonly TestPlatform[] }).nodes ?? [platform];

    /** On every node. */
    const add = async (name: string, options: object) => {
      await rig.add(name, options);
      for (const { platform: one } of nodes())
        await expect.poll(() => one.registry.find(rig.refOf(name))).toBeDefined();
    };

    it('is shown the credential of who calls, and nothing else that is secret (W-70) (W-72) (W-89) (attack 15)', async () => {
      const server = await serverWith('whoami');
      const { knows } = guard(server);
      await add('linear', { url: server.url, credentialName: 'linear' });
      const [ann, bob] = [await personAt(platform, nodes()), await personAt(platform, nodes())];
      await ann.give('linear', knows('ann'));
      await bob.give('linear', knows('bob'));
      const last = nodes().length - 1;
      expect(await ann.call('linear')).toMatchObject({ text: 'ann' });
      expect(await bob.call('linear', 'whoami', last)).toMatchObject({ text: 'bob' });
      expect(await ann.call('linear', 'whoami', last)).toMatchObject({ text: 'ann' });
      const sessions = new Map<unknown, Set<unknown>>();
      for (const { headers, method } of server.received) {
        if (method === 'initialize' || method === 'server/discover') continue;
        const session = headers['mcp-session-id'];
        sessions.set(session, (sessions.get(session) ?? new Set()).add(headers.authorization));
      }
      for (const shown of sessions.values()) expect(shown.size).toBe(1);
      const told = JSON.stringify(server.received.map(({ headers, params }) => [headers, params]));
      for (const secret of [ann.key, bob.key, platform.operatorKey, platform.agentKey])
        expect(told).not.toContain(secret);
      expect(told).toContain('Bearer token-');
    });

    it('gets it in the header and behind the scheme that its definition names (W-31) (W-32) (W-72)', async () => {
      const server = await serverWith('whoami');
      const { knows } = guard(server, 'x-api-key', '');
      await add('bare', {
        url: server.url,
        credential_name: 'crm',
        credential_header: 'X-Api-Key',
        credential_scheme: '',
      });
      const ann = await personAt(platform, nodes());
      await ann.give('crm', knows('ann'));
      expect(await ann.call('bare')).toMatchObject({ text: 'ann' });
      expect(server.received.every(({ headers }) => headers.authorization === undefined)).toBe(true);
    });

    it('hears nothing of who has given none (W-70)', async () => {
      const server = await serverWith('whoami');
      guard(server);
      await add('linear', { url: server.url, credentialName: 'linear' });
      const ann = await personAt(platform, nodes());
      expect(await ann.call('linear')).toMatchObject({ code: 'SIGN_IN_NEEDED' });
      expect(await rig.call('linear', 'whoami', {}, 'key:key_1')).toMatchObject({
        kind: 'failed',
        failure: 'AUTHENTICATION_FAILED',
        message: expect.stringContaining('an agent key stands for no person'),
      });
      expect(await rig.call('linear', 'whoami', {}, 'anonymous')).toMatchObject({
        message: expect.stringContaining('nobody has signed in'),
      });
      expect(server.received).toEqual([]);
    });

    it('is connected to anew with a credential that changed, on every node, and the old connection ends (W-77) (attack 20)', async () => {
      const server = await serverWith('whoami');
      const { knows, shown } = guard(server);
      await add('linear', { url: server.url, credentialName: 'linear' });
      const ann = await personAt(platform, nodes());
      const old = knows('ann');
      await ann.give('linear', old);
      for (const at of nodes().keys()) await ann.call('linear', 'whoami', at);
      const goodbyes = () => shown(({ verb }) => verb === 'DELETE');
      expect(goodbyes()).toEqual([]);
      const fresh = knows('ann again');
      await ann.give('linear', fresh);
      await expect.poll(goodbyes).toEqual(nodes().map(() => `Bearer ${old}`));
      for (const at of nodes().keys())
        expect(await ann.call('linear', 'whoami', at)).toMatchObject({ text: 'ann again' });
      await ann.take('linear');
      for (const at of nodes().keys())
        expect(await ann.call('linear', 'whoami', at)).toMatchObject({ code: 'SIGN_IN_NEEDED' });
      await expect.poll(goodbyes).toHaveLength(2 * nodes().length);
      expect(shown(isToolCall).filter(one => one === `Bearer ${old}`)).toHaveLength(nodes().length);
    });

    it('that does not take a credential any more has its person asked for another one, after one try (W-80)', async () => {
      const server = await serverWith('whoami');
      const { knows, forgets, shown } = guard(server);
      await add('linear', { url: server.url, credentialName: 'linear' });
      const ann = await personAt(platform, nodes());
      const old = knows('ann');
      await ann.give('linear', old);
      await ann.call('linear');
      forgets(old);
      expect(await ann.call('linear')).toMatchObject({ code: 'SIGN_IN_NEEDED' });
      expect(shown(isToolCall)).toHaveLength(2);
      await ann.give('linear', knows('ann'));
      expect(await ann.call('linear')).toMatchObject({ text: 'ann' });
    });

    it('never gets one for the call of another, however many come at once with equal ids (W-89) (attack 19)', async () => {
      const server = await serverWith('whoami');
      const { knows } = guard(server);
      await add('linear', { url: server.url, credentialName: 'linear' });
      const people = await Promise.all([0, 1, 2, 3].map(() => personAt(platform, nodes())));
      for (const person of people) await person.give('linear', knows(person.userId));
      const calls = Array.from({ length: 64 }, (_, at) => people[at % people.length]!);
      const answers = await Promise.all(
        calls.map(async (person, at) => {
          const answer = await person.call('linear', 'whoami', at % nodes().length);
          return [person.userId, answer] as const;
        }),
      );
      for (const [who, said] of answers) expect(said).toMatchObject({ text: who });
      const ids = server.received.filter(isToolCall).map(({ id }) => id);
      expect(new Set(ids).size).toBeLessThan(ids.length);
    });

    it('offers one tool until somebody has connected, and then its own to everybody, on every node (W-82) (W-83) (W-84) (W-85)', async () => {
      const server = await serverWith('whoami', 'call');
      const { knows } = guard(server);
      await add('linear', { url: server.url, credentialName: 'linear', prefix: 'lin' });
      const offeredAs = (one: Rig) => one.tools('linear').map(tool => tool.offeredAs);
      for (const one of rigs) await expect.poll(() => offeredAs(one)).toEqual(['lin__connect']);
      const ann = await personAt(platform, nodes());
      expect(await ann.call('linear', 'connect')).toMatchObject({ code: 'SIGN_IN_NEEDED' });
      await ann.give('linear', knows('ann'));
      expect(await ann.call('linear', 'connect')).toMatchObject({
        text: expect.stringContaining('Connected to linear, which offers 2 tools'),
      });
      for (const one of rigs) await expect.poll(() => offeredAs(one)).toEqual(['lin__whoami', 'lin__call']);
      expect(await rig.health('linear')).toMatchObject({ state: 'available', toolCount: 2 });
    });

    it('is refused with a command and no variable, and in two ways at once (W-74)', async () => {
      const wrong = async (options: object) => {
        await expect(rig.add('wrong', options)).rejects.toMatchObject({ kind: 'invalid' });
        return rig.add('wrong', options).catch(error => String(error.message));
      };
      expect(await wrong({ command: 'x', credentialName: 'c' })).toContain('needs credentialEnv');
      expect(
        await wrong({ command: 'x', env: { C: '1' }, credentialName: 'c', credentialEnv: 'C' }),
      ).toContain('is set in env already');
      expect(
        await wrong({
          url: 'https://x.example',
          headers: { Authorization: newToken() },
          credentialName: 'c',
        }),
      ).toContain('both say what is sent as authorization');
      expect(await wrong({ url: 'https://x.example', credentialHeader: 'x-key' })).toContain('is missing');
    });
  },
);
