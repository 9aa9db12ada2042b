import type { TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { platforms } from './platforms.ts';
import { callTool, statusWithHost } from './wire.ts';

let platform: TestPlatform;

async function rest(
  method: string,
  path: string,
  options: { key?: string | null; body?: unknown; raw?: string } = {},
) {
  const key = options.key === undefined ? platform.operatorKey : options.key;
  const response = await fetch(platform.url + path, {
    method,
    headers: { ...(key && { authorization: `Bearer ${key}` }), 'content-type': 'application/json' },
    ...((options.body !== undefined || options.raw !== undefined) && {
      body: options.raw ?? JSON.stringify(options.body),
    }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json');
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
}

describe.each(platforms)('REST of $kind', ({ start, lacks }) => {
  beforeAll(async () => {
    platform = await start();
  });
  afterAll(() => platform?.close());

  describe('operations on REST', () => {
    it('run a whole conversation: discover, start, talk, read, list', async () => {
      const found = await rest('GET', '/api/v1/discovery?filter=DEMO');
      expect(found.body).toMatchObject({
        count: 1,
        agents: [{ agentId: 'demo', environment: 'production' }],
      });
      const started = await rest('POST', '/api/v1/conversations', { body: { agentId: 'demo' } });
      expect(started.status).toBe(201);
      const { conversationId } = started.body;
      const reply = await rest('POST', `/api/v1/conversations/${conversationId}/messages`, {
        body: { agentId: 'demo', message: 'hello' },
      });
      expect(reply.body).toMatchObject({
        conversationId,
        conversationState: 'READY',
        agentResponse: expect.any(String),
      });
      const read = await rest('GET', `/api/v1/conversations/${conversationId}?currentStepOnly=false`);
      expect(read.body.conversationSteps).toHaveLength(2);
      const log = await rest('GET', `/api/v1/conversations/${conversationId}/log?logSize=1`);
      expect(log.body.log).toContain('hello');
      const list = await rest('GET', '/api/v1/conversations?agentId=demo&limit=1');
      expect(list.body).toMatchObject({ count: 1, conversations: [{ conversationId }] });
    });

    it('admit the same roles as the tools (E-64)', async () => {
      for (const [role, operation, path] of [
        ['patchbay-viewer', 'list_agents', '/api/v1/deployments'],
        ['patchbay-approver', 'discover_agents', '/api/v1/discovery'],
      ] as const) {
        const person = await platform.addPerson([role]);
        const answer = await rest('GET', path, { key: person.key });
        expect(answer.status).toBe(403);
        const tool = await callTool(platform.operatorUrl, operation, {}, { key: person.key });
        expect(answer.body.error.message).toBe(JSON.parse(tool.body.result.content[0].text).error);
      }
    });

    it('answer errors in one envelope with the status', async () => {
      expect(await rest('GET', '/api/v1/conversations/conv_none')).toMatchObject({
        status: 404,
        body: {
          success: false,
          error: { type: 'not_found_error', code: 'not_found', message: 'Conversation not found.' },
        },
      });
      expect(await rest('POST', '/api/v1/chat', { body: { agentId: 'nobody', message: 'x' } })).toMatchObject(
        {
          status: 404,
          body: { error: { code: 'agent_not_found' } },
        },
      );
      expect(await rest('POST', '/api/v1/chat', { body: { agentId: 'demo' } })).toMatchObject({
        status: 400,
        body: { error: { code: 'invalid_param', message: 'Missing required argument: message' } },
      });
      expect(await rest('POST', '/api/v1/chat', { raw: '{"a":' })).toMatchObject({
        status: 400,
        body: { error: { code: 'invalid_param' } },
      });
      expect(await rest('POST', '/api/v1/chat', { body: [1] })).toMatchObject({ status: 400 });
      expect(await rest('GET', '/api/v1/discovery?filter=%00')).toMatchObject({ status: 400 });
      expect(await rest('GET', '/api/v1/agent-configs/%00')).toMatchObject({ status: 400 });
      expect(await rest('GET', '/api/v1/discovery?filter=a&filter=b')).toMatchObject({ status: 400 });
      expect(await rest('POST', '/api/v1/agents/demo/keys', { body: { agentId: 'other' } })).toMatchObject({
        status: 400,
        body: { error: { message: expect.stringContaining('agentId') } },
      });
      expect(await rest('GET', '/api/v1/no-such-route')).toMatchObject({
        status: 404,
        body: { error: { code: 'not_found' } },
      });
      expect(await rest('GET', '/nothing/here')).toMatchObject({
        status: 404,
        body: { error: { code: 'not_found' } },
      });
    });

    it.each([
      ['none', null],
      ['an agent key', 'agentKey'],
      ['a key nobody minted', `oag_${'1'.repeat(64)}`],
    ])('refuse %s as credential with 401', async (_name, key) => {
      const answer = await rest('GET', '/api/v1/discovery', {
        key: key === 'agentKey' ? platform.agentKey : key,
      });
      expect(answer.status).toBe(401);
      expect(answer.body.error.code).toBe('unauthorized');
    });

    it('refuse a user key that only opens agents', async () => {
      const { token } = await platform.platform.keys.createUserKey(platform.platform.owner.id, {
        name: 'a',
        scopes: ['agents'],
      });
      expect((await rest('GET', '/api/v1/api-keys', { key: token })).status).toBe(401);
    });
  });

  describe('keys', () => {
    /** As the command line of the machine the platform runs on. */
    const make = (path: string, body: unknown) => rest('POST', path, { key: platform.ownerToken, body });
    const made = (userId: string) =>
      platform.platform.keys.createUserKey(userId, { name: 'made before', scopes: ['agents'] });

    it.skipIf(lacks('the token of the local owner'))(
      'are shown once, and listed by their first characters',
      async () => {
        const { status, body } = await make('/api/v1/api-keys', { name: 'laptop' });
        expect(status).toBe(201);
        expect(body).toMatchObject({ kind: 'user', scopes: ['agents'], name: 'laptop' });
        const list = await rest('GET', '/api/v1/api-keys');
        const listed = list.body.keys.find((key: { id: string }) => key.id === body.id);
        expect(listed.prefix).toBe(body.key.slice(0, 12));
        expect(JSON.stringify(list.body)).not.toContain(body.key.slice(12));
      },
    );

    it('are listed and revoked with an operator key', async () => {
      const { record } = await made(platform.platform.owner.id);
      const listed = async () =>
        (await rest('GET', '/api/v1/api-keys')).body.keys.some((key: { id: string }) => key.id === record.id);
      expect(await listed()).toBe(true);
      expect((await rest('DELETE', `/api/v1/api-keys/${record.id}`)).body).toEqual({
        id: record.id,
        revoked: true,
      });
      expect(await listed()).toBe(false);
    });

    it('are not made with a key, whatever it opens, so a stolen one ends for good', async () => {
      const admin = await platform.addPerson(['patchbay-admin']);
      for (const key of [platform.operatorKey, admin.key]) {
        for (const [operation, path] of [
          ['create_key', '/api/v1/api-keys'],
          ['create_agent_key', '/api/v1/agents/demo/keys'],
        ] as const) {
          const { status, body } = await rest('POST', path, { key, body: {} });
          expect(status).toBe(403);
          expect(body.error.code).toBe('forbidden');
          expect(body.error.message).toBe(
            `${operation}: a key cannot make keys. Run \`npx patchbay keys create\` on the machine the platform runs on, as the user who runs it, without --url and --key.`,
          );
        }
      }
    });

    it.skipIf(lacks('the token of the local owner'))(
      'live 90 days at the most with the operator scope',
      async () => {
        const { body } = await make('/api/v1/api-keys', { scopes: ['operator'] });
        expect((body.expiresOn - body.createdOn) / 86_400_000).toBe(90);
        const longer = await make('/api/v1/api-keys', { scopes: ['operator'], expiresInDays: 91 });
        expect(longer.status).toBe(400);
      },
    );

    it.skipIf(lacks('the token of the local owner'))('of one agent are three at the most', async () => {
      const statuses = [];
      for (let count = 0; count < 3; count += 1)
        statuses.push((await make('/api/v1/agents/demo/keys', {})).status);
      // The platform of this test has made one already.
      expect(statuses).toEqual([201, 201, 409]);
    });

    it('of somebody else cannot be revoked', async () => {
      const person = await platform.addPerson(['patchbay-user']);
      const { record } = await made(platform.platform.owner.id);
      const answer = await rest('DELETE', `/api/v1/api-keys/${record.id}`, { key: person.key });
      expect(answer.status).toBe(404);
    });
  });

  describe('the seed names of the documentation routes (E-69)', () => {
    it('are an array of names, and plain markdown', async () => {
      const list = await rest('GET', '/administration/docs');
      expect(list.body).toContain('getting-started');
      const page = await rest('GET', '/administration/docs/getting-started');
      expect(page.headers.get('content-type')).toMatch(/^text\/plain/);
      expect(page.body).toMatch(/^# Getting started/);
      expect((await rest('GET', '/administration/docs/nothing')).status).toBe(404);
      expect((await rest('GET', '/administration/docs', { key: null })).status).toBe(401);
    });
  });

  describe('probes and metrics', () => {
    it('answer without a credential, whatever the Host (B-07)', async () => {
      for (const [path, status] of [
        ['/healthz', 'ok'],
        ['/readyz', 'ready'],
      ] as const) {
        expect((await rest('GET', path, { key: null })).body).toMatchObject({ status });
        expect(await statusWithHost(platform.url + path, '10.1.2.3:8080')).toBe(200);
      }
    });

    it.skipIf(lacks('counters of the whole platform'))('count what happened, for an admin only', async () => {
      expect((await rest('GET', '/metrics', { key: null })).status).toBe(401);
      const editor = await platform.addPerson(['patchbay-editor']);
      expect((await rest('GET', '/metrics', { key: editor.key })).status).toBe(403);
      await callTool(platform.agentUrl('demo'), 'demo', { message: 'hello' }, { key: platform.agentKey });
      const { body } = await rest('GET', '/metrics');
      expect(body).toMatch(/patchbay_http_requests_total\{door="agent",status="200"\} [1-9]/);
      expect(body).toMatch(/patchbay_turns_total\{outcome="done"\} [1-9]/);
      expect(body).toMatch(
        /patchbay_authentication_refused_total\{door="rest",reason="no-credential"\} [1-9]/,
      );
    });
  });
});
