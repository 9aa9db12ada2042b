import { createClient } from '@patchbay/contract/client';
import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { toolCallingAgent } from '../mcpcalls/calling-agent.ts';
import { signedIn } from '../people/following-visitor.ts';
import { PERSONAL_ENV } from './personal-rig.ts';
import { type ProtectedServer, startProtectedServer } from './servers/protected-server.ts';

const LINK = /(http:\/\/\S+\/connect\/pause_\w+)/;
const SECRET = 'the-secret-of-our-client';

let platform: TestPlatform;
let server: ProtectedServer;
/** Another authorization server, which is in the hands of whoever has taken the MCP server over. */
let evil: ProtectedServer;
/** The authorization server that the MCP server names. */
let named: string | undefined;
beforeAll(async () => {
  evil = await startProtectedServer();
  server = await startProtectedServer({
    tools: ['look'],
    say: () => 'seen',
    resource: own => (named === undefined ? own : { ...own, authorization_servers: [named] }),
  });
  platform = await startTestPlatform({ env: PERSONAL_ENV });
});
afterAll(async () => {
  await platform?.close();
  await Promise.all([server, evil].map(one => one?.[Symbol.asyncDispose]()));
});

async function register(name: string, oauth: object = {}): Promise<void> {
  const owner = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
  await owner.call('add_server', {
    name,
    options: {
      ...{ url: server.url, credentialName: name, gated: false },
      oauth: { clientId: `client-of-${name}`, clientSecret: SECRET, ...oauth },
    },
  });
  const file = toolCallingAgent(name, {
    mcpServerUrl: `patchbay:servers/${name}`,
    mcpCalls: [{ name: 'look', toolName: 'look' }],
  });
  await owner.call('deploy_agent_file', { file });
  await owner.call('share_agent', { agentId: name, with: 'everyone' });
}

/** Somebody new who signs in; answers what the page says in the end. */
async function somebodySignsIn(agentId: string): Promise<string> {
  const { userId, key } = await platform.addPerson(['patchbay-user']);
  const client = createClient({ baseUrl: platform.url, token: key, fetch });
  const { agentResponse } = await client.call('chat_with_agent', { agentId, message: 'look' });
  const browser = await signedIn(platform, userId);
  const page = await browser.get(LINK.exec(agentResponse ?? '')![1]!);
  return (await browser.send(page, 'name="server"')).text;
}

it('the secret of a client that people have registered goes to no other authorization server than the first, which the MCP server names later (our own)', async () => {
  named = undefined;
  await register('crm');
  expect(await somebodySignsIn('crm')).toContain('Connected');
  const shown = `Basic ${Buffer.from(`client-of-crm:${SECRET}`).toString('base64')}`;
  expect(server.tokenRequests.at(-1)?.authorization).toBe(shown);
  named = evil.issuer;
  expect(await somebodySignsIn('crm')).toContain('another authorization server than the one');
  expect(evil.tokenRequests).toEqual([]);
  named = undefined;
  expect(await somebodySignsIn('crm')).toContain('Connected');
});

it('an operator who says which authorization server it is by now is believed (our own)', async () => {
  named = undefined;
  await register('moved');
  expect(await somebodySignsIn('moved')).toContain('Connected');
  named = evil.issuer;
  const owner = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
  await owner.call('add_server', {
    ...{ name: 'moved', replace: true },
    options: {
      ...{ url: server.url, credentialName: 'moved', gated: false },
      oauth: { clientId: 'client-of-moved', clientSecret: SECRET, issuer: evil.issuer },
    },
  });
  await somebodySignsIn('moved');
  expect(evil.tokenRequests).toHaveLength(1);
});
