import type { Environment } from '@patchbay/contract/environments';
import { type Access, mayUseAgent, mayUseConversation } from '../../kernel/access.ts';
import type { CallerToken } from '../../kernel/caller-token.ts';
import { sha256OfJson } from '../../kernel/digest.ts';
import { PlatformError } from '../../kernel/errors.ts';
import { newConversationId } from '../../kernel/ids.ts';
import type { Principal } from '../../kernel/principal.ts';
import { granted, type Outcome, refused } from '../../kernel/result.ts';
import type { Db } from '../../store/store.ts';
import { findAgentRevision } from '../../store/tables/agent-revisions.ts';
import type { AgentSituation } from '../../store/tables/agent-situations.ts';
import {
  type ConversationForTurn,
  type ConversationLease,
  claimConversation,
  findConversationForTurn,
  firstLease,
  insertClaimedConversation,
  nextLease,
} from '../../store/tables/conversations.ts';
import type { JournaledEffect } from '../../store/tables/effects.ts';
import {
  claimIdempotencyKey,
  freeIdempotencyKey,
  type KeyClaim,
  type KeyOfCall,
} from '../../store/tables/idempotency-keys.ts';
import { type Decision, findOpenPause } from '../../store/tables/pauses.ts';
import { waitsFor } from '../pause/tool-calls.ts';
import type { Attachment } from '../step/step.ts';
import { followingVersion, latestVersion } from './agent-situations.ts';
import type { TurnCheckpoint } from './checkpoint.ts';
import { checkConversationFiles } from './conversation-files.ts';
import { LEASE_MS } from './keep-lease.ts';
import { busy, notActive, paused, type TurnRefusal } from './refusal.ts';
import type { FailedAnswer, TurnAnswer } from './turn-answer.ts';
import type { TurnParts } from './turns.ts';

/** One message for an agent, or the start of a conversation. */
export interface TurnRequest {
  readonly principal: Principal;
  /** Whose agents and conversations the caller may reach. */
  readonly access: Access;
  readonly agentId: string;
  /** Without one a conversation is started, with its greeting. */
  readonly conversationId?: string | undefined;
  /** Whose a new conversation is; the caller's when left out. */
  readonly ownerId?: string | undefined;
  /** Belongs to the unit that starts a conversation: what it throws leaves no conversation, and rejects the admission. */
  readonly onStarted?: ((db: Db, conversationId: string) => Promise<void>) | undefined;
  /** Where a new conversation looks for its agent. A conversation that exists keeps its own (E-19). */
  readonly environment?: Environment | undefined;
  /** What the person says. May only be left out where a conversation is started. */
  readonly input?: string | undefined;
  /** Values for the agent besides the message; see `readCallerContext`. */
  readonly context?: Readonly<Record<string, unknown>> | undefined;
  /** Files of the caller's that come with the message; whoever asks has checked them. */
  readonly attachments?: readonly Attachment[] | undefined;
  /** The message in the background that is answered by this turn. */
  readonly delivery?: string | undefined;
  /** Of a conversation that starts: it has a log of what is said, which `onStarted` makes. */
  readonly logged?: boolean | undefined;
  /** A repeat of the call with the same key gets the first answer again (B-66). */
  readonly idempotencyKey?: string | undefined;
}

/** What a claimed turn needs to run. */
export interface TurnClaim {
  readonly lease: ConversationLease;
  /** In flight while the lease is. */
  readonly key: KeyOfCall | undefined;
  readonly agentId: string;
  readonly agentVersion: number;
  readonly environment: Environment;
  /** Owner of the conversation. */
  readonly userId: string;
  /** The conversation as it was found; `undefined` for one that starts with this turn. */
  readonly found: ConversationForTurn | undefined;
  /** Where the chain of the conversation's audit entries ends; `undefined` before the first. */
  readonly auditHead: string | undefined;
  /** Set for a turn that goes on: it was cut off, or has waited. */
  readonly resumed?: ResumedTurn;
  /** Of the owner of the conversation, while it is their own request that drives the turn: one that is taken up has none (E-90). */
  readonly callerToken?: CallerToken | undefined;
}

