// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${vault:key} are the product's own syntax
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient } from '@patchbay/contract/client';
import { startTestPlatform, type TestPlatform, type TestPlatformOptions } from '@patchbay/testing/platform';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { explainHealth } from '../../packages/server/src/connections/server/health.ts';
import { createJumpingClock } from '../jumping-clock.ts';
import { toolCallingAgent } from '../mcpcalls/calling-agent.ts';
import { type Rig, rigOn } from './live-rig.ts';
import { processesWith } from './programs.ts';
import { startFaultServer } from './servers/fault-server.ts';

const WITNESS = fileURLToPath(new URL('servers/witness-program.ts', import.meta.url));

let folder: string;
let mark: string;
let platform: TestPlatform;
let rig: Rig;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'patchbay-isolated-'));
  mark = randomUUID();
});
afterEach(async () => {
  await platform?.close();
  const left = await running();
  for (const line of left) process.kill(Number.parseInt(line, 10), 'SIGKILL');
  await rm(folder, { recursive: true, force: true });
  expect(left).toEqual([]);
});

async function start(options: TestPlatformOptions = {}): Promise<void> {
  platform = await startTestPlatform({
    ...options,
    env: {
      PATCHBAY_EGRESS_PRIVATE_HOSTS: '127.0.0.1',
      PATCHBAY_VAULT_KEY: randomBytes(32).toString('hex'),
      ...options.env,
    },
  });
  rig = rigOn(platform);
}

const running = () => processesWith(`MARK=${mark}`);
const witness = (isolation: 'shared' | 'person' | 'conversation', kind?: string, env = {}) => ({
  command: process.execPath,
  args: [WITNESS, ...(kind === undefined ? [] : [kind])],
  env: { MARK: mark, ...env },
  isolation,
});

/** Talks to an agent that passes things on to the server, as different people. */
async function hall(server: string) {
  const calls = {
    keep: { toolName: 'keep', toolArguments: { text: '{{ input }}' } },
    recall: { toolName: 'recall' },
    pid: { toolName: 'pid' },
  };
  const mcpCalls = Object.entries(calls).map(([name, call]) => ({ name, ...call }));
  await rig.client.call('deploy_agent_file', {
    file: toolCallingAgent('hall', { mcpServerUrl: `patchbay:servers/${server}`, mcpCalls }),
  });
  return async () => {
    const { key } = await platform.addPerson(['patchbay-admin']);
    const client = createClient({ baseUrl: platform.url, token: key, fetch });
    return async () => {
      const { conversationId } = await client.call('create_conversation', { agentId: 'hall' });
      return async (message: string) => {
        const turn = { agentId: 'hall', conversationId: conversationId!, message };
        const { agentResponse } = await client.call('talk_to_agent', turn);
        return (JSON.parse(agentResponse!) as { answer: unknown }).answer;
      };
    };
  };
}

