// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${vault:key} are the product's own syntax
import { type Client, createClient } from '@patchbay/contract/client';
import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callingAgent } from './calling-agent.ts';
import { type FaultServer, startFaultServer } from './fault-server.ts';

// What a server on the other side may do, and what the person and the agent hear of it.

let server: FaultServer;
let platform: TestPlatform;
let client: Client;

const CREDENTIAL = 'k3y-that-nobody-may-see';

beforeAll(async () => {
  server = await startFaultServer();
  platform = await startTestPlatform({ env: { PATCHBAY_EGRESS_PRIVATE_HOSTS: '127.0.0.1' } });
  client = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
  await client.call('put_secret', { name: 'api', value: CREDENTIAL });
  const plain = [
    ...[
      'ok',
      'endless',
      'huge',
      'bomb',
      'wrong',
      'binary',
      'loop',
      'home',
      'inside',
      'file',
      'half',
      'reset',
    ],
    ...['garbage', 'chunks', 'headers', 'deep', 'down', 'busy'],
  ].map(name => ({ name }));
  await deploy('faults', server.url, [
    ...plain,
    { name: 'silent', timeoutInMillis: 300 },
    { name: 'drip', timeoutInMillis: 300 },
    { name: 'secretly', request: { path: '/home', headers: { Authorization: 'Bearer ${vault:api}' } } },
    {
      name: 'echo',
      responseHeaderObjectName: 'headers',
      request: {
        method: 'POST',
        queryParams: { key: '${vault:api}' },
        headers: { Authorization: 'Bearer ${vault:api}', 'X-Basic': '${vault:api}' },
        body: '{"key": "${vault:api}", "said": "{{ input }}"}',
      },
    },
    {
      name: 'strict',
      continueOnError: false,
      timeoutInMillis: 300,
      request: { path: '/silent', method: 'POST' },
    },
    {
      name: 'lenient',
      request: { path: '/busy', method: 'POST' },
      ...retry({ retryOnHttpCodes: [429], maxRetries: 2 }),
    },
    {
      name: 'hundred',
      isBatchCalls: true,
      preRequest: {
        propertyInstructions: [{ name: 'ids', valueList: Array.from({ length: 100 }, (_, id) => id) }],
        batchRequests: { pathToTargetArray: 'properties.ids', iterationObjectName: 'id' },
      },
      request: { method: 'PUT', path: '/ok/{{ id }}', body: '{"id": {{ id }}}' },
    },
    {
      name: 'forgotten',
      fireAndForget: true,
      saveResponse: false,
      request: { path: '/silent', method: 'POST' },
    },
  ]);
  await deploy('elsewhere', 'http://localhost.localdomain:7999', [{ name: 'ok' }]);
  await deploy('metadata', 'http://169.254.169.254', [{ name: 'ok' }]);
  await deploy('chosen', 'http://{{ input | remove: "ok " }}', [{ name: 'ok' }]);
});

afterAll(async () => {
  await platform?.close();
  await server?.[Symbol.asyncDispose]();
});

function deploy(agent: string, url: string, calls: Parameters<typeof callingAgent>[2]) {
  return client.call('deploy_agent_file', { file: callingAgent(agent, url, calls) });
}

const retry = (retryApiCallInstruction: object) => ({
  postResponse: {
    retryApiCallInstruction: { exponentialBackoffDelayInMillis: 1, ...retryApiCallInstruction },
  },
});

/** What the agent heard, and how long the turn took. */
async function hear(message: string, agentId = 'faults') {
  const { conversationId } = await client.call('create_conversation', { agentId });
  const startedAt = performance.now();
  const { agentResponse } = await client.call('talk_to_agent', {
    agentId,
    conversationId: conversationId!,
    message,
  });
  const heard = JSON.parse(agentResponse!) as { answer?: unknown; answerError?: object; answerNote?: string };
  return {
    answer: heard.answer,
    error: heard.answerError,
    note: heard.answerNote,
    ms: performance.now() - startedAt,
    conversationId: conversationId!,
  };
}

