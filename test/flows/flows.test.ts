import { randomBytes } from 'node:crypto';
import type { TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { platforms } from '../doors/platforms.ts';
import { FLOWS } from './flows.ts';
import { commandLine, surfaces } from './surfaces.ts';

describe.each(platforms)('every flow that is promised passes at $kind', ({ start }) => {
  let platform: TestPlatform;
  beforeAll(async () => {
    platform = await start({
      env: {
        PATCHBAY_EGRESS_PRIVATE_HOSTS: '127.0.0.1',
        PATCHBAY_VAULT_KEY: randomBytes(32).toString('hex'),
      },
    });
  });
  afterAll(() => platform?.close());

  describe.each([...surfaces, commandLine])('through $surface', ({ surface, open }) => {
    it.each(FLOWS)('$flow', { timeout: 120_000 }, async ({ flow, run }) => {
      const way = await open(platform, platform.operatorKey);
      const rest = await surfaces[1]!.open(platform, platform.operatorKey);
      try {
        const door = { url: platform.operatorUrl, key: platform.operatorKey };
        await run({ call: way.call, rest: rest.call, tag: `${flow.slice(0, 12)} ${surface}`, door });
      } finally {
        await way.close();
      }
      expect(platform.logLines().filter(({ level }) => level === 'error')).toEqual([]);
    });
  });
});
