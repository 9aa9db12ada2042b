import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Agent } from 'undici';
import { runCalls } from '../load.ts';
import { statelessCall } from '../two-rules.ts';
import { HEARD } from './echo.ts';
import { callTool, httpServer, ourCalls } from './our-connections.ts';

/**
 * Calls a tool of another server when its parent says so, and answers how long each call took: `caller.ts HOW`, with the server's address in
 * `BENCH_MCP_SERVER`.
 */
const ECHO = { name: 'echo', arguments: { text: 'hello' } };
const how = process.argv[2] as keyof typeof WAYS;
const server = process.env.BENCH_MCP_SERVER!;

type Call = () => Promise<unknown>;

const WAYS = {
  raw: () => rawCall(`${server}/stateless`),
  table: () => callTable(`${server}/stateless`),
  'table-session': () => callTable(`${server}/session`),
  sdk: () => sdkClient(`${server}/stateless`),
  'sdk-session': () => sdkClient(`${server}/session`),
} satisfies Record<string, () => Call | Promise<Call>>;

/** One exchange of undici with a body made and an answer read, and nothing that knows MCP. */
function rawCall(url: string): Call {
  const agent = new Agent();
  const { headers, bodyOf } = statelessCall({}, () => ECHO, HEARD);
  const { origin, pathname: path } = new URL(url);
  const sent = { ...headers, 'content-type': 'application/json' };
  let id = 0;
  return async () => {
    const { body } = await agent.request({ origin, path, method: 'POST', headers: sent, body: bodyOf(id++) });
    return ((await body.json()) as { result: unknown }).result;
  };
}

function callTable(url: string): Call {
  const calls = ourCalls();
  const definition = httpServer(url);
  return () => callTool(calls, definition, ECHO.name, ECHO.arguments);
}

/** The client of the official SDK with one connection. */
async function sdkClient(url: string): Promise<Call> {
  const client = new Client({ name: 'bench', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return () => client.callTool(ECHO);
}

const call = await WAYS[how]();
process.on('message', async ({ connections, seconds }: { connections: number; seconds: number }) => {
  process.send?.(await runCalls(call, HEARD, connections, seconds));
});
process.on('disconnect', () => process.exit(0));
process.send?.({});
