import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CLIENT_ATTACKS } from './access/clients.ts';
import { CODE_ATTACKS } from './access/codes.ts';
import { DOOR_ATTACKS } from './access/doors.ts';
import { KEY_ATTACKS } from './access/keys.ts';
import { PAGE_ATTACKS } from './access/pages.ts';
import { TOKEN_ATTACKS } from './access/tokens.ts';
import { type Attack, startWorld, type World } from './access/world.ts';

const THEMES: Readonly<Record<string, readonly Attack[]>> = {
  'with a token': TOKEN_ATTACKS,
  'with a key': KEY_ATTACKS,
  'at a door': DOOR_ATTACKS,
  'with a code': CODE_ATTACKS,
  'as a client': CLIENT_ATTACKS,
  'at a page': PAGE_ATTACKS,
};

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world?.close());

describe.each(Object.keys(THEMES))('an attack %s', theme => {
  it.each(THEMES[theme]!)('comes to nothing, and is in the audit trail: $name', async ({ refused, plan }) => {
    const attempt = await plan(world);
    const { trail, belongings } = world;
    const [place, before] = [await trail.end(), await belongings()];
    await attempt();
    await expect.poll(() => trail.refusedSince(place)).toContain(refused);
    expect([...(await belongings())].filter(one => !before.has(one))).toEqual([]);
  });
});

describe('the attacks on access', () => {
  it('are eighty at least, each another one, each refused for a reason that has a name', () => {
    const attacks = Object.entries(THEMES).flatMap(([theme, those]) =>
      those.map(each => ({ ...each, called: `${theme} ${each.name}` })),
    );
    expect(new Set(attacks.map(({ called }) => called)).size).toBe(attacks.length);
    expect(attacks.length).toBeGreaterThanOrEqual(80);
    for (const { name, refused } of attacks) {
      expect(name).toMatch(/\((?:attack \d+|our own)\)$/);
      expect(refused).toMatch(/^\w+: [a-z-]+$/);
    }
  });
});
