import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, expectTypeOf, it } from 'vitest';
import { ClientError, createClient } from './client.ts';

interface Seen {
  method: string | undefined;
  url: string | undefined;
  authorization: string | undefined;
  contentType: string | undefined;
  body: string;
}

let server: Server;
let baseUrl: string;
let seen: Seen;
let answer: { status: number; body: string };

beforeAll(async () => {
  server = createServer(async (request: IncomingMessage, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    seen = {
      method: request.method,
      url: request.url,
      authorization: request.headers.authorization,
      contentType: request.headers['content-type'],
      body: Buffer.concat(chunks).toString('utf8'),
    };
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => new Promise(resolve => server.close(resolve)));

beforeEach(() => {
  answer = { status: 200, body: '{}' };
});

async function failure(promise: Promise<unknown>): Promise<ClientError> {
  const thrown = await promise.then(
    () => undefined,
    error => error,
  );
  expect(thrown).toBeInstanceOf(ClientError);
  return thrown;
}

describe('the request', () => {
  it('puts path arguments into the path and the rest into the body of a POST', async () => {
    const client = createClient({ baseUrl: `${baseUrl}/`, token: 't', fetch });
    await client.call('talk_to_agent', { agentId: 'demo', conversationId: 'conv/ä', message: 'hi' });
    expect(seen).toEqual({
      method: 'POST',
      url: '/api/v1/conversations/conv%2F%C3%A4/messages',
      authorization: 'Bearer t',
      contentType: 'application/json',
      body: '{"agentId":"demo","message":"hi"}',
    });
  });

  it('puts the rest into the query of a GET, without what is absent or null', async () => {
    const client = createClient({ baseUrl, fetch });
    await client.call('read_conversation', {
      conversationId: 'conv_a',
      currentStepOnly: false,
      returningFields: 'output,actions',
      agentId: undefined,
    });
    expect(seen.url).toBe(
      '/api/v1/conversations/conv_a?currentStepOnly=false&returningFields=output%2Cactions',
    );
    expect(seen).toMatchObject({ method: 'GET', authorization: undefined, contentType: undefined, body: '' });
  });

  it('keeps the path prefix of a base address', async () => {
    await createClient({ baseUrl: `${baseUrl}/patchbay`, fetch }).call('revoke_key', { keyId: 'key_1' });
    expect(seen).toMatchObject({ method: 'DELETE', url: '/patchbay/api/v1/api-keys/key_1' });
  });

  it('never lets a path argument change the route', async () => {
    for (const keyId of ['', '.', '..']) {
      const error = await failure(createClient({ baseUrl, fetch }).call('revoke_key', { keyId }));
      expect(error).toMatchObject({ status: 0, code: 'invalid_param' });
    }
  });
});

describe('the answer', () => {
  it('is typed by the definition and keeps members the definition does not know', async () => {
    answer.body = '{"count":0,"agents":[],"newer":true}';
    const output = await createClient({ baseUrl, fetch }).call('discover_agents', {});
    expectTypeOf(output.agents).items.toHaveProperty('agentId').toEqualTypeOf<string>();
    expect(output).toEqual({ count: 0, agents: [], newer: true });
  });

  it('becomes a ClientError with the code and message of the platform', async () => {
    answer = {
      status: 409,
      body: '{"success":false,"error":{"type":"conflict_error","code":"conflict","message":"Three keys are active.","details":{"max":3}}}',
    };
    const error = await failure(
      createClient({ baseUrl, fetch }).call('create_agent_key', { agentId: 'demo' }),
    );
    expect(error).toMatchObject({ status: 409, code: 'conflict', message: 'Three keys are active.' });
    expect(error.details).toEqual({ max: 3 });
  });

  it.each([
    { status: 200, body: '<html>' },
    { status: 200, body: '[]' },
    { status: 502, body: 'Bad gateway' },
  ])('of somebody else ($status $body) says to check the address', async other => {
    answer = other;
    const error = await failure(createClient({ baseUrl, fetch }).call('list_keys', {}));
    expect(error).toMatchObject({ status: other.status, code: 'unexpected_answer' });
    expect(error.message).toContain('check the address');
  });

  it('of nobody is `unreachable` and names the address', async () => {
    const closed = createServer();
    await new Promise<void>(resolve => closed.listen(0, '127.0.0.1', resolve));
    const address = `http://127.0.0.1:${(closed.address() as AddressInfo).port}`;
    await new Promise(resolve => closed.close(resolve));
    const error = await failure(createClient({ baseUrl: address, fetch }).call('list_keys', {}));
    expect(error).toMatchObject({ status: 0, code: 'unreachable' });
    expect(error.message).toContain(address);
  });

  it('does not come once the signal aborts: the reason of the signal does', async () => {
    const reason = new Error('enough');
    await expect(
      createClient({ baseUrl, fetch }).call('list_keys', {}, { signal: AbortSignal.abort(reason) }),
    ).rejects.toBe(reason);
  });
});
