import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../testing/eventually.ts';
import { type FakePlatform, startFakePlatform } from '../testing/fake-platform.ts';

const bin = fileURLToPath(new URL('../../bin/patchbay.mjs', import.meta.url));

let platform: FakePlatform;
/** Calls of `wait` the server has begun, and those it saw end early. */
let running = 0;
let cancelled = 0;

/** A server that speaks every era on one endpoint, behind the fake platform's operator door. */
beforeAll(async () => {
  platform = await startFakePlatform();
  const handler = createMcpHandler(() => {
    const server = new Server({ name: 'judge', version: '1' }, { capabilities: { tools: {} } });
    server.setRequestHandler('tools/list', () => ({
      tools: ['echo', 'wait', 'árvíztűrő'].map(name => ({ name, inputSchema: { type: 'object' as const } })),
    }));
    server.setRequestHandler('tools/call', async (request, context) => {
      const { name, arguments: args = {}, _meta } = request.params;
      const text = String(args.text ?? name);
      if (name === 'wait') {
        const progressToken = _meta?.progressToken;
        if (progressToken !== undefined) {
          const params = { progressToken, progress: 1, message: 'half way' };
          await context.mcpReq.notify({ method: 'notifications/progress', params });
        }
        const { promise, resolve } = Promise.withResolvers<void>();
        const timer = setTimeout(resolve, Number(args.ms ?? 0));
        const onAbort = (): void => {
          cancelled += 1;
          clearTimeout(timer);
          resolve();
        };
        running += 1;
        context.mcpReq.signal.addEventListener('abort', onAbort);
        await promise;
        context.mcpReq.signal.removeEventListener('abort', onAbort);
      }
      return { content: [{ type: 'text' as const, text }] };
    });
    return server;
  });
  platform.door = async (request, response, body) => {
    const left = new AbortController();
    response.on('close', () => left.abort());
    const answer = await handler.fetch(
      new Request(`${platform.url}${request.url}`, {
        method: request.method!,
        headers: Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
        body,
        signal: left.signal,
      }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    try {
      for await (const chunk of answer.body ?? []) response.write(chunk);
    } catch {
      // The client has left; the server's stream ends with an error.
    }
    response.end();
  };
});
afterAll(() => platform.stop());

async function connected(mode: 'legacy' | 'auto'): Promise<Client> {
  const client = new Client(
    { name: 'host', version: '1' },
    mode === 'auto' ? { versionNegotiation: { mode: 'auto' } } : {},
  );
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [bin, 'stdio'],
      env: { HOME: platform.home },
      stderr: 'inherit',
    }),
  );
  return client;
}

describe.each([
  ['legacy', 'legacy'],
  ['auto', 'modern'],
] as const)('the stock client over stdio, %s', (mode, era) => {
  it('finds the server, lists and calls with any name and text, side by side', async () => {
    const client = await connected(mode);
    try {
      expect(client.getProtocolEra()).toBe(era);
      const { tools } = await client.listTools();
      expect(tools.map(tool => tool.name)).toEqual(['echo', 'wait', 'árvíztűrő']);
      const text = `őű 😀 \u2028 ${'x'.repeat(300_000)}`;
      const answers = await Promise.all([
        client.callTool({ name: 'wait', arguments: { ms: 200, text: 'slow' } }),
        client.callTool({ name: 'echo', arguments: { text } }),
        client.callTool({ name: 'árvíztűrő', arguments: {} }),
      ]);
      expect(answers.map(answer => answer.content)).toEqual([
        [{ type: 'text', text: 'slow' }],
        [{ type: 'text', text }],
        [{ type: 'text', text: 'árvíztűrő' }],
      ]);
    } finally {
      await client.close();
    }
  });

  it('gets progress while the call runs', async () => {
    const client = await connected(mode);
    try {
      const seen: unknown[] = [];
      await client.callTool(
        { name: 'wait', arguments: { ms: 100 } },
        { onprogress: progress => seen.push(progress.message) },
      );
      expect(seen).toEqual(['half way']);
    } finally {
      await client.close();
    }
  });

  it('cancels a call and goes on', async () => {
    const client = await connected(mode);
    try {
      const before = { running, cancelled };
      const abort = new AbortController();
      const call = client.callTool({ name: 'wait', arguments: { ms: 20_000 } }, { signal: abort.signal });
      await eventually(() => expect(running).toBe(before.running + 1));
      abort.abort(new Error('enough'));
      await expect(call).rejects.toThrow();
      // In the older eras only a server with sessions can tell which call is meant; this one has none.
      if (era === 'modern') await eventually(() => expect(cancelled).toBe(before.cancelled + 1));
      expect((await client.callTool({ name: 'echo', arguments: { text: 'on' } })).content).toEqual([
        { type: 'text', text: 'on' },
      ]);
    } finally {
      await client.close();
    }
  });
});