export interface ResumedTurn {
  readonly checkpoint: TurnCheckpoint;
  /** Of the runs before this one. */
  readonly effects: readonly JournaledEffect[];
  /** What the turn waited for, if it did. */
  readonly decision: Decision | undefined;
}

/** Whether a turn may run; all that can refuse it has been asked. */
export type Admission<Turn> =
  | { readonly kind: 'claimed'; readonly turn: Turn }
  /** The call was answered before: the stored answer, and nothing runs. */
  | { readonly kind: 'replay'; readonly answer: TurnAnswer }
  | { readonly kind: 'refused'; readonly refusal: TurnRefusal };

const MAX_IDEMPOTENCY_KEY = 255;

/** Refuses what no conversation could take, before anything is touched. Throws a `PlatformError`. */
export function checkRequest(request: TurnRequest, maxInputChars: number): void {
  const { input, idempotencyKey, conversationId } = request;
  if (input === undefined && conversationId !== undefined) {
    throw new PlatformError('invalid', 'message: is missing; say something to the agent.');
  }
  if (input !== undefined) {
    if (input.trim() === '')
      throw new PlatformError('invalid', 'message: is empty; say something to the agent.');
    if (input.length > maxInputChars) {
      throw new PlatformError(
        'invalid',
        `message: has ${input.length} characters, ${maxInputChars} are allowed; send it in parts.`,
      );
    }
    if (input.includes('\0')) {
      throw new PlatformError('invalid', 'message: contains the character U+0000; leave it out.');
    }
  }
  if (idempotencyKey !== undefined) {
    if (
      idempotencyKey === '' ||
      idempotencyKey.length > MAX_IDEMPOTENCY_KEY ||
      idempotencyKey.includes('\0')
    ) {
      throw new PlatformError(
        'invalid',
        `idempotency_key: must be 1 to ${MAX_IDEMPOTENCY_KEY} characters without U+0000.`,
      );
    }
  }
}

/**
 * Decides about a turn and claims it: conversation, lease and idempotency key together or none of them.
 * Runs inside one short unit.
 */
export async function admitTurn(
  db: Db,
  deps: TurnParts,
  request: TurnRequest,
): Promise<Admission<TurnClaim>> {
  const found = await findTarget(db, deps, request);
  if (!found.ok) return { kind: 'refused', refusal: found.refusal };
  const target = found.value;
  const { lease } = target;

  const key = keyOf(request);
  if (key) {
    const claim = await claimIdempotencyKey(db, {
      ...key,
      digest: digestOf(request),
      lease,
      lifeMs: deps.idempotencyHours * 3_600_000,
    });
    if (claim.kind !== 'claimed') return answerHeldKey(claim);
  }

  if (target.kind === 'existing')
    await checkConversationFiles(db, target.conversation.id, request.attachments ?? []);
  const claimed = await claimTarget(db, deps, request, target);
  if (claimed.ok) {
    const { principal } = request;
    const callerToken = principal.id === claimed.value.userId ? principal.token : undefined;
    return { kind: 'claimed', turn: { ...claimed.value, lease, key, callerToken } };
  }
  if (key) await freeIdempotencyKey(db, key, lease);
  return { kind: 'refused', refusal: claimed.refusal };
}

/** Where a turn goes, and the lease it has once it is claimed. */
type Target =
  | {
      readonly kind: 'existing';
      readonly lease: ConversationLease;
      readonly conversation: ConversationForTurn;
      readonly agent: AgentSituation;
    }
  | {
      readonly kind: 'new';
      readonly lease: ConversationLease;
      readonly environment: Environment;
      readonly agent: AgentSituation;
    };

