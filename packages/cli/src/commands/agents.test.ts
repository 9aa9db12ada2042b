import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FakePlatform, startFakePlatform } from '../testing/fake-platform.ts';
import { createTestIo, type TestIo } from '../testing/test-io.ts';

let platform: FakePlatform;
let io: TestIo;

beforeAll(async () => {
  platform = await startFakePlatform();
  platform.handlers.get_agent = ({ agentId }) => ({ agentId, version: 1, name: 'Demo' });
  platform.handlers.deploy_agent_file = ({ file }) => ({
    agentId: (file as { id: string }).id,
    agentVersion: 2,
    status: (file as { id: string }).id === 'bad' ? 'ERROR' : 'READY',
    mcpEnabled: true,
    documents: [
      { resource: 'patchbay://rules/demo?version=2', changed: true },
      { resource: 'patchbay://output/demo?version=1', changed: false },
    ],
  });
  await writeFile(join(platform.home, 'agent.yaml'), 'id: demo\nrules:\n  - name: Grüße\n');
  await writeFile(join(platform.home, 'agent.json'), '{"id":"demo"}');
  await writeFile(join(platform.home, 'broken.json'), '{"id":');
  await writeFile(join(platform.home, 'broken.yaml'), 'id: [demo\n');
  await writeFile(join(platform.home, 'list.yaml'), '- demo\n');
});
afterAll(() => platform.stop());
beforeEach(() => {
  platform.calls.length = 0;
  io = createTestIo({ home: platform.home });
});

describe('agents', () => {
  it('are listed with their MCP address', async () => {
    await io.run('agents', 'list');
    expect(io.out()).toContain(`demo  1        READY   ${platform.url}/demo/mcp  Answers greetings\n`);
  });

  it('are listed without one where MCP clients cannot reach them', async () => {
    platform.handlers.list_own_agents = ({ after }) =>
      after === undefined
        ? { count: 500, agents: [{ id: 'a', mcp_enabled: false }] }
        : { count: 1, agents: [{ id: 'demo', mcp_enabled: false }] };
    await io.run('agents', 'list');
    expect(io.out()).toContain('demo  1        READY   off  Answers greetings\n');
  });

  it('are shown as JSON', async () => {
    await io.run('agents', 'show', 'demo');
    expect(JSON.parse(io.out())).toEqual({ agentId: 'demo', version: 1, name: 'Demo' });
  });
});

describe('agents deploy', () => {
  it('sends a YAML file as the same object as JSON, and says what was saved', async () => {
    expect(await io.run('agents', 'deploy', 'agent.yaml')).toBe(0);
    expect(platform.calls[0]!.args).toEqual({ file: { id: 'demo', rules: [{ name: 'Grüße' }] } });
    expect(io.out()).toContain('demo version 2: READY\n  saved patchbay://rules/demo?version=2\n');
    expect(io.out()).not.toContain('patchbay://output/');
  });

  it('takes JSON, from a file or standard input', async () => {
    await io.run('agents', 'deploy', 'agent.json');
    io.stdin.end('{"id":"demo"}');
    await io.run('agents', 'deploy', '-');
    expect(platform.calls.map(call => call.args)).toEqual([
      { file: { id: 'demo' } },
      { file: { id: 'demo' } },
    ]);
  });

  it('exits 1 for an agent that could not be deployed, and still prints the result', async () => {
    io.stdin.end('id: bad');
    expect(await io.run('agents', 'deploy', '-', '--json')).toBe(1);
    expect(JSON.parse(io.out())).toMatchObject({ agentId: 'bad', status: 'ERROR' });
    expect(io.err()).toContain('bad was saved but could not be deployed');
  });

  it.each([
    ['missing.yaml', 'does not exist'],
    ['broken.json', 'cannot be parsed'],
    ['broken.yaml', 'cannot be parsed'],
    ['list.yaml', 'must hold one object'],
  ])('says in one sentence what is wrong with %s', async (file, sentence) => {
    expect(await io.run('agents', 'deploy', file)).toBe(1);
    expect(io.err()).toContain(`patchbay: ${file} `);
    expect(io.err()).toContain(sentence);
    expect(io.err().trimEnd().split('\n')).toHaveLength(1);
    expect(platform.calls).toEqual([]);
  });
});

describe('agents share', () => {
  const shares = (agentId: unknown, ...all: string[]) => ({
    agentId,
    count: all.length,
    shares: all.map(grantee => ({
      with: grantee,
      createdOn: 0,
      ...(grantee.startsWith('user') && { name: 'Ann' }),
    })),
  });

  it('shows with whom an agent is shared', async () => {
    platform.handlers.list_agent_shares = ({ agentId }) => shares(agentId, 'everyone', 'user:user_ann');
    expect(await io.run('agents', 'share', 'demo')).toBe(0);
    expect(io.out()).toMatch(/everyone +1970-01-01\nuser:user_ann {2}Ann +1970-01-01/);
  });

  it('shares with a role, a person or everyone, and ends it', async () => {
    platform.handlers.share_agent = args => shares(args.agentId, args.with as string);
    platform.handlers.unshare_agent = ({ agentId }) => shares(agentId);
    for (const who of ['patchbay-user', 'user:user_ann', 'everyone'])
      await io.run('agents', 'share', 'demo', '--with', who);
    await io.run('agents', 'unshare', 'demo', '--with', 'eddi-user');
    expect(platform.calls.map(({ name, args }) => [name, args.with])).toEqual([
      ['share_agent', 'role:patchbay-user'],
      ['share_agent', 'user:user_ann'],
      ['share_agent', 'everyone'],
      ['unshare_agent', 'role:eddi-user'],
    ]);
    expect(io.err()).toContain('demo is shared with nobody.');
  });
});