describe('A program that is registered', () => {
  it('is one for everybody when it is shared', async () => {
    await start();
    await rig.add('witness', witness('shared'));
    const newPerson = await hall('witness');
    const [ann, bob] = [await (await newPerson())(), await (await newPerson())()];
    await ann('keep ann');
    await bob('keep bob');
    expect(await ann('recall')).toEqual(['keep ann', 'keep bob']);
    expect(await running()).toHaveLength(1);
  });

  it('is one for each person where that is asked for, and none knows what another was told', async () => {
    await start();
    await rig.add('witness', witness('person'));
    const newPerson = await hall('witness');
    const [ann, bob] = [await newPerson(), await newPerson()];
    const [annFirst, annSecond, bobFirst] = [await ann(), await ann(), await bob()];
    await annFirst('keep ann');
    await bobFirst('keep bob');
    expect(await annSecond('recall')).toEqual(['keep ann']);
    expect(await bobFirst('recall')).toEqual(['keep bob']);
    expect(await annFirst('pid')).toBe(await annSecond('pid'));
    expect(await annFirst('pid')).not.toBe(await bobFirst('pid'));
    // One that nobody's is shows that the program starts, and what its tools are.
    expect(rig.health('witness')).toMatchObject({ state: 'available', toolCount: 3 });
    expect(await running()).toHaveLength(3);
  });

  it('is one for each conversation where that is asked for', async () => {
    await start();
    await rig.add('witness', witness('conversation'));
    const newPerson = await hall('witness');
    const ann = await newPerson();
    const [first, second] = [await ann(), await ann()];
    await first('keep this');
    expect(await second('recall')).toEqual([]);
    expect(await first('recall')).toEqual(['keep this']);
  });

  it('of a person ends after five minutes without a call, and is started again for the next one without notice (W-87) (W-88)', async () => {
    const clock = createJumpingClock();
    await start({ overrides: { clock } });
    await rig.add('witness', witness('person'));
    await rig.settle('witness');
    const pidOf = async (by: string) => {
      const answer = await rig.call('witness', 'pid', {}, by);
      return answer.kind === 'answered' ? answer.text : JSON.stringify(answer);
    };
    const first = await pidOf('ann');
    clock.jump(240_000);
    expect(await pidOf('ann')).toBe(first);
    clock.jump(240_000);
    // The one that nobody called is gone, the other is in use.
    await expect.poll(running).toHaveLength(1);
    expect(await pidOf('ann')).toBe(first);
    clock.jump(360_000);
    await expect.poll(running).toEqual([]);
    expect(rig.health('witness')).toMatchObject({ state: 'available', toolCount: 3 });
    const second = await pidOf('ann');
    expect(second).toMatch(/^\d+$/);
    expect(second).not.toBe(first);
  });

  it('of a person is tried until it starts, whether or not somebody needs it (W-12)', async () => {
    await start();
    const needed = join(folder, 'needed');
    await rig.add('witness', witness('person', undefined, { NEEDS: needed }));
    await rig.becomes('witness', 'unavailable');
    expect(await rig.gauge('witness')).toBe(0);
    await writeFile(needed, '');
    await rig.becomes('witness', 'available');
    expect(await rig.gauge('witness')).toBe(3);
  });

  it('ends for everybody when its server is removed, and is another when its secret is', async () => {
    await start();
    await rig.client.call('put_secret', { name: 'program-key', value: 'first-value' });
    await rig.add('witness', witness('person', undefined, { KEY: '${vault:program-key}' }));
    await rig.settle('witness');
    await rig.call('witness', 'keep', { text: 'mine' }, 'ann');
    await rig.call('witness', 'keep', { text: 'his' }, 'bob');
    const before = await running();
    expect(before).toHaveLength(3);
    await rig.client.call('put_secret', { name: 'program-key', value: 'second-value' });
    await expect.poll(async () => (await running()).filter(line => before.includes(line))).toEqual([]);
    expect(await rig.call('witness', 'recall', {}, 'ann')).toMatchObject({ text: '[]' });
    expect(await processesWith('KEY=first-value')).toEqual([]);
    await rig.remove('witness');
    await expect.poll(running).toEqual([]);
  });

  it('is not started beyond the limit, which the refusal names', async () => {
    await start({ env: { PATCHBAY_CONNECTIONS_MAX_PROGRAMS: '2' } });
    await rig.add('witness', witness('person'));
    await rig.settle('witness');
    expect(await rig.call('witness', 'pid', {}, 'ann')).toMatchObject({ kind: 'answered' });
    expect(await rig.call('witness', 'pid', {}, 'bob')).toEqual({
      kind: 'failed',
      failure: 'SERVER_UNAVAILABLE',
      reached: 'no',
      message: expect.stringContaining('as many programs run as connections.maxPrograms allows, 2'),
    });
    await rig.add('one-more', witness('shared'));
    await rig.becomes('one-more', 'unavailable');
    expect(rig.health('one-more').problem?.message).toContain('connections.maxPrograms allows, 2');
    await rig.remove('witness');
    await rig.becomes('one-more', 'available');
  });

  it('that dies is down, with its last words (A-187)', async () => {
    await start();
    await rig.add('dying', witness('shared', 'dying'));
    await rig.becomes('dying', 'unavailable');
    expect(rig.health('dying').stderr).toEqual(['Error: the database is locked', '    at open (db.js:1:1)']);
    const { definition } = platform.platform.registry.find(rig.refOf('dying'))!;
    const { summary, remedy } = explainHealth(platform.platform.servers, definition);
    expect(summary).toMatch(/^default\/dying is down after (one try|\d+ tries): .*the database is locked/);
    expect(remedy).toContain('standard error');
  });

  it('is started a few at a time when a hundred are due, and those that hang hold up nobody else', async () => {
    await using server = await startFaultServer('legacy');
    await start();
    const starts = join(folder, 'starts');
    for (let n = 0; n < 97; n++)
      await rig.add(`deaf-${n}`, witness('shared', 'deaf', { STARTS: starts, NUMBER: `${n}` }));
    await rig.add('hearing', witness('shared'));
    await rig.add('remote', { url: server.url });
    await rig.becomes('remote', 'available');
    expect(await rig.call('hearing', 'pid')).toMatchObject({ kind: 'answered' });
    const started = async () => (await readFile(starts, 'utf8')).split('\n').filter(Boolean);
    await expect.poll(async () => (await started()).length).toBe(8);
    expect(rig.health('deaf-96').state).toBe('unknown');
    expect(await running()).toHaveLength(9);
  });

  it('ends with the platform, as do all connections, whatever hangs (E-106)', async () => {
    await using hung = await startFaultServer('legacy');
    await using good = await startFaultServer('legacy');
    await using connecting = await startFaultServer('legacy');
    await start();
    connecting.instead = () => true;
    await rig.add('connecting', { url: connecting.url });
    await rig.add('hung', { url: hung.url });
    await rig.add('good', { url: good.url });
    await rig.add('stubborn', witness('shared', 'stubborn'));
    await rig.add('deaf', witness('shared', 'deaf'));
    await rig.add('own', witness('person'));
    for (const name of ['hung', 'good', 'stubborn', 'own']) await rig.becomes(name, 'available');
    await rig.call('own', 'pid', {}, 'ann');
    await expect.poll(running).toHaveLength(4);
    await expect.poll(() => [hung.listeners, good.listeners]).toEqual([1, 1]);
    const call = rig.call('hung', 'call', { fault: 'silent', mark: 'hanging' });
    await hung.receives(({ method }) => method === 'tools/call');
    // From here on it does not even hear that it is over.
    hung.instead = () => true;
    await platform.close();
    expect(await call).toMatchObject({ kind: 'failed', reached: 'unknown' });
    expect(await running()).toEqual([]);
    await expect.poll(() => [hung.listeners, good.listeners]).toEqual([0, 0]);
    expect(good.received.filter(({ verb }) => verb === 'DELETE')).toHaveLength(1);
  });
});
