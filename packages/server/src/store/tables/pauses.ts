import type { Expression, ExpressionBuilder, SqlBool } from 'kysely';
import type { Scope } from '../../kernel/access.ts';
import { publish } from '../events.ts';
import type { Schema } from '../schema.ts';
import type { Db } from '../store.ts';

/** What kind of wait it is (architecture, section 5). Each has its own authority and way of going on; the table is one. */
export type PauseKind = 'RULE' | 'TOOL_CALL' | 'SIGN_IN';
export type PauseState = 'open' | 'answered' | 'expired' | 'cancelled';
export type TimeoutPolicy = 'AUTO_APPROVE' | 'AUTO_REJECT' | 'ABORT' | 'WAIT_INDEFINITELY';
export type Verdict = 'APPROVED' | 'REJECTED';

/** A turn that waits for a person, or waited. */
export interface Pause {
  readonly id: string;
  readonly kind: PauseKind;
  readonly conversationId: string;
  readonly agentId: string;
  /** Owner of the conversation. */
  readonly userId: string;
  readonly state: PauseState;
  readonly reason: string;
  readonly timeoutPolicy: TimeoutPolicy;
  /** ISO 8601; empty when it waits without end. */
  readonly approvalTimeout: string;
  readonly openedAt: number;
  /** What is asked, besides the reason, as plain JSON: its kind says what it holds. */
  readonly request: unknown;
  /** What is done when it is approved, as it was when it was asked, as plain JSON. Not there in lists, and once it is decided. */
  readonly frozen?: unknown;
  readonly decision: Decision | undefined;
}

export interface Decision {
  readonly verdict: Verdict | undefined;
  readonly note: string | undefined;
  /** `<user>`, `mcp:<user>` or `system:timeout`. */
  readonly decidedBy: string;
  readonly decidedAt: number;
  /** What was decided besides, as plain JSON. */
  readonly answer?: unknown;
}

/** What is known of a pause when it begins. */
export type NewPause = Omit<Pause, 'state' | 'decision'>;

export async function insertPause(db: Db, pause: NewPause): Promise<void> {
  await db
    .insertInto('pauses')
    .values({
      id: pause.id,
      kind: pause.kind,
      conversation_id: pause.conversationId,
      agent_id: pause.agentId,
      user_id: pause.userId,
      state: 'open' satisfies PauseState,
      reason: pause.reason,
      timeout_policy: pause.timeoutPolicy,
      approval_timeout: pause.approvalTimeout,
      opened_at: pause.openedAt,
      verdict: null,
      note: null,
      decided_by: null,
      decided_at: null,
      request: jsonOf(pause.request),
      frozen: jsonOf(pause.frozen),
      answer: null,
    })
    .execute();
}

export async function findPause(db: Db, id: string): Promise<Pause | undefined> {
  const row = await db.selectFrom('pauses').selectAll().where('id', '=', id).executeTakeFirst();
  return row && toPause(row);
}

/** Not by its state: the indexes hold those that nobody has decided, among any number that are over. */
function isOpen(eb: ExpressionBuilder<Schema, 'pauses'>): Expression<SqlBool> {
  return eb('decided_at', 'is', null);
}

/** What the conversation waits for. */
export async function findOpenPause(db: Db, conversationId: string): Promise<Pause | undefined> {
  const row = await db
    .selectFrom('pauses')
    .selectAll()
    .where('conversation_id', '=', conversationId)
    .where(isOpen)
    .executeTakeFirst();
  return row && toPause(row);
}

/** Ends a pause that is open. Of several at once exactly one is true. */
export async function closePause(
  db: Db,
  id: string,
  state: Exclude<PauseState, 'open'>,
  decision: Decision,
): Promise<boolean> {
  const row = await db
    .updateTable('pauses')
    .set({
      state,
      verdict: decision.verdict ?? null,
      note: decision.note ?? null,
      decided_by: decision.decidedBy,
      decided_at: decision.decidedAt,
      answer: jsonOf(decision.answer),
      frozen: null,
    })
    .where('id', '=', id)
    .where('state', '=', 'open' satisfies PauseState)
    .returning('id')
    .executeTakeFirst();
  if (row) publish(db, { kind: 'pause-decided', pauseId: id });
  return row !== undefined;
}

