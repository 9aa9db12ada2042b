import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PlatformProcess, startPlatformProcess } from '@patchbay/testing/platform-process';
import { newTestDatabase } from '@patchbay/testing/stores';
import pg from 'pg';
import { expect, it } from 'vitest';
import { answeringAgent } from '../rest/rest-client.ts';

interface Node extends PlatformProcess {
  readonly id: string;
}

it('a task whose node is killed in the middle is done by another one, once', {
  timeout: 120_000,
}, async () => {
  await using undo = new AsyncDisposableStack();
  const database = undo.use(await newTestDatabase());
  const start = async (): Promise<Node> => {
    const dataDir = await mkdtemp(join(tmpdir(), 'patchbay-task-'));
    undo.defer(() => rm(dataDir, { recursive: true, force: true }));
    const node = await startPlatformProcess({ dataDir, databaseUrl: database.url });
    undo.defer(() => void node.process.kill('SIGKILL'));
    return { ...node, id: (await readFile(join(dataDir, 'node-id'), 'utf8')).trim() };
  };
  const nodes = [await start(), await start()];
  const [{ client }] = nodes as [Node];
  await client.call('deploy_agent_file', { file: answeringAgent('sleeper', 'Awake.', { delay: 4_000 }) });
  const { task_id } = await client.call('create_task', { agentId: 'sleeper', message: 'go' });
  const statusAt = async (node: Node) => (await node.client.call('read_task', { task_id })).status;
  await expect.poll(() => statusAt(nodes[0]!), { interval: 20 }).toBe('running');

  const holder = await holderOf(database.url, `deliver/${task_id}`);
  const working = nodes.find(({ id }) => holder.startsWith(id))!;
  const other = nodes.find(node => node !== working)!;
  working.process.kill('SIGKILL');
  await once(working.process, 'exit');
  await expect.poll(() => statusAt(other), { timeout: 60_000, interval: 200 }).toBe('completed');

  const { context_id } = await other.client.call('read_task', { task_id });
  const { log } = await other.client.call('read_conversation_log', { conversationId: context_id! });
  expect(log.match(/User: go/g)).toHaveLength(1);
  const { messages } = await other.client.call('list_task_messages', { task_id });
  expect(messages.map(({ type, body }) => (type === 'task_status' ? body : type))).toEqual([
    'chat_message',
    'running',
    'agent_reply',
    'completed',
  ]);
});

async function holderOf(url: string, jobId: string): Promise<string> {
  const database = new pg.Client(url);
  await database.connect();
  try {
    const { rows } = await database.query('select holder from jobs where id = $1', [jobId]);
    return rows[0].holder;
  } finally {
    await database.end();
  }
}
