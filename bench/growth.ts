import { once } from 'node:events';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type PlatformProcess, startPlatformProcess } from '@patchbay/testing/platform-process';
import pg from 'pg';
import { percentile, runLoad, type Target } from './load.ts';
import { AGENT, AGENT_FILE, conversationCall, newConversationCall } from './two-rules.ts';

export interface Growth {
  /** p99 of a turn in the grown store, times that of the empty one in the same round; the median of the rounds. */
  readonly turn: number;
  /** The same for a call that starts a conversation. */
  readonly start: number;
  /** p99 of a turn while conversations are retired, times that of the empty store. */
  readonly whileRetiring: number;
  readonly retired: number;
  readonly retiringSeconds: number;
  /** What a person asks of the grown store, and how long the slowest answer took, in ms. */
  readonly asked: Readonly<Record<string, number>>;
}

const CONNECTIONS = 8;
/** How old the oldest conversation is: some are due to be ended, and some of the ended ones to be deleted. */
const OLDEST_DAYS = 115;
const ENV = {
  PATCHBAY_LOG_LEVEL: 'error',
  PATCHBAY_AGENT_DOOR_RATE: '0',
  PATCHBAY_CONVERSATION_KEEP_ENDED_DAYS: '100',
};
const RETIRING = 'retire-conversations';

/** A store with so many conversations beside an empty one, called by turns. */
export async function measureGrowth(options: {
  readonly conversations: number;
  readonly rounds: number;
  readonly folders: { readonly empty: string; readonly grown: string };
  readonly databases: { readonly empty: string; readonly grown: string } | undefined;
  readonly say: (text: string) => void;
}): Promise<Growth> {
  const { conversations, rounds, folders, databases, say } = options;
  const start = (which: 'empty' | 'grown') =>
    startPlatformProcess({ dataDir: folders[which], databaseUrl: databases?.[which], env: ENV });
  const first = await start('grown');
  const templates = await makeTemplates(first);
  await stop(first);
  const database = databases ? await openPostgres(databases.grown) : openSqlite(folders.grown);
  await fill(database, templates, conversations, say);
  const filledAt = Date.now();

  const platforms = { empty: await start('empty'), grown: await start('grown') };
  const doors = { empty: await doorsOf(platforms.empty), grown: await doorsOf(platforms.grown) };

  const isOld = `created_at < ${filledAt}`;
  const before = await database.count(
    `select count(*) as n from conversations where ${isOld} and state <> 'ENDED'`,
  );
  const stored = await database.count(`select count(*) as n from conversations where ${isOld}`);
  await database.run(`update jobs set due_at = 0 where id = '${RETIRING}'`);
  const began = performance.now();
  const retiring: number[] = [];
  const meanwhile: number[] = [];
  while (await isRetiring(database)) {
    retiring.push(...(await runLoad(doors.grown.turn, CONNECTIONS, 2)).latencies);
    meanwhile.push(...(await runLoad(doors.empty.turn, CONNECTIONS, 2)).latencies);
  }
  const retiringSeconds = (performance.now() - began) / 1000;
  const after = await database.count(
    `select count(*) as n from conversations where ${isOld} and state <> 'ENDED'`,
  );
  const deleted = stored - (await database.count(`select count(*) as n from conversations where ${isOld}`));
  const retired = before - after + deleted;
  say(`retired ${retired} in ${Math.round(retiringSeconds)} s`);

  const times = { empty: { turn: [], start: [] }, grown: { turn: [], start: [] } } as Times;
  for (let round = 0; round < rounds; round += 1) {
    for (const which of round % 2 === 0 ? (['empty', 'grown'] as const) : (['grown', 'empty'] as const)) {
      for (const kind of ['turn', 'start'] as const)
        times[which][kind].push(p99((await runLoad(doors[which][kind], CONNECTIONS, 2)).latencies));
    }
    say(`round ${round + 1} of ${rounds}: p99 ${times.empty.turn.at(-1)} and ${times.grown.turn.at(-1)} ms`);
  }
  const asked = await askAround(platforms.grown);
  await database.close();
  await stop(platforms.empty);
  await stop(platforms.grown);
  return {
    turn: medianRatio(times.grown.turn, times.empty.turn),
    start: medianRatio(times.grown.start, times.empty.start),
    whileRetiring: retiring.length === 0 ? 1 : p99(retiring) / p99(meanwhile),
    retired,
    retiringSeconds,
    asked,
  };
}