/** How many turns wait for a person. */
export async function countOpenPauses(db: Db): Promise<number> {
  const { count } = await db
    .selectFrom('pauses')
    .select(eb => eb.fn.countAll<number | string>().as('count'))
    .where(isOpen)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Those of these kinds that wait longest first. */
export async function listOpenPauses<Kind extends PauseKind>(
  db: Db,
  options: { readonly kinds: readonly Kind[]; readonly scope: Scope; readonly limit: number },
): Promise<(Pause & { readonly kind: Kind })[]> {
  const { kinds, scope, limit } = options;
  const rows = await db
    .selectFrom('pauses')
    .select(LISTED)
    .where(isOpen)
    .where('kind', 'in', kinds)
    .$if(scope.kind === 'owned', query =>
      query.where('user_id', '=', scope.kind === 'owned' ? scope.ownerId : ''),
    )
    .orderBy('opened_at')
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(row => ({ ...toPause(row), kind: row.kind as Kind }));
}

/** Those that wait for somebody to sign in: a page of those that wait longest. */
export async function listOpenSignIns(
  db: Db,
  options: {
    /** Of this person only. */
    readonly userId: string | undefined;
    /** Behind this one. */
    readonly after: Pick<Pause, 'openedAt' | 'id'>;
    readonly limit: number;
  },
): Promise<Pause[]> {
  const { userId, after, limit } = options;
  const rows = await db
    .selectFrom('pauses')
    .select(LISTED)
    .where(isOpen)
    .where('kind', '=', 'SIGN_IN' satisfies PauseKind)
    .where('opened_at', '>=', after.openedAt)
    .where(eb => eb.or([eb('opened_at', '>', after.openedAt), eb('id', '>', after.id)]))
    .$if(userId !== undefined, query => query.where('user_id', '=', userId!))
    .orderBy('opened_at')
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(toPause);
}

/** Without what may be long. */
const LISTED = [
  ...(['id', 'kind', 'conversation_id', 'agent_id', 'user_id', 'state', 'reason'] as const),
  ...(['timeout_policy', 'approval_timeout', 'opened_at', 'request'] as const),
  ...(['verdict', 'note', 'decided_by', 'decided_at', 'answer'] as const),
] as const;

/** What people have written for the rest of a turn, which has ended: it may hold secrets. */
export async function forgetAnswers(db: Db, conversationId: string): Promise<void> {
  await db
    .updateTable('pauses')
    .set({ answer: null })
    .where('conversation_id', '=', conversationId)
    .where('answer', 'is not', null)
    .execute();
}

function jsonOf(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

function toPause(row: Omit<Schema['pauses'], 'frozen'> & Partial<Pick<Schema['pauses'], 'frozen'>>): Pause {
  return {
    id: row.id,
    kind: row.kind as PauseKind,
    conversationId: row.conversation_id,
    agentId: row.agent_id,
    userId: row.user_id,
    state: row.state as PauseState,
    reason: row.reason,
    timeoutPolicy: row.timeout_policy as TimeoutPolicy,
    approvalTimeout: row.approval_timeout,
    openedAt: row.opened_at,
    request: row.request === null ? undefined : (JSON.parse(row.request) as unknown),
    ...(row.frozen && { frozen: JSON.parse(row.frozen) as unknown }),
    decision:
      row.decided_by === null
        ? undefined
        : {
            verdict: (row.verdict as Verdict | null) ?? undefined,
            note: row.note ?? undefined,
            decidedBy: row.decided_by,
            decidedAt: row.decided_at!,
            ...(row.answer !== null && { answer: JSON.parse(row.answer) as unknown }),
          },
  };
}
