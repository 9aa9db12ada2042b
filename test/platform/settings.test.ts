import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { afterEach, describe, expect, it } from 'vitest';
import { callTool, rpc, toolError } from '../doors/wire.ts';

let platform: TestPlatform;
afterEach(() => platform?.close());

const start = async (env: Record<string, string>) => {
  platform = await startTestPlatform({ env });
  return platform;
};

describe('authentication switched off', () => {
  it('lets everybody on this machine use every tool, as an admin (E-05, E-49)', async () => {
    const { operatorUrl } = await start({ PATCHBAY_AUTH: 'off' });
    const { body } = await rpc(operatorUrl, 'tools/list', {});
    expect(body.result.tools.map((tool: { name: string }) => tool.name)).toContain('list_agents');
    const answer = await callTool(operatorUrl, 'list_agents', {});
    expect(answer.body.result.structuredContent.agents).toMatchObject([{ agentId: 'demo' }]);
  });

  it('never opens the agent door or REST, and a wrong credential stays wrong (B-24)', async () => {
    const { agentUrl, operatorUrl, url } = await start({ PATCHBAY_AUTH: 'off' });
    expect((await rpc(agentUrl('demo'), 'tools/list', {})).status).toBe(401);
    expect((await fetch(`${url}/api/v1/discovery`)).status).toBe(401);
    expect((await rpc(operatorUrl, 'tools/list', {}, { key: `oag_${'0'.repeat(64)}` })).status).toBe(401);
  });
});

describe('the path of the operator door', () => {
  it('is configurable, and the other one is then nothing (E-02)', async () => {
    const { url, operatorUrl, operatorKey } = await start({ PATCHBAY_OPERATOR_DOOR_PATH: '/admin/tools' });
    expect(operatorUrl).toBe(`${url}/admin/tools`);
    expect((await rpc(operatorUrl, 'tools/list', {}, { key: operatorKey })).status).toBe(200);
    expect((await rpc(`${url}/mcp`, 'tools/list', {}, { key: operatorKey })).status).toBe(404);
  });

  it('changes by no other key, which is only warned about (E-02)', async () => {
    const { url, operatorKey, logLines } = await start({ PATCHBAY_OPERATOR_DOOR_PAHT: '/admin/tools' });
    expect((await rpc(`${url}/mcp`, 'tools/list', {}, { key: operatorKey })).status).toBe(200);
    expect(logLines()).toContainEqual(
      expect.objectContaining({
        level: 'warn',
        message: expect.stringMatching(/Unrecognized configuration key PATCHBAY_OPERATOR_DOOR_PAHT/),
      }),
    );
  });
});

describe('the documentation', () => {
  it('comes from the folder that is set (E-66)', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'patchbay-pages-'));
    try {
      await writeFile(join(folder, 'house.md'), '# Our house');
      const { operatorUrl, operatorKey } = await start({ PATCHBAY_DOCS_PATH: folder });
      const list = await callTool(operatorUrl, 'list_docs', {}, { key: operatorKey });
      expect(list.body.result.structuredContent).toMatchObject({ count: 1, docs: ['house'] });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it.each([
    ['switched off', { PATCHBAY_DOCS_ENABLED: 'false' }],
    ['in a folder that is missing', { PATCHBAY_DOCS_PATH: '/no/such/place' }],
  ])(
    '%s is away for tools, resources and REST together, and nobody learns where it would be (E-68, E-70)',
    async (_name, env) => {
      const { url, operatorUrl, operatorKey: key } = await start(env as Record<string, string>);
      const list = await callTool(operatorUrl, 'list_docs', {}, { key });
      expect(list.body.result.content[0].text).toBe('No documentation pages are available.');
      const page = await callTool(operatorUrl, 'read_docs', { name: 'keys' }, { key });
      expect(toolError(page)?.errorCode).toBe('NOT_FOUND');
      expect((await rpc(operatorUrl, 'resources/list', {}, { key })).body.result.resources).toEqual([]);
      expect(
        (await rpc(operatorUrl, 'resources/read', { uri: 'patchbay://docs/keys' }, { key })).body.error.code,
      ).toBe(-32602);
      const headers = { authorization: `Bearer ${key}` };
      const seedRoute = await fetch(`${url}/administration/docs`, { headers });
      expect(await seedRoute.json()).toEqual([]);
      expect((await fetch(`${url}/administration/docs/keys`, { headers })).status).toBe(404);
      expect(JSON.stringify([list.body, page.body])).not.toContain('/no/such');
    },
  );
});
