import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { configuredProvider } from '../../packages/server/src/connections/credential/configured-credentials.ts';
import { createManualClock } from '../manual-clock.ts';
import { type Rig, rigOn } from './live-rig.ts';
import { guard, isToolCall, newToken, PERSONAL_ENV } from './personal-rig.ts';
import { faultServers } from './servers/fault-servers.ts';

const { serverWith } = faultServers();
const FOUND = { kind: 'answered', text: 'ann' };
const SIGN_IN = { kind: 'refused', code: 'SIGN_IN_NEEDED' };

let platform: TestPlatform;
let rig: Rig;
beforeAll(async () => {
  platform = await startTestPlatform({ env: PERSONAL_ENV });
  rig = rigOn(platform);
});
afterAll(() => platform?.close());

/** A registered server whose people's credentials come from code of the configuration. */
async function withCode(credentials: object) {
  const server = await serverWith('whoami');
  const guarded = guard(server);
  platform.platform.registry.configure({
    default: {
      servers: { linear: { url: server.url, credentialName: 'crm', gated: false } },
      check: undefined,
      credentials: { refused: undefined, ...credentials } as never,
      source: 'code',
    },
  });
  return { ...guarded, calls: () => guarded.shown(isToolCall) };
}

describe('The credentials of people from code of the configuration', () => {
  let asked: unknown[][];
  beforeEach(() => {
    asked = [];
  });

  it('are asked for by name and person, and where there is none the person has to sign in (W-71)', async () => {
    const tokens: Record<string, string> = {};
    const { knows, calls } = await withCode({
      find(...question: unknown[]) {
        asked.push(question);
        const token = tokens[String(question[1])];
        return token === undefined ? undefined : { token };
      },
    });
    expect(await rig.call('linear', 'whoami', {}, 'ann')).toMatchObject(SIGN_IN);
    tokens.ann = knows('ann');
    expect(await rig.call('linear', 'whoami', {}, 'ann')).toMatchObject(FOUND);
    expect(await rig.call('linear', 'whoami', {}, 'bob')).toMatchObject(SIGN_IN);
    expect(asked).toEqual([
      ['crm', 'ann'],
      ['crm', 'ann'],
      ['crm', 'bob'],
    ]);
    expect(calls()).toHaveLength(1);
  });

  it.each([401, 403])(
    'are told of a refusal with %d, and what they answer is tried once more (W-78) (W-79)',
    async status => {
      const old = newToken();
      const { knows, refusals, calls } = await withCode({
        find: () => ({ token: old, revision: 7 }),
        async refused(...told: unknown[]) {
          asked.push(told);
          return { token: fresh, revision: 8, given: 7 };
        },
      });
      knows('ann', old);
      const fresh = knows('ann');
      refusals.push(status);
      expect(await rig.call('linear', 'whoami', {}, 'ann')).toMatchObject(FOUND);
      expect(asked).toEqual([
        [
          { name: 'crm', principalId: 'ann', revision: 7, given: 7 },
          { server: 'default/linear', status },
        ],
      ]);
      expect(calls()).toEqual([`Bearer ${old}`, `Bearer ${fresh}`]);
    },
  );

  it('are tried exactly once more: the second refusal is the error of the call (W-79) (W-81)', async () => {
    const { knows, refusals, calls } = await withCode({
      find: () => ({ token: old }),
      refused(...told: unknown[]) {
        asked.push(told);
        return { token: fresh };
      },
    });
    const [old, fresh] = [knows('ann'), knows('ann')];
    refusals.push(401, 403, 401, 401);
    expect(await rig.call('linear', 'whoami', {}, 'ann')).toMatchObject({
      kind: 'failed',
      failure: 'AUTHENTICATION_FAILED',
      reached: 'no',
    });
    expect(calls()).toEqual([`Bearer ${old}`, `Bearer ${fresh}`]);
    expect(asked).toHaveLength(1);
  });

  it('are not tried again where there is no other, and the person has to sign in again (W-80)', async () => {
    const { knows, refusals, calls } = await withCode({ find: () => ({ token }), refused: () => undefined });
    const token = knows('ann');
    refusals.push(401);
    expect(await rig.call('linear', 'whoami', {}, 'ann')).toMatchObject(SIGN_IN);
    expect(calls()).toHaveLength(1);
  });

  it.each<[string, () => unknown]>([
    [
      'that throws',
      () => {
        throw new Error('connect ECONNREFUSED vault.internal:8200');
      },
    ],
    ['that rejects', () => Promise.reject(new Error('connect ECONNREFUSED vault.internal:8200'))],
    ['with a line break in it', () => ({ token: 'a\r\nhost: elsewhere' })],
    ['of another form', () => ({ token: 'abc', vault: 'vault.internal' })],
    ['that is a text', () => 'abc'],
  ])('%s fail the call without a word of it, and are in the log', async (_, find) => {
    const { calls } = await withCode({ find });
    const lines = platform.logLines().length;
    const answer = await rig.call('linear', 'whoami', {}, 'ann');
    expect(answer).toMatchObject({
      kind: 'failed',
      failure: 'AUTHENTICATION_FAILED',
      message: 'the credential for default/linear cannot be had now',
    });
    expect(calls()).toEqual([]);
    const logged = platform.logLines().slice(lines);
    expect(logged.map(({ message }) => message)).toContain('A credential of a person cannot be had');
  });

  it('are waited for ten seconds', async () => {
    const clock = createManualClock();
    const provider = configuredProvider(
      { find: () => new Promise(() => undefined), refused: undefined },
      clock,
    );
    const found = provider.find('crm', 'ann').catch(error => error);
    await clock.advance(10_000);
    expect(await found).toMatchObject({ kind: 'AUTHENTICATION_FAILED', reached: 'no' });
    expect(clock.waiting).toBe(0);
  });
});
