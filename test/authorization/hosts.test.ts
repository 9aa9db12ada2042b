import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Browser } from './browser.ts';
import { HOSTS, type HostRequests } from './hosts.ts';
import { clientOf, consentPage, decide, proofOf, type RegisteredClient, register, signedIn } from './rig.ts';

let platform: TestPlatform;
let person: Browser;
beforeAll(async () => {
  platform = await startTestPlatform({
    overrides: {
      async fetchClientDocument(url) {
        const host = HOSTS.find(({ describedAt }) => describedAt === url);
        return Response.json({ client_id: url, ...host?.registers });
      },
    },
  });
  person = await signedIn(platform);
});
afterAll(() => platform?.close());

const DOORS = [
  { door: 'operator', path: '/mcp', agents: [], call: { name: 'list_agents', arguments: {} } },
  {
    door: 'agent',
    path: '/demo/mcp',
    agents: ['demo'],
    call: { name: 'demo', arguments: { message: 'hello' } },
  },
] as const;

/** Who names no door gets a token for the agents. */
const rows = HOSTS.flatMap(host =>
  DOORS.filter(({ door }) => host.namesResource || door === 'agent').map(at => ({ ...host, ...at })),
);

const ask = (path: string, token: string, method: string, params = {}) =>
  fetch(platform.url + path, {
    method: 'POST',
    headers: {
      accept: 'application/json',
      'content-type': 'application/json',
      authorization: `Bearer ${token}`,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });

/** What the refusal and the documents say that it may ask for. */
async function scopeFor({ scope }: HostRequests, challenge: string): Promise<string | undefined> {
  if (scope === 'challenge') return /scope="([^"]+)"/.exec(challenge)![1];
  if (scope === 'supported') {
    const answer = await fetch(`${platform.url}/.well-known/oauth-authorization-server`);
    const { scopes_supported: scopes } = (await answer.json()) as { scopes_supported: string[] };
    return scopes.join(' ');
  }
  if (scope === 'offline') return ' offline_access';
  return scope === 'none' ? undefined : scope;
}

/** Claude breaks where it gets no secret, and others where they get one that they did not ask for. */
async function registered(description: HostRequests['registers']): Promise<RegisteredClient> {
  const answer = await register(platform.url, description);
  const client = (await answer.json()) as Record<string, unknown> & RegisteredClient;
  expect(answer.status, JSON.stringify(client)).toBe(201);
  expect(client.redirect_uris).toEqual(description.redirect_uris);
  const { token_endpoint_auth_method: method = 'none' } = description;
  expect(client.token_endpoint_auth_method).toBe(method);
  expect('client_secret' in client).toBe(method !== 'none');
  return client;
}

describe('what each host sends when it signs its user in works', () => {
  it.each(rows)('$host at the $door door (B-86)', async row => {
    const { path, agents, call, registers, namesResource } = row;
    const refused = await fetch(platform.url + path, { method: 'POST' });
    expect(refused.status).toBe(401);
    const challenge = refused.headers.get('www-authenticate')!;
    for (const looked of row.looksUp) {
      const answer = await fetch(platform.url + looked.replace('{door}', path));
      expect({ looked, status: answer.status }).toEqual({ looked, status: 200 });
      expect(answer.headers.get('content-type')).toContain('application/json');
      const { issuer, resource } = (await answer.json()) as { issuer?: string; resource?: string };
      expect(issuer ?? resource).toBe(issuer ? platform.url : platform.url + path);
    }

    const id = row.describedAt;
    const client = id ? { client_id: id, token_endpoint_auth_method: 'none' } : await registered(registers);
    const [form, headers] = proofOf(client);
    const resource = namesResource ? platform.url + path : undefined;
    const scope = await scopeFor(row, challenge);
    for (const redirect of row.comesBackTo) {
      const { authorizeUrl, redeem, refresh } = clientOf(platform.url, client.client_id, redirect);
      const asked = await consentPage(person, authorizeUrl({ resource, scope, ...row.adds }));
      expect(asked.text).toContain(registers.client_name);
      const { location } = await decide(person, asked, 'allow', agents);
      expect(location?.href.startsWith(redirect)).toBe(true);
      expect(location!.searchParams.get('iss')).toBe(platform.url);

      const token = await redeem(location!.searchParams.get('code')!, { ...form, resource }, headers);
      expect(token).toMatchObject({ status: 200, body: { token_type: 'Bearer' } });
      const listed = await ask(path, token.body.access_token!, 'tools/list');
      expect(listed.status).toBe(200);
      expect(await listed.text()).toContain(`"name":"${call.name}"`);
      expect((await ask(path, token.body.access_token!, 'tools/call', call)).status).toBe(200);

      const granted = token.body.scope as string | undefined;
      const scopeAgain = row.repeatsScope ? granted : undefined;
      const again = { ...form, resource, scope: scopeAgain };
      const renewed = await refresh(token.body.refresh_token!, again, headers);
      expect(renewed.status, JSON.stringify(renewed.body)).toBe(200);
      expect((await ask(path, renewed.body.access_token!, 'tools/list')).status).toBe(200);
    }
  });
});

describe('the first question of a host, whatever its method, is answered with where to sign in', () => {
  const rows = DOORS.flatMap(({ path }) => ['POST', 'GET', 'HEAD'].map(method => ({ path, method })));
  it.each(rows)('$method $path', async ({ path, method }) => {
    const { status, headers } = await fetch(platform.url + path, { method });
    expect(status).toBe(401);
    expect(headers.get('www-authenticate')).toContain(
      `resource_metadata="${platform.url}/.well-known/oauth-protected-resource${path}"`,
    );
  });
});
