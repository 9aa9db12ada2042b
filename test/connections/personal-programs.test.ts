import { createHash, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createJumpingClock } from '../jumping-clock.ts';
import { type Rig, rigOn } from './live-rig.ts';
import { newToken, PERSONAL_ENV, personAt } from './personal-rig.ts';
import { processesWith } from './programs.ts';

const PROGRAM = fileURLToPath(new URL('servers/personal-program.ts', import.meta.url));
const MINUTE = 60_000;

let clock: ReturnType<typeof createJumpingClock>;
let platform: TestPlatform;
let rig: Rig;
let mark: string;
beforeEach(async () => {
  mark = randomUUID();
  clock = createJumpingClock();
  platform = await startTestPlatform({ env: PERSONAL_ENV, overrides: { clock } });
  rig = rigOn(platform);
  await rig.add('notes', {
    command: process.execPath,
    args: [PROGRAM],
    env: { MARK: mark },
    credentialName: 'notes',
    credential_env: 'TOKEN',
  });
});
afterEach(async () => {
  await platform?.close();
  expect(await running()).toEqual([]);
});

const running = () => processesWith(`MARK=${mark}`);
const digest = (token: string) => createHash('sha256').update(token).digest('hex');

describe('A program that each person has for themselves', () => {
  it('gets the credential of its person in its variable, and among no arguments (W-73) (attack 49)', async () => {
    const [ann, bob] = [await personAt(platform), await personAt(platform)];
    const [hers, his] = [newToken(), newToken()];
    await ann.give('notes', hers);
    await bob.give('notes', his);
    expect(await running()).toEqual([]);
    const whoami = async (person: typeof ann) => {
      const { text } = (await person.call('notes')) as { text: string };
      return JSON.parse(text) as { pid: number; digest: string };
    };
    const [annIs, bobIs] = [await whoami(ann), await whoami(bob)];
    expect([annIs.digest, bobIs.digest]).toEqual([digest(hers), digest(his)]);
    expect(annIs.pid).not.toBe(bobIs.pid);
    expect((await whoami(ann)).pid).toBe(annIs.pid);
    for (const { pid } of [annIs, bobIs]) {
      expect(await readFile(`/proc/${pid}/cmdline`, 'utf8')).not.toContain('token-');
      const environment = await readFile(`/proc/${pid}/environ`, 'utf8');
      expect(environment).toContain(`TOKEN=${pid === annIs.pid ? hers : his}`);
      expect(environment).not.toContain(pid === annIs.pid ? his : hers);
    }
    expect(await ann.call('notes', 'arguments')).toMatchObject({
      text: expect.not.stringContaining('token-'),
    });
    const repeated = (await ann.call('notes', 'repeat')) as { text: string };
    expect(repeated.text).toMatch(/^it is /);
    expect(repeated.text).not.toContain(hers);
  });

  it('has no line in the log with the credential, however little it looks like one (attack 46)', async () => {
    await rig.add('plain', {
      command: process.execPath,
      args: [PROGRAM],
      env: { MARK: mark },
      credentialName: 'plain',
      credentialEnv: 'NOTES',
    });
    const ann = await personAt(platform);
    await ann.give('plain', 'swordfish');
    expect(await ann.call('plain', 'shout')).toMatchObject({ text: 'done' });
    const said = () => platform.logLines().filter(line => JSON.stringify(line).includes('somebody gave me'));
    await expect.poll(said).toHaveLength(1);
    expect(JSON.stringify(platform.logLines())).not.toContain('swordfish');
  });

  it('is started anew with a credential that changed, and ends after five minutes without a call, which nobody notices (W-77) (W-87) (W-88)', async () => {
    const ann = await personAt(platform);
    await ann.give('notes', newToken());
    await ann.call('notes');
    const before = await running();
    expect(before).toHaveLength(1);
    const fresh = newToken();
    await ann.give('notes', fresh);
    await expect.poll(running).toEqual([]);
    expect(await ann.call('notes')).toMatchObject({ text: expect.stringContaining(digest(fresh)) });
    for (let minute = 0; minute < 4; minute++) clock.jump(MINUTE);
    expect(await running()).toHaveLength(1);
    await expect
      .poll(async () => {
        clock.jump(MINUTE);
        return running();
      })
      .toEqual([]);
    expect(await ann.call('notes')).toMatchObject({ text: expect.stringContaining(digest(fresh)) });
  });
});
