import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FakePlatform, startFakePlatform } from '../testing/fake-platform.ts';
import { createTestIo, type TestIo } from '../testing/test-io.ts';

let platform: FakePlatform;
let io: TestIo;

beforeAll(async () => {
  platform = await startFakePlatform();
});
afterAll(() => platform.stop());
beforeEach(() => {
  platform.calls.length = 0;
  io = createTestIo({ home: platform.home });
});

const broken = {
  chain: 'conv_b',
  seq: 3,
  entryId: 'audit_b_3',
  reason: 'changed',
  message: 'It was changed.',
};

describe('audit verify', () => {
  it('goes through all parts, says how far it is, and ends well when nothing is wrong', async () => {
    platform.handlers.verify_audit = ({ after }) =>
      after === undefined
        ? { intact: true, chains: 2, entries: 20, breaks: [], next: 'conv_a' }
        : { intact: true, chains: 1, entries: 5, breaks: [] };
    expect(await io.run('audit', 'verify')).toBe(0);
    expect(platform.calls.map(({ args }) => args)).toEqual([{}, { after: 'conv_a' }]);
    expect(io.err()).toBe('20 entries of 2 chains are as they were written so far\n');
    expect(io.out()).toBe('The audit trail is intact: 25 entries of 3 chains are as they were written.\n');
  });

  it('says what is wrong and exits 1, also when a later part is intact', async () => {
    platform.handlers.verify_audit = ({ after }) =>
      after === undefined
        ? { intact: false, chains: 2, entries: 20, breaks: [broken], next: 'conv_b' }
        : { intact: true, chains: 1, entries: 5, breaks: [] };
    expect(await io.run('audit', 'verify')).toBe(1);
    expect(io.out()).toBe('conv_b 3 (audit_b_3): changed. It was changed.\n');
    expect(io.err()).toContain('The audit trail is broken in 1 chain: 25 entries of 3 chains');
    const json = createTestIo({ home: platform.home });
    expect(await json.run('audit', 'verify', '--json')).toBe(1);
    expect(JSON.parse(json.out())).toEqual({ intact: false, chains: 3, entries: 25, breaks: [broken] });
  });

  it('asks about one conversation alone', async () => {
    platform.handlers.verify_audit = () => ({ intact: true, chains: 1, entries: 5, breaks: [] });
    expect(await io.run('audit', 'verify', '--conversation', 'conv_b')).toBe(0);
    expect(platform.calls[0]!.args).toEqual({ conversationId: 'conv_b' });
  });
});

describe('audit events', () => {
  it('lists who did what', async () => {
    platform.handlers.list_audit_events = () => ({
      count: 1,
      events: [
        {
          ...{ seq: 2, timestamp: Date.UTC(2026, 10, 30), userId: 'user_1', via: 'cli' },
          ...{ operation: 'revoke_key', outcome: 'done', subject: { keyId: 'key_1' }, hmac: 'x' },
        },
      ],
    });
    expect(await io.run('audit', 'events')).toBe(0);
    expect(io.out()).toMatch(/2 +2026-11-30T00:00:00\.000Z +user_1 +cli +revoke_key +done +keyId=key_1\n$/);
  });
});
