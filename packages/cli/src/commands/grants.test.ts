import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FakePlatform, Refusal, startFakePlatform } from '../testing/fake-platform.ts';
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

const GRANT = {
  ...{
    id: 'grant_a',
    clientId: 'client_a',
    clientName: 'An editor',
    door: 'agents',
    agentIds: ['demo', 'b'],
  },
  ...{ scope: 'agents', createdOn: Date.UTC(2026, 10, 30), expiresOn: Date.UTC(2027, 1, 28) },
};

describe('grants', () => {
  it('lists who acts as the person, as what and until when', async () => {
    const operator = {
      ...GRANT,
      id: 'grant_b',
      door: 'operator',
      scope: 'operator:read',
      agentIds: undefined,
    };
    platform.handlers.list_grants = () => ({ count: 2, grants: [GRANT, operator] });
    expect(await io.run('grants', 'list')).toBe(0);
    const [header, first, second] = io.out().split('\n');
    expect(header).toMatch(/^ID +CLIENT +MAY USE +ALLOWED +ENDS$/);
    expect(first).toMatch(/^grant_a +An editor +demo,b +2026-11-30 +2027-02-28$/);
    expect(second).toMatch(/^grant_b +An editor +operator:read +2026-11-30 +2027-02-28$/);
  });

  it('says so when there are none', async () => {
    platform.handlers.list_grants = () => ({ count: 0, grants: [] });
    expect(await io.run('grants', 'list')).toBe(0);
    expect(io.out()).toBe('');
    expect(io.err()).toBe('You have allowed no MCP client anything.\n');
  });

  it('takes one back, or passes on why not', async () => {
    platform.handlers.revoke_grant = ({ grantId }) => {
      if (grantId !== 'grant_a') throw new Refusal(404, 'not_found', 'There is no such grant.');
      return { id: grantId, revoked: true };
    };
    expect(await io.run('grants', 'revoke', 'grant_a')).toBe(0);
    expect(io.out()).toBe('Disconnected grant_a.\n');
    expect(await io.run('grants', 'revoke', 'grant_b')).toBe(1);
    expect(io.err()).toBe('patchbay: There is no such grant.\n');
  });
});
