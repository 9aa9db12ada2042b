import type { Environment } from '@patchbay/contract/environments';
import { CONVERSATION_STATES, type ConversationState } from '@patchbay/contract/operations/conversation';
import {
  type Expression,
  type ExpressionBuilder,
  type NotNull,
  type SelectQueryBuilder,
  type SqlBool,
  sql,
} from 'kysely';
import type { Scope } from '../../kernel/access.ts';
import { publish } from '../events.ts';
import { NOW } from '../now.ts';
import { prepareQuery } from '../prepared-query.ts';
import type { Schema } from '../schema.ts';
import type { Db } from '../store.ts';
import { keepAuditHeads } from './audit-records.ts';

/** A conversation as its row keeps it. */
export interface ConversationRecord {
  readonly id: string;
  readonly agentId: string;
  readonly agentVersion: number;
  readonly environment: Environment;
  readonly userId: string;
  /** The stored state; while a turn holds the lease, readers are shown IN_PROGRESS instead. */
  readonly state: ConversationState;
  /** True while a turn is running. */
  readonly leased: boolean;
  readonly stepCount: number;
  /** Steps that were undone and can be redone. */
  readonly undoneSteps: number;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Everything a turn needs of a conversation that exists already. */
export interface ConversationForTurn extends ConversationRecord {
  readonly fence: number;
  /** JSON, as `finishTurn` wrote it. */
  readonly counters: string;
  /** JSON of the latest output. */
  readonly lastOutput: string;
  /** Where the chain of its audit entries ends; `undefined` before the first. */
  readonly auditHead: string | undefined;
  /** Of the agent: what is known of it under the same one is true. */
  readonly agentRevision: number;
  /** Is there a log of what is said in it? */
  readonly logged: boolean;
}

/** The right to run the next turn. Every claim raises `fence`, so an older holder is recognised. */
export interface ConversationLease {
  readonly conversationId: string;
  readonly fence: number;
}

/** With the name people know its agent by. */
export interface DescribedConversation extends ConversationRecord {
  readonly agentName: string;
}

/** The lease that claiming a new conversation gives. */
export function firstLease(conversationId: string): ConversationLease {
  return { conversationId, fence: 1 };
}

/** The lease that claiming the conversation gives, for whoever has to name it before. */
export function nextLease(seen: ConversationForTurn): ConversationLease {
  return { conversationId: seen.id, fence: seen.fence + 1 };
}

export interface NewConversation {
  readonly lease: ConversationLease;
  readonly agentId: string;
  readonly agentVersion: number;
  readonly environment: Environment;
  readonly userId: string;
  readonly holder: string;
  readonly leaseMs: number;
  readonly at: number;
}

/** A new conversation, with its first turn claimed. Readers see it from its first step on. */
export async function insertClaimedConversation(
  db: Db,
  { lease, ...conversation }: NewConversation,
): Promise<void> {
  await insertConversation(db, { ...conversation, ...lease });
}

const insertConversation = prepareQuery(
  (db, conversation: Omit<NewConversation, 'lease'> & ConversationLease) =>
    db.insertInto('conversations').values({
      id: conversation.conversationId,
      agent_id: conversation.agentId,
      agent_version: conversation.agentVersion,
      environment: conversation.environment,
      user_id: conversation.userId,
      state: 'READY' satisfies ConversationState,
      step_count: 0,
      counters: '{}',
      properties: '{}',
      lease_holder: conversation.holder,
      lease_until: sql<number>`${NOW} + ${conversation.leaseMs}`,
      lease_fence: conversation.fence,
      undone_steps: 0,
      created_at: conversation.at,
      updated_at: conversation.at,
    }),
);

/** The conversation with its latest output, its agent and what is deployed, in one query: a turn asks this once. */
export async function findConversationForTurn(db: Db, id: string): Promise<ConversationForTurn | undefined> {
  const [row] = await selectForTurn(db, { id });
  return (
    row && {
      ...toRecord(row),
      fence: row.lease_fence,
      counters: row.counters,
      lastOutput: row.last_output,
      auditHead: row.audit_head ?? undefined,
      agentRevision: row.revision,
      logged: row.log_id !== null,
    }
  );
}

/** Takes `nextLease(seen)`. False when somebody else was quicker since the conversation was read. */
export async function claimConversation(
  db: Db,
  claim: {
    readonly seen: ConversationForTurn;
    /** The version that goes on with it. */
    readonly agentVersion: number;
    readonly holder: string;
    readonly leaseMs: number;
  },
): Promise<boolean> {
  const { seen, agentVersion, holder, leaseMs } = claim;
  const { id, fence, stepCount } = seen;
  const [row] = await updateClaim(db, { id, fence, stepCount, agentVersion, holder, leaseMs });
  return row !== undefined;
}

const updateClaim = prepareQuery(
  (
    db,
    claim: {
      id: string;
      fence: number;
      stepCount: number;
      agentVersion: number;
      holder: string;
      leaseMs: number;
    },
  ) =>
    db
      .updateTable('conversations')
      .set(eb => ({
        agent_version: claim.agentVersion,
        lease_holder: claim.holder,
        lease_until: sql<number>`${NOW} + ${claim.leaseMs}`,
        lease_fence: eb('lease_fence', '+', 1),
      }))
      .where('id', '=', claim.id)
      .where('lease_fence', '=', claim.fence)
      // A silent holder may have come back and committed meanwhile: the counters that were read would be old.
      .where('step_count', '=', claim.stepCount)
      .where(eb => eb.or([eb('lease_until', 'is', null), eb('lease_until', '<=', NOW)]))
      .returning('id'),
);

/** False when the lease is lost. */
export async function renewConversationLease(
  db: Db,
  lease: ConversationLease,
  leaseMs: number,
): Promise<boolean> {
  const row = await db
    .updateTable('conversations')
    .set({ lease_until: sql<number>`${NOW} + ${sql.lit(leaseMs)}` })
    .where(eb => stillHeldUnder(eb, lease))
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** Ends a turn and gives the lease back. False when the lease is lost: then nothing may be committed. */
export async function finishTurn(db: Db, lease: ConversationLease, result: TurnResult): Promise<boolean> {
  const [row] = await updateFinished(db, { ...lease, ...result });
  return row !== undefined;
}

export interface TurnResult {
  readonly state: ConversationState;
  readonly stepCount: number;
  readonly counters: string;
  readonly properties: string;
  /** Where the chain of its audit entries ends now. */
  readonly auditHead: string | null;
  readonly at: number;
}

const updateFinished = prepareQuery((db, turn: ConversationLease & TurnResult) =>
  db
    .updateTable('conversations')
    .set({
      state: turn.state,
      step_count: turn.stepCount,
      counters: turn.counters,
      properties: turn.properties,
      audit_head: turn.auditHead,
      lease_holder: null,
      lease_until: null,
      undone_steps: 0,
      updated_at: turn.at,
    })
    .where(eb => stillHeldUnder(eb, turn))
    .returning('id'),
);

/**
 * Gives the lease back with nothing done, behind a raised fence: a renewal that is still under way must not take it again.
 * A conversation that has no step yet leaves no trace.
 */
export async function releaseConversation(db: Db, lease: ConversationLease): Promise<void> {
  await freeConversations(db, eb => heldUnder(eb, lease));
}

/** Ends a lease whose time is over for good: whoever held it cannot renew it any more. A live one is left alone. */
export async function breakEndedLease(db: Db, lease: ConversationLease): Promise<void> {
  await freeConversations(db, eb => eb.and([heldUnder(eb, lease), eb('lease_until', '<=', NOW)]));
}

/** Frees what a node held when it went down. The raised fence shuts out whatever of it may still be running. */
export async function releaseConversationsOf(db: Db, holder: string): Promise<void> {
  await freeConversations(db, eb => eb('lease_holder', '=', holder));
}

type Rows = ExpressionBuilder<Schema, 'conversations'>;

function heldUnder(eb: Rows, lease: ConversationLease): Expression<SqlBool> {
  return eb.and([eb('id', '=', lease.conversationId), eb('lease_fence', '=', lease.fence)]);
}

/**
 * Nobody has taken the lease, and its turn has not ended. What a step of an ended turn still does, because nobody can stop it
 * from running, comes too late.
 */
export function stillHeldUnder(eb: Rows, lease: ConversationLease): Expression<SqlBool> {
  return eb.and([heldUnder(eb, lease), eb('lease_holder', 'is not', null)]);
}

async function freeConversations(db: Db, which: (eb: Rows) => Expression<SqlBool>): Promise<void> {
  await db.deleteFrom('conversations').where(which).where(isUnborn).execute();
  await db
    .updateTable('conversations')
    .set(eb => ({ lease_holder: null, lease_until: null, lease_fence: eb('lease_fence', '+', 1) }))
    .where(which)
    .execute();
}

/** Conversations that nothing but this version goes on with, and are neither over nor waiting for a person. */
interface ConversationsOf {
  readonly environment: Environment;
  readonly agentId: string;
  readonly agentVersion: number;
  /** The earliest version whose conversations it goes on with. */
  readonly since: number;
}

function activeWith(eb: Rows, of: ConversationsOf): Expression<SqlBool> {
  const { environment, agentId, agentVersion, since } = of;
  const others = eb
    .selectFrom('deployments')
    .select('deployments.agent_version')
    .where('deployments.environment', '=', environment)
    .where('deployments.agent_id', '=', agentId)
    .where('deployments.agent_version', '<>', agentVersion)
    .where(other =>
      other.or([
        other('deployments.agent_version', '=', other.ref('conversations.agent_version')),
        other.and([
          other('deployments.agent_version', '>', other.ref('conversations.agent_version')),
          other('deployments.compatible_from', '<=', other.ref('conversations.agent_version')),
        ]),
      ]),
    );
  return eb.and([
    eb('agent_id', '=', agentId),
    eb('agent_version', '>=', since),
    eb('agent_version', '<=', agentVersion),
    eb('environment', '=', environment),
    // Named one by one, which an index can be searched with.
    eb('state', 'in', [
      'READY',
      'ERROR',
      'IN_PROGRESS',
      'EXECUTION_INTERRUPTED',
    ] satisfies ConversationState[]),
    eb.not(eb.exists(others)),
  ]);
}

export async function hasActiveConversations(db: Db, which: ConversationsOf): Promise<boolean> {
  const row = await db
    .selectFrom('conversations')
    .select('id')
    .where(eb => activeWith(eb, which))
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Is the turn of one of them at work in the world? What it has done has to be recorded before it can end. */
export async function hasTurnsAtWork(db: Db, which: ConversationsOf): Promise<boolean> {
  const row = await db
    .selectFrom('conversations')
    .select('id')
    .where(eb => activeWith(eb, which))
    .where('state', '=', 'IN_PROGRESS' satisfies ConversationState)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Ends those that are not at work, behind a raised fence: a turn that runs is cancelled and cannot be stored any more. False when there
 * may be more.
 */
export async function endActiveConversations(db: Db, which: ConversationsOf, at: number): Promise<boolean> {
  const endable = (eb: Rows) =>
    eb.and([activeWith(eb, which), eb('state', '<>', 'IN_PROGRESS' satisfies ConversationState)]);
  const found = await db
    .selectFrom('conversations')
    .select(['id', 'lease_fence', 'lease_until', NOW.as('now')])
    .where(endable)
    .limit(RETIRE_AT_ONCE)
    .execute();
  if (found.length === 0) return true;
  const ids = found.map(({ id }) => id);
  const these = (eb: Rows) => eb.and([eb('id', 'in', ids), endable(eb)]);
  await freeConversations(db, these);
  await db
    .updateTable('conversations')
    .set({ state: 'ENDED' satisfies ConversationState, updated_at: at })
    .where(these)
    .execute();
  for (const { id, lease_fence: fence, lease_until: until, now } of found) {
    if (until !== null && until > now) publish(db, { kind: 'turn-cancelled', conversationId: id, fence });
  }
  return found.length < RETIRE_AT_ONCE;
}

/** It takes no more messages. False while a turn runs in it, or waits. */
export async function endConversation(db: Db, id: string, at: number): Promise<boolean> {
  const row = await db
    .updateTable('conversations')
    .set(eb => ({
      state: 'ENDED' satisfies ConversationState,
      lease_holder: null,
      lease_until: null,
      lease_fence: eb('lease_fence', '+', 1),
      updated_at: at,
    }))
    .where('id', '=', id)
    .where('state', 'not in', ['AWAITING_HUMAN', 'IN_PROGRESS'])
    .where(eb => eb.or([eb('lease_until', 'is', null), eb('lease_until', '<=', NOW)]))
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** Conversations whose first turn was claimed and never finished. */
export async function deleteUnbornConversations(db: Db): Promise<void> {
  await db
    .deleteFrom('conversations')
    .where('lease_holder', 'is not', null)
    .where('lease_until', '<=', NOW)
    .where(isUnborn)
    .execute();
}

/** Nothing of it was stored, and its turn has done nothing that would have to be gone on with. */
function isUnborn(eb: Rows): Expression<SqlBool> {
  return eb.and([eb('step_count', '=', 0), eb('state', '<>', 'IN_PROGRESS' satisfies ConversationState)]);
}

/** So few that no turn waits long for a part, also where all work is done on one thread. */
const RETIRE_AT_ONCE = 100;

/** Ends conversations whose last turn is older than this. False when there may be more. */
export async function endIdleConversations(db: Db, before: number): Promise<boolean> {
  const result = await db
    .updateTable('conversations')
    .set({ state: 'ENDED' satisfies ConversationState })
    .where('id', 'in', eb => oldOnes(eb.selectFrom('conversations'), ['READY', 'ERROR'], before))
    .where(isOld(['READY', 'ERROR'], before))
    .executeTakeFirst();
  return Number(result.numUpdatedRows) < RETIRE_AT_ONCE;
}

/**
 * Deletes conversations that have ended and whose last turn is older than this. False when there may be more. Their audit entries
 * stay, and it stays known where the chains of these end.
 */
export async function deleteEndedConversations(db: Db, before: number): Promise<boolean> {
  const deleted = await db
    .deleteFrom('conversations')
    .where('id', 'in', eb =>
      oldOnes(eb.selectFrom('conversations'), ['ENDED', 'EXECUTION_INTERRUPTED'], before),
    )
    .where(isOld(['ENDED', 'EXECUTION_INTERRUPTED'], before))
    .returning(['id', 'audit_head'])
    .execute();
  await keepAuditHeads(db, deleted);
  return deleted.length < RETIRE_AT_ONCE;
}

function oldOnes(
  query: SelectQueryBuilder<Schema, 'conversations', object>,
  states: readonly ConversationState[],
  before: number,
) {
  return (
    query
      .select('conversations.id')
      // Agent by agent, as the index has them; the row of an agent outlives it.
      .where('agent_id', 'in', eb => eb.selectFrom('agents').select('agents.id'))
      .where(isOld(states, before))
      .limit(RETIRE_AT_ONCE)
  );
}

/** Asked again of each row that is changed: somebody may have gone on with it since it was found. */
function isOld(states: readonly ConversationState[], before: number) {
  return (eb: Rows): Expression<SqlBool> =>
    eb.and([
      eb('state', 'in', states),
      eb('updated_at', '<', before),
      eb.or([eb('lease_until', 'is', null), eb('lease_until', '<=', NOW)]),
    ]);
}

export async function findConversation(db: Db, id: string): Promise<ConversationRecord | undefined> {
  const row = await db
    .selectFrom('conversations')
    .select(CONVERSATION_COLUMNS)
    .select(NOW.as('now'))
    .where('id', '=', id)
    .where('step_count', '>', 0)
    .executeTakeFirst();
  return row && toRecord(row);
}

/** Moves a conversation on that nobody holds. Nothing happens to one in another state. */
export async function setConversationState(
  db: Db,
  id: string,
  change: { readonly from: ConversationState; readonly to: ConversationState },
): Promise<void> {
  await db
    .updateTable('conversations')
    .set({ state: change.to })
    .where('id', '=', id)
    .where('state', '=', change.from)
    .execute();
}

/** Has the turn that holds the conversation ended on whichever node it runs. False when none holds it. */
export async function cancelLeasedTurn(db: Db, conversationId: string): Promise<boolean> {
  const row = await db
    .selectFrom('conversations')
    .select('lease_fence')
    .where('id', '=', conversationId)
    .where('lease_until', '>', NOW)
    .executeTakeFirst();
  if (row) publish(db, { kind: 'turn-cancelled', conversationId, fence: row.lease_fence });
  return row !== undefined;
}

/** What a conversation remembers from turn to turn. */
export interface ConversationMemoryRow extends ConversationRecord {
  readonly fence: number;
  /** JSON, as `finishTurn` wrote it. */
  readonly counters: string;
}

export async function findConversationMemory(db: Db, id: string): Promise<ConversationMemoryRow | undefined> {
  const row = await db
    .selectFrom('conversations')
    .select(CONVERSATION_COLUMNS)
    .select(['counters', 'lease_fence', NOW.as('now')])
    .where('id', '=', id)
    .where('step_count', '>', 0)
    .executeTakeFirst();
  return row && { ...toRecord(row), fence: row.lease_fence, counters: row.counters };
}

/** Puts a conversation back or forth that nobody holds and that waits for nobody. False when it is not at rest as it was seen. */
export async function moveConversation(
  db: Db,
  seen: Pick<ConversationMemoryRow, 'id' | 'fence'>,
  to: {
    readonly stepCount: number;
    readonly undoneSteps: number;
    readonly counters: string;
    readonly properties: string;
    readonly ended: boolean;
  },
): Promise<boolean> {
  const row = await db
    .updateTable('conversations')
    .set(eb => ({
      state: (to.ended ? 'ENDED' : 'READY') satisfies ConversationState,
      step_count: to.stepCount,
      undone_steps: to.undoneSteps,
      counters: to.counters,
      properties: to.properties,
      // A claim that has seen it before must not go on from there.
      lease_fence: eb('lease_fence', '+', 1),
    }))
    .where('id', '=', seen.id)
    .where('lease_fence', '=', seen.fence)
    .where('state', 'in', ['READY', 'ERROR', 'ENDED'] satisfies ConversationState[])
    .where(eb => eb.or([eb('lease_until', 'is', null), eb('lease_until', '<=', NOW)]))
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** `STARTING` while its first turn is under way and nobody can read it; `undefined` when there is none of that id. */
export async function findConversationState(
  db: Db,
  id: string,
): Promise<ConversationState | 'STARTING' | undefined> {
  const row = await db
    .selectFrom('conversations')
    .select(['state', 'step_count', 'lease_until', NOW.as('now')])
    .where('id', '=', id)
    .executeTakeFirst();
  if (!row) return undefined;
  if (row.step_count > 0) return row.state as ConversationState;
  // A first turn whose node went down leaves a row that nobody will read.
  return row.lease_until !== null && row.lease_until > row.now ? 'STARTING' : undefined;
}

/** Latest first. */
export async function listConversations(
  db: Db,
  filter: ConversationFilter,
): Promise<DescribedConversation[]> {
  const { scope, state, limit } = filter;
  if (scope.kind === 'owned' || state !== undefined) {
    return listSome(db, filter, isShownAs(state, filter.agentId), limit);
  }
  // The index has an agent's conversations state by state: another one by time alone would be written by every turn.
  const lists = [];
  for (const stored of CONVERSATION_STATES) {
    lists.push(await listSome(db, filter, eb => eb('conversations.state', '=', stored), limit));
  }
  const isLater = (one: DescribedConversation, other: DescribedConversation) =>
    other.updatedAt - one.updatedAt || (one.id < other.id ? -1 : 1);
  return lists.flat().toSorted(isLater).slice(0, limit);
}

export interface ConversationFilter {
  readonly agentId: string;
  readonly scope: Scope;
  readonly agentVersion?: number | undefined;
  /** As readers are shown it. */
  readonly state?: ConversationState | undefined;
  readonly limit: number;
}

/** A leased conversation is shown as being in progress, whatever its stored state. */
function isShownAs(state: ConversationState | undefined, agentId: string): (eb: Rows) => Expression<SqlBool> {
  if (state === undefined) return eb => eb.lit(true);
  if (state === 'IN_PROGRESS') {
    // Each half has an index of few rows, which an `or` would not be searched with.
    return eb =>
      eb(
        'conversations.id',
        'in',
        eb
          .selectFrom('conversations as leased')
          .select('leased.id')
          .where('leased.lease_holder', 'is not', null)
          .where('leased.lease_until', '>', NOW)
          .union(
            eb
              .selectFrom('conversations as begun')
              .select('begun.id')
              .where('begun.agent_id', '=', agentId)
              .where('begun.state', '=', state),
          ),
      );
  }
  return eb =>
    eb.and([
      eb('conversations.state', '=', state),
      eb.or([eb('conversations.lease_until', 'is', null), eb('conversations.lease_until', '<=', NOW)]),
    ]);
}

async function listSome(
  db: Db,
  { agentId, agentVersion, scope, state }: ConversationFilter,
  which: (eb: Rows) => Expression<SqlBool>,
  limit: number,
): Promise<DescribedConversation[]> {
  // SQLite believes that an agent has few conversations, and would read all of them instead of the few that run.
  const agent =
    state === 'IN_PROGRESS' ? sql`conversations.agent_id || ''` : sql.ref('conversations.agent_id');
  const rows = await db
    .selectFrom('conversations')
    .leftJoin('documents', join =>
      join.onRef('documents.id', '=', 'conversations.agent_id').on('documents.type', '=', 'agent'),
    )
    .select(CONVERSATION_COLUMNS)
    .select(['documents.name as agent_name', NOW.as('now')])
    .where(agent, '=', agentId)
    .where('conversations.step_count', '>', 0)
    .where(eb => which(eb as unknown as Rows))
    .$if(scope.kind === 'owned', query =>
      query.where('conversations.user_id', '=', scope.kind === 'owned' ? scope.ownerId : ''),
    )
    .$if(agentVersion !== undefined, query => query.where('conversations.agent_version', '=', agentVersion!))
    .orderBy('conversations.updated_at', 'desc')
    .orderBy('conversations.id')
    .limit(limit)
    .execute();
  return rows.map(row => ({ ...toRecord(row), agentName: row.agent_name ?? agentId }));
}

const CONVERSATION_COLUMNS = [
  'conversations.id',
  'conversations.agent_id',
  'conversations.agent_version',
  'conversations.environment',
  'conversations.user_id',
  'conversations.state',
  'conversations.lease_until',
  'conversations.step_count',
  'conversations.undone_steps',
  'conversations.properties',
  'conversations.created_at',
  'conversations.updated_at',
] as const;

type ConversationRow = Omit<
  Schema['conversations'],
  'counters' | 'lease_holder' | 'lease_fence' | 'audit_head'
> & {
  readonly now: number;
};

const selectForTurn = prepareQuery((db, { id }: { id: string }) =>
  db
    .selectFrom('conversations')
    .innerJoin('agents', 'agents.id', 'conversations.agent_id')
    .leftJoin('message_logs', 'message_logs.id', 'conversations.id')
    .select(CONVERSATION_COLUMNS)
    // No join: PostgreSQL would read every step of the conversation, because most conversations have few.
    .select(eb =>
      eb
        .selectFrom('conversation_steps')
        .select('conversation_steps.output')
        .whereRef('conversation_steps.conversation_id', '=', 'conversations.id')
        .where('conversation_steps.step_index', '=', eb('conversations.step_count', '-', 1))
        .as('last_output'),
    )
    .$narrowType<{ last_output: NotNull }>()
    .select([
      'message_logs.id as log_id',
      'conversations.counters',
      'conversations.lease_fence',
      'conversations.audit_head',
      'agents.revision',
      NOW.as('now'),
    ])
    .where('conversations.id', '=', id)
    .where('conversations.step_count', '>', 0),
);

function toRecord(row: ConversationRow): ConversationRecord {
  return {
    id: row.id,
    agentId: row.agent_id,
    agentVersion: row.agent_version,
    environment: row.environment as Environment,
    userId: row.user_id,
    state: row.state as ConversationState,
    leased: row.lease_until !== null && row.lease_until > row.now,
    stepCount: row.step_count,
    undoneSteps: row.undone_steps,
    properties: JSON.parse(row.properties) as Record<string, unknown>,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