/** What the turn is for, as far as this caller may know of it. */
async function findTarget(
  db: Db,
  { situations }: TurnParts,
  request: TurnRequest,
): Promise<Outcome<Target, TurnRefusal>> {
  const { principal, access, agentId, conversationId } = request;
  if (conversationId === undefined) {
    const environment = request.environment ?? 'production';
    const revision = await findAgentRevision(db, agentId);
    const agent = revision === undefined ? undefined : await situations.read(db, agentId, revision);
    if (!agent || !mayUseAgent(principal, access, agent))
      return refused({ reason: 'agent_unknown', agentId });
    const lease = firstLease(newConversationId());
    return granted({ kind: 'new', lease, environment, agent });
  }
  const conversation = await findConversationForTurn(db, conversationId);
  const agent = conversation && (await situations.read(db, conversation.agentId, conversation.agentRevision));
  if (!agent) return refused({ reason: 'unknown_conversation', why: 'missing' });
  if (!mayUseConversation(principal, access, conversation)) {
    return refused({ reason: 'unknown_conversation', why: 'foreign' });
  }
  if (conversation.agentId !== agentId)
    return refused({ reason: 'unknown_conversation', why: 'other_agent' });
  if (!mayUseAgent(principal, access, agent)) {
    return refused({ reason: 'agent_unknown', agentId });
  }
  return granted({ kind: 'existing', lease: nextLease(conversation), conversation, agent });
}

async function claimTarget(
  db: Db,
  deps: TurnParts,
  request: TurnRequest,
  target: Target,
): Promise<Outcome<Omit<TurnClaim, 'lease' | 'key'>, TurnRefusal>> {
  const { agentId } = request;
  const { nodeId, clock, deployments } = deps;
  const { environment } = target.kind === 'new' ? target : target.conversation;
  const deployedVersion = latestVersion(target.agent, environment);
  if (deployedVersion === undefined) {
    return refused({ reason: 'agent_unavailable', agentId, why: 'not_deployed', environment });
  }
  // A running conversation keeps the version it began with, also after another one is deployed that is not compatible.
  const agentVersion =
    target.kind === 'new' ? deployedVersion : followingVersion(target.agent, target.conversation);
  if (deployments.isBroken(agentId, agentVersion)) {
    return refused({ reason: 'agent_unavailable', agentId, why: 'error', environment });
  }

  if (target.kind === 'new') {
    const { lease } = target;
    const userId = request.ownerId ?? request.principal.id;
    await insertClaimedConversation(db, {
      lease,
      agentId,
      agentVersion,
      environment,
      userId,
      holder: nodeId,
      leaseMs: LEASE_MS,
      at: clock.now(),
    });
    await request.onStarted?.(db, lease.conversationId);
    return granted({ agentId, agentVersion, environment, userId, found: undefined, auditHead: undefined });
  }

  const seen = target.conversation;
  if (seen.leased || seen.state === 'IN_PROGRESS') return refused(busy(seen.id));
  if (seen.state === 'AWAITING_HUMAN') {
    const pause = await findOpenPause(db, seen.id);
    return refused(pause ? paused(seen.id, agentId, waitsFor(pause)) : busy(seen.id));
  }
  if (seen.state !== 'READY' && seen.state !== 'ERROR') return refused(notActive(seen.id, seen.state));
  if (!(await claimConversation(db, { seen, agentVersion, holder: nodeId, leaseMs: LEASE_MS })))
    return refused(busy(seen.id));
  const { userId } = seen;
  return granted({ agentId, agentVersion, environment, userId, found: seen, auditHead: seen.auditHead });
}

function keyOf({ principal, agentId, idempotencyKey }: TurnRequest): KeyOfCall | undefined {
  return idempotencyKey === undefined
    ? undefined
    : { principalId: principal.id, agentId, key: idempotencyKey };
}

function answerHeldKey(claim: Exclude<KeyClaim, { kind: 'claimed' }>): Admission<never> {
  switch (claim.kind) {
    case 'answered': {
      const kept = claim.answer as TurnAnswer | FailedAnswer;
      return 'failed' in kept
        ? { kind: 'refused', refusal: { reason: 'key_failed', ...kept.failed } }
        : { kind: 'replay', answer: kept };
    }
    case 'in-flight':
      return { kind: 'refused', refusal: { reason: 'key_in_flight' } };
    case 'other-arguments':
      return { kind: 'refused', refusal: { reason: 'key_other_arguments' } };
  }
}

function digestOf({ conversationId, environment, input, context, attachments }: TurnRequest): string {
  return sha256OfJson({
    ...(attachments?.length && { attachments: attachments.map(({ fileId }) => fileId) }),
    conversationId: conversationId ?? null,
    environment: environment ?? null,
    input: input ?? null,
    context: context ?? {},
  });
}