/** p99 of each round, in ms. */
type Times = Record<'empty' | 'grown', Record<'turn' | 'start', number[]>>;

/** Of what was measured beside each other, because the machine is another one a minute later. */
function medianRatio(grown: readonly number[], empty: readonly number[]): number {
  const ratios = grown.map((time, round) => time / empty[round]!).toSorted((a, b) => a - b);
  const middle = ratios.length / 2;
  return (ratios[Math.floor(middle)]! + ratios[Math.ceil(middle - 1)]!) / 2;
}

function p99(latencies: readonly number[]): number {
  return percentile(
    latencies.toSorted((a, b) => a - b),
    0.99,
  );
}

async function stop({ process }: PlatformProcess): Promise<void> {
  process.kill('SIGTERM');
  await once(process, 'exit');
}

/** Conversations as they are, to be copied: one that is at rest after two messages, and one that waits for a person. */
interface Templates {
  readonly resting: string;
  readonly waiting: string;
}

async function makeTemplates({ client }: PlatformProcess): Promise<Templates> {
  await client.call('deploy_agent_file', { file: AGENT_FILE });
  const { conversationId } = await client.call('chat_with_agent', { agentId: AGENT, message: 'hello' });
  await client.call('talk_to_agent', { agentId: AGENT, conversationId: conversationId!, message: 'hello' });
  const waiting = await client.call('chat_with_agent', { agentId: 'demo', message: 'ask a person' });
  return { resting: conversationId!, waiting: waiting.conversationId! };
}

async function doorsOf({ url, client }: PlatformProcess): Promise<Record<'turn' | 'start', Target>> {
  await client.call('deploy_agent_file', { file: AGENT_FILE });
  const { key } = await client.call('create_key', { scopes: ['agents'] });
  const conversations: string[] = [];
  for (let index = 0; index < CONNECTIONS; index += 1) {
    const { conversationId } = await client.call('create_conversation', { agentId: AGENT });
    conversations.push(conversationId);
  }
  const headers = { Authorization: `Bearer ${key}` };
  const door = `${url}/${AGENT}/mcp`;
  const turn = { url: door, ...conversationCall(headers, conversations) };
  const start = { url: door, ...newConversationCall(headers) };
  await runLoad(turn, CONNECTIONS, 4);
  await runLoad(start, CONNECTIONS, 2);
  return { turn, start };
}

/** The two engines, as far as they are filled and counted here. */
interface Database {
  readonly kind: 'sqlite' | 'postgres';
  rows(sql: string): Promise<Record<string, unknown>[]>;
  run(sql: string): Promise<void>;
  count(sql: string): Promise<number>;
  close(): Promise<void>;
}

function openSqlite(folder: string): Database {
  const database = new DatabaseSync(join(folder, 'patchbay.db'));
  database.exec('pragma busy_timeout = 30000');
  const rows = async (sql: string) => database.prepare(sql).all() as Record<string, unknown>[];
  return {
    kind: 'sqlite',
    rows,
    run: async sql => database.exec(sql),
    count: async sql => Number((await rows(sql))[0]!.n),
    close: async () => database.close(),
  };
}

async function openPostgres(url: string): Promise<Database> {
  const client = new pg.Client(url);
  await client.connect();
  const rows = async (sql: string) => (await client.query(sql)).rows;
  return {
    kind: 'postgres',
    rows,
    run: async sql => void (await client.query(sql)),
    count: async sql => Number((await rows(sql))[0]!.n),
    close: () => client.end(),
  };
}

const IN_ONE_STATEMENT = 50_000;
const ALPHABET = `'234567abcdefghijklmnopqrstuvwxyz'`;

/**
 * Copies of the templates under ids that lie everywhere among those to come, of many people and agents and of all ages. A quarter has
 * its audit trail, which is enough to be in the way.
 */
