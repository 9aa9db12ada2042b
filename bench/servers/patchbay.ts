import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@patchbay/contract/client';
import { startPatchbay } from '@patchbay/server/main';
import { createTokenKit } from '../../test/authorization/tokens.ts';
import { TOGETHER } from '../measure.ts';
import { modelAgent } from '../model-turns.ts';
import { AGENT, AGENT_FILE, discover, toolCallingAgent } from '../two-rules.ts';
import { startUpstream } from './upstream.ts';

const door = process.argv[2];
const MANY_CREDENTIALS = 200;
const home = await mkdtemp(join(tmpdir(), 'patchbay-bench-'));
const platform = await startPatchbay({
  env: {
    PATCHBAY_DATA_DIR: home,
    PATCHBAY_PORT: '0',
    PATCHBAY_AGENT_DOOR_RATE: '0',
    PATCHBAY_EGRESS_PRIVATE_HOSTS: '127.0.0.1',
    PATCHBAY_CONNECTIONS_CALLS_PER_MINUTE: '1000000',
    PATCHBAY_DATABASE_URL: process.env.BENCH_DATABASE_URL || undefined,
  },
  home,
  cwd: home,
  logTo: { write: () => {} },
  interactive: false,
});
process.once('SIGTERM', async () => {
  await platform.stop();
  await rm(home, { recursive: true, force: true });
  process.exit(0);
});

const owner = JSON.parse(await readFile(join(home, 'local-owner'), 'utf8'));
const client = createClient({ baseUrl: platform.url, token: owner.token, fetch });
const { key } = await client.call('create_key', { scopes: ['agents', 'operator'] });
const headers = { Authorization: `Bearer ${key}` };

if (door === 'operator' || door === 'deploy') {
  if (door === 'deploy') await client.call('deploy_agent_file', { file: AGENT_FILE });
  await discover(platform.operatorUrl, headers);
  process.send?.({ url: platform.operatorUrl, headers });
} else {
  const upstream = door === 'httpcalls' ? await startUpstream() : await mcpServer();
  const { agentId } = await client.call('deploy_agent_file', { file: agentFileFor(door, upstream) });
  const starting = Array.from({ length: TOGETHER }, () => client.call('create_conversation', { agentId }));
  const conversations = (await Promise.all(starting)).map(({ conversationId }) => conversationId);
  await discover(platform.agentUrl(agentId), headers);
  const authorizations = door === 'credentials' ? await manyCredentials(agentId) : undefined;
  const url = door === 'approve' ? await startApprovals(conversations) : platform.agentUrl(agentId);
  process.send?.({
    ...{ url, operatorUrl: platform.operatorUrl, baseUrl: platform.url },
    ...{ headers, conversations, authorizations },
  });
}

/** Keys and tokens of the owner that open the agent, as many as many people have. */
async function manyCredentials(agentId: string): Promise<string[]> {
  const kit = await createTokenKit(platform);
  const each = Array.from({ length: MANY_CREDENTIALS }, async () => {
    const minted = await client.call('create_key', {});
    const grant = await kit.allow(platform.platform.owner.id, { agentIds: [agentId] });
    return [minted.key, await kit.agentToken(grant, { claims: { exp: kit.now() + 36_000 } })];
  });
  return (await Promise.all(each)).flat().map(token => `Bearer ${token}`);
}

/** Where calls of tools go, as an agent names it. */
async function mcpServer(): Promise<string> {
  if (door === 'model') {
    const options = { url: `${process.env.BENCH_MCP_SERVER}/session`, gated: false };
    await client.call('add_server', { name: 'echo', options, wait: true });
    return 'echo';
  }
  if (door !== 'mcpcalls-program') return `${process.env.BENCH_MCP_SERVER}/stateless`;
  const program = join(import.meta.dirname, 'mcp-program.ts');
  const options = { command: process.execPath, args: [program], gated: false };
  await client.call('add_server', { name: 'echo', options, wait: true });
  return 'patchbay:servers/echo';
}

/** The agent of the bench, with one thing more in each turn. */
function agentFileFor(what: string | undefined, upstream: string): Record<string, unknown> {
  if (what === 'property') {
    const setProperties = [
      { name: 'said', valueString: '{{ memory.current.input }}', scope: 'conversation' },
    ];
    return { ...AGENT_FILE, property: { setOnActions: [{ actions: ['answer'], setProperties }] } };
  }
  if (what === 'httpcalls') {
    const call = { name: 'ask', actions: ['answer'], saveResponse: true, responseObjectName: 'asked' };
    const httpCalls = [{ ...call, request: { method: 'GET', path: '/' } }];
    return { ...AGENT_FILE, httpcalls: { targetServerUrl: upstream, httpCalls } };
  }
  if (what === 'model') return modelAgent(process.env.BENCH_MODEL_SERVER!, upstream);
  if (what?.startsWith('mcpcalls')) {
    return toolCallingAgent(upstream, { toolName: 'echo', toolArguments: { text: '{{ input }}' } });
  }
  if (what !== 'approve') return AGENT_FILE;
  const [group] = AGENT_FILE.rules.behaviorGroups;
  const rules = group!.rules.map(rule =>
    rule.name === 'answer' ? { ...rule, actions: [...rule.actions, 'PAUSE_CONVERSATION'] } : rule,
  );
  return { ...AGENT_FILE, rules: { behaviorGroups: [{ ...group, rules }] } };
}

/** Answers when a message has waited for a person, was approved, and its turn has ended: three REST calls or more. */
async function startApprovals(conversations: readonly string[]): Promise<string> {
  const free = [...conversations];
  const server = createServer((request, response) => {
    request.resume().on('end', async () => {
      const conversationId = free.pop()!;
      await client.call('talk_to_agent', { agentId: AGENT, conversationId, message: 'hello' });
      await client.call('resume_conversation', { conversationId, verdict: 'APPROVED' });
      for (;;) {
        const { conversationState } = await client.call('read_conversation', { conversationId });
        if (conversationState === 'READY') break;
        await new Promise(resolve => setTimeout(resolve, 1));
      }
      free.push(conversationId);
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 5 }).end('READY');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}