describe('a server that misbehaves', () => {
  it.each([
    ['silent', 'TIMEOUT'],
    ['drip', 'TIMEOUT'],
    ['endless', 'TOO_LARGE'],
    ['huge', 'TOO_LARGE'],
    ['bomb', 'TOO_LARGE'],
    ['loop', 'REDIRECT_REFUSED'],
    ['inside', 'REDIRECT_REFUSED'],
    ['file', 'REDIRECT_REFUSED'],
    ['half', 'CONNECTION_BROKEN'],
    ['reset', 'CONNECTION_BROKEN'],
    ['garbage', 'CONNECTION_BROKEN'],
    ['chunks', 'CONNECTION_BROKEN'],
    ['headers', 'CONNECTION_BROKEN'],
  ])('by "%s" gives %s in bounded time, and its connection is closed', async (name, code) => {
    const { answer, error, ms } = await hear(name);
    expect(error).toMatchObject({ code, sent: true });
    expect(answer).toBeUndefined();
    expect(ms).toBeLessThan(10_000);
    await server.idle();
  });

  it('has nobody read more than the limit, and a little', async () => {
    await server.idle();
    const before = server.bytesWritten;
    for (const name of ['endless', 'huge', 'bomb']) await hear(name);
    await server.idle();
    // Three answers of at most 2 MB, and what the sockets on both sides hold.
    expect(server.bytesWritten - before).toBeLessThan(30_000_000);
  });

  it.each([
    ['wrong', '<html>no</html>'],
    ['deep', '['.repeat(1_000)],
  ])('by JSON that is none, "%s", is heard as text, with a note', async (name, answer) => {
    expect(await hear(name)).toMatchObject({
      answer,
      error: undefined,
      note: expect.stringContaining('read as text'),
    });
  });

  it('by bytes that are no text is heard with what is readable', async () => {
    expect((await hear('binary')).answer).toBe('a\ufffd\ufffd\u0000b');
  });

  it.each([
    ['down', 503, { why: 'down' }],
    ['busy', 429, { why: 'busy' }],
  ])('by "%s" is heard: the status and what it says', async (name, status, answer) => {
    expect(await hear(name)).toMatchObject({ answer, error: { code: 'HTTP_STATUS', status } });
  });

  it('fails a turn that does not go on without it, and the person hears which call, and no address', async () => {
    const { conversationId } = await client.call('create_conversation', { agentId: 'faults' });
    const talk = client.call('talk_to_agent', {
      agentId: 'faults',
      conversationId: conversationId!,
      message: 'strict',
    });
    const error = await talk.then(
      () => undefined,
      (thrown: Error) => thrown,
    );
    expect(error?.message).toContain('the call "strict" failed: it took too long; it may have arrived');
    expect(error?.message).not.toContain('127.0.0.1');
  });
});

describe('a call', () => {
  it('follows a redirect within the server, unless it carries a credential', async () => {
    expect(await hear('home')).toMatchObject({ answer: { ok: true } });
    expect((await hear('secretly')).error).toMatchObject({ code: 'REDIRECT_REFUSED' });
    expect(server.requests.at(-1)).toMatchObject({
      path: '/home',
      headers: { authorization: `Bearer ${CREDENTIAL}` },
    });
  });

  it('with an effect is sent again only where that is declared', async () => {
    const before = server.requests.length;
    expect((await hear('lenient')).error).toMatchObject({ status: 429 });
    expect(server.requests.slice(before).map(({ path }) => path)).toEqual(['/busy', '/busy', '/busy']);
  });

  it('for each of a hundred entries is made once, in their order', async () => {
    const before = server.requests.length;
    expect((await hear('hundred')).answer).toEqual(Array.from({ length: 100 }, () => ({ ok: true })));
    expect(server.requests.slice(before).map(({ path, body }) => [path, JSON.parse(body)])).toEqual(
      Array.from({ length: 100 }, (_, id) => [`/ok/${id}`, { id }]),
    );
  });

  it('that nobody waits for does not hold up the turn', async () => {
    const { ms, error } = await hear('forgotten');
    expect(error).toBeUndefined();
    expect(ms).toBeLessThan(1_500);
  });

  it('sends its credential and leaves it nowhere (attack 46)', async () => {
    const { answer, conversationId } = await hear('echo');
    expect(server.requests.at(-1)).toMatchObject({ body: expect.stringContaining(CREDENTIAL) });
    expect(JSON.stringify(answer)).not.toContain(CREDENTIAL);
    const read = await client.call('read_conversation', {
      conversationId,
      currentStepOnly: false,
      returnDetailed: true,
    });
    expect(JSON.stringify(read)).not.toContain(CREDENTIAL);
    const rows = await platform.platform.store.db.selectFrom('audit_records').selectAll().execute();
    expect(JSON.stringify([rows, platform.logLines()])).not.toContain(CREDENTIAL);
  });

  it.each([
    ['elsewhere', 'a private name that is not allowed'],
    ['metadata', 'an address of cloud metadata'],
  ])('is not made to %s: %s', async agentId => {
    expect((await hear('ok', agentId)).error).toMatchObject({ code: 'ADDRESS_REFUSED', sent: false });
  });

  it('is not made to a private address that comes out of data, allowed or not', async () => {
    const before = server.requests.length;
    const { error } = await hear(`ok ${new URL(server.url).host}`, 'chosen');
    expect(error).toMatchObject({ code: 'ADDRESS_REFUSED', sent: false });
    expect(server.requests).toHaveLength(before);
  });
});
