import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callTool } from '../doors/wire.ts';
import { hostileRequests, judge, send } from './hostile.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform();
});
afterAll(() => platform?.close());

/** 600 of each here; `npm run soak -- hostile` sends 10 000 of each. */
describe.each([
  ['operator door', () => platform.operatorUrl, () => platform.operatorKey],
  ['agent door', () => platform.agentUrl('demo'), () => platform.agentKey],
])('hostile requests at the %s', (_door, url, key) => {
  it('are all answered, none with a server error, none with words from inside', {
    timeout: 120_000,
  }, async () => {
    const door = new URL(url());
    const complaints: string[] = [];
    let refused = 0;
    for (const request of hostileRequests(door, key(), { count: 600, seed: 1 })) {
      const answer = await send(door, request);
      complaints.push(...judge(request, answer));
      if (answer.status >= 400) refused += 1;
    }
    expect(complaints).toEqual([]);
    expect(refused).toBeGreaterThan(200);
    const after = await callTool(
      platform.agentUrl('demo'),
      'demo',
      { message: 'hello' },
      { key: platform.agentKey },
    );
    expect(after.status).toBe(200);
  });
});

describe('the judge of hostile answers', () => {
  const request = { kind: 'x', bytes: Buffer.from('said /work/ itself') };
  it.each([
    [500, 'oops', ['x: status 500']],
    [0, '', ['x: no answer']],
    [400, 'Error: no\n    at async run (/srv/a.ts:12:3)', ['x: the answer says "at async "']],
    [400, 'you said /work/', []],
    [200, 'fine', []],
  ])('on %i and %j', (status, text, complaints) => {
    expect(judge(request, { status, text })).toEqual(complaints);
  });
});