async function fill(
  database: Database,
  { resting, waiting }: Templates,
  conversations: number,
  say: (text: string) => void,
): Promise<void> {
  const place = `(i * ${Math.floor(32 ** 4 / conversations)})`;
  const letters = [32_768, 1_024, 32, 1]
    .map(step => `substr(${ALPHABET}, 1 + cast((${place} / ${step}) % 32 as integer), 1)`)
    .join(' || ');
  // Another end than the template's, whose place may be one of these.
  const suffix = `${resting.slice('conv_'.length + 4, -1)}${resting.endsWith('a') ? 'b' : 'a'}`;
  const part = `(${letters} || '${suffix}')`;
  const now = Date.now();
  const at = `(${now} - i * ${Math.floor((OLDEST_DAYS * 86_400_000) / conversations)})`;
  const [{ user_id: owner } = {}] = await database.rows(
    `select user_id from conversations where id = '${resting}'`,
  );
  const common = {
    conversation_id: `'conv_' || ${part}`,
    user_id: `case when i % 100 = 0 then '${owner}' else 'user_' || (i % 5000) end`,
    agent_id: `case when i % 2 = 0 then '${AGENT}' else 'agent_' || (i % 50) end`,
    created_at: at,
  };
  const state = `case when i % 200 = 0 then 'AWAITING_HUMAN' when i % 3 = 0 then 'ENDED' when i % 1000 = 7 then 'ERROR' else 'READY' end`;
  const tables: { table: string; where: string; columns: Record<string, string>; only?: string }[] = [
    {
      table: 'conversations',
      where: `id = '${resting}'`,
      columns: { ...common, id: common.conversation_id, updated_at: at, state },
    },
    { table: 'conversation_steps', where: `conversation_id = '${resting}'`, columns: common },
    {
      table: 'audit_records',
      where: `conversation_id = '${resting}'`,
      columns: common,
      only: 'i % 4 = 0',
    },
    {
      table: 'pauses',
      where: `conversation_id = '${waiting}'`,
      columns: { ...common, id: `'pause_' || ${part}`, opened_at: at },
      only: 'i % 200 = 0',
    },
  ];
  for (const { table, where, columns, only = '1 = 1' } of tables) {
    const templates = await database.rows(`select * from ${table} where ${where}`);
    for (let from = 0; from < conversations; from += IN_ONE_STATEMENT) {
      const to = Math.min(from + IN_ONE_STATEMENT, conversations) - 1;
      const numbers =
        database.kind === 'postgres'
          ? `generate_series(${from}::bigint, ${to}) as s(i)`
          : `(with recursive s(i) as (select ${from} union all select i + 1 from s where i < ${to}) select i from s)`;
      for (const template of templates) {
        const names = Object.keys(template);
        const values = names.map(name => columns[name] ?? literal(template[name]));
        await database.run(
          `insert into ${table} (${names.join(', ')}) select ${values.join(', ')} from ${numbers} where ${only}`,
        );
      }
      say(`${table}: ${to + 1} of ${conversations}`);
    }
  }
  // What the server does by itself after some minutes.
  if (database.kind === 'postgres')
    for (const step of ['vacuum analyze', 'checkpoint']) await database.run(step);
}

function literal(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value);
}

async function isRetiring(database: Database): Promise<boolean> {
  const due = `select count(*) as n from jobs where id = '${RETIRING}' and (holder is not null or due_at < ${Date.now()})`;
  return (await database.count(due)) > 0;
}

/** Each question five times; the slowest counts. */
async function askAround({ client }: PlatformProcess): Promise<Record<string, number>> {
  const { conversations } = await client.call('list_conversations', { agentId: AGENT, limit: 100 });
  const conversationId = conversations[0]!.conversationId;
  const questions = {
    'list_conversations, the latest 100': () =>
      client.call('list_conversations', { agentId: AGENT, limit: 100 }),
    'list_conversations, those that failed': () =>
      client.call('list_conversations', { agentId: AGENT, conversationState: 'ERROR' }),
    'list_conversations, those that run': () =>
      client.call('list_conversations', { agentId: AGENT, conversationState: 'IN_PROGRESS' }),
    'list_conversations, of a version that has none': () =>
      client.call('list_conversations', { agentId: AGENT, agentVersion: 99 }),
    read_conversation: () => client.call('read_conversation', { conversationId, currentStepOnly: false }),
    read_audit_trail: () => client.call('read_audit_trail', { conversationId }),
    list_pending_approvals: () => client.call('list_pending_approvals', { limit: 200 }),
    get_approval_status: () => client.call('get_approval_status', { conversationId }),
    'undeploy_agent, refused': () => client.call('undeploy_agent', { agentId: AGENT, version: 1 }),
    list_agents: () => client.call('list_agents', {}),
  };
  const slowest: Record<string, number> = {};
  for (const [what, ask] of Object.entries(questions)) {
    const times: number[] = [];
    for (let time = 0; time < 5; time += 1) {
      const asked = performance.now();
      await ask().catch(() => {});
      times.push(performance.now() - asked);
    }
    slowest[what] = Math.max(...times);
  }
  return slowest;
}
