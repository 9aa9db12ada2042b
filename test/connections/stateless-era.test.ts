import { describe, expect, it } from 'vitest';
import { DISCOVERED, type Heard, startScriptedServer } from './servers/scripted-server.ts';
import { httpEndpoint, testPool } from './test-pool.ts';

const tool = (header: string) => ({
  name: 'book',
  inputSchema: {
    type: 'object',
    properties: { region: { type: 'string', 'x-mcp-header': header }, seat: { type: 'integer' } },
  },
});
const call = (args: Record<string, unknown>) => ({
  method: 'tools/call',
  params: { name: 'book', arguments: args },
  timeoutMs: 5_000,
});
const connectTo = (url: string) => ({ endpoint: httpEndpoint(url), scope: 'test', connectTimeoutMs: 5_000 });

describe('A server of the stateless era', () => {
  it('gets arguments as headers where its tool wants that', async () => {
    await using server = await startScriptedServer(({ method }) => {
      if (method === 'server/discover') return { result: DISCOVERED };
      return { result: method === 'tools/list' ? { tools: [tool('Region')] } : { content: [] } };
    });
    await using pool = testPool();
    const connection = pool.connection(connectTo(server.url));
    await connection.request(call({ region: 'é', seat: 7 }));
    expect(connection.mirrorsArguments).toBe(true);
    expect(server.heard.at(-1)!.headers).toMatchObject({
      'mcp-method': 'tools/call',
      'mcp-name': 'book',
      'mcp-param-region': '=?base64?w6k=?=',
    });
    expect(server.heard.at(-1)!.headers).not.toHaveProperty('mcp-param-seat');
  });

  it('is asked for its tools again when the headers are not those it wants, and gets the call once more', async () => {
    const calls: Heard[] = [];
    await using server = await startScriptedServer((message, earlier) => {
      if (message.method === 'server/discover') return { result: DISCOVERED };
      if (message.method === 'tools/list') return { result: { tools: [tool(earlier ? 'Area' : 'Region')] } };
      calls.push(message);
      return message.headers['mcp-param-area']
        ? { result: { content: [] } }
        : { status: 400, error: { code: -32020, message: 'Mcp-Param-Area is missing' } };
    });
    await using pool = testPool();
    const connection = pool.connection(connectTo(server.url));
    expect(await connection.request(call({ region: 'eu' }))).toEqual({ content: [] });
    expect(calls).toHaveLength(2);
    expect(calls[0]!.id).not.toBe(calls[1]!.id);
  });

  it('gets it no third time', async () => {
    await using server = await startScriptedServer(({ method }) => {
      if (method === 'server/discover') return { result: DISCOVERED };
      if (method === 'tools/list') return { result: { tools: [tool('Region')] } };
      return { status: 400, error: { code: -32020, message: 'never enough' } };
    });
    await using pool = testPool();
    const request = pool.connection(connectTo(server.url)).request(call({ region: 'eu' }));
    await expect(request).rejects.toMatchObject({ kind: 'PROTOCOL_ERROR', code: -32020 });
    expect(server.heard.filter(({ method }) => method === 'tools/call')).toHaveLength(2);
  });

  it('that refuses a version and lists it is asked once more, and never for an older way to speak', async () => {
    await using server = await startScriptedServer(({ method }, earlier) => {
      if (method === 'server/discover' && earlier === 0) {
        return {
          status: 400,
          error: { code: -32022, message: 'no', data: { supported: ['2026-07-28'], requested: 'x' } },
        };
      }
      return { result: method === 'server/discover' ? DISCOVERED : { tools: [] } };
    });
    await using pool = testPool();
    await pool.connection(connectTo(server.url)).ready();
    expect(server.heard.map(({ method }) => method)).toEqual([
      'server/discover',
      'server/discover',
      'tools/list',
    ]);
    expect(server.others).toEqual([]);
  });

  it('is told what it asks by whoever is there to answer, and by nobody otherwise', async () => {
    const asks = {
      resultType: 'input_required',
      inputRequests: {
        who: { method: 'elicitation/create', params: { message: 'Who?', requestedSchema: {} } },
      },
    };
    await using server = await startScriptedServer(({ method, params }) => {
      if (method === 'server/discover') return { result: DISCOVERED };
      if (method === 'tools/list') return { result: { tools: [tool('Region')] } };
      return { result: params.inputResponses ? { content: [], who: params.inputResponses.who } : asks };
    });
    const answered = { action: 'accept', content: { name: 'Ada' } };
    await using asked = testPool({
      asked: { capabilities: { elicitation: {} }, answer: async () => answered },
    });
    expect(await asked.connection(connectTo(server.url)).request(call({}))).toMatchObject({ who: answered });
    const meta = server.heard.at(-1)!.params._meta;
    expect(meta['io.modelcontextprotocol/clientCapabilities']).toEqual({ elicitation: {} });

    await using pool = testPool();
    await expect(pool.connection(connectTo(server.url)).request(call({}))).rejects.toMatchObject({
      kind: 'UNSUPPORTED_RESULT',
      reached: 'yes',
    });
  });
});
