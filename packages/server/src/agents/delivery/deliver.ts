import type { Clock } from '../../kernel/clock.ts';
import { PlatformError, toPlatformError } from '../../kernel/errors.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { JobResult } from '../../store/jobs.ts';
import type { Db, Store } from '../../store/store.ts';
import {
  type Delivery,
  findDelivery,
  findNextDelivery,
  startDelivery,
} from '../../store/tables/deliveries.ts';
import { appendMessages } from '../../store/tables/message-logs.ts';
import { findPerson } from '../../store/tables/users.ts';
import { type AgentCalls, callRefused } from '../call/agent-calls.ts';
import type { TurnRefusal } from '../turn/refusal.ts';
import type { ClaimedTurn } from '../turn/turns.ts';
import { endStateOf } from './delivery-state.ts';
import { endWithAnswer, endWithError, statusMessage, TOO_LATE, wireError } from './end-delivery.ts';

/** What has to wait is tried again later each time: it may wait for a person. */
const AGAIN_MS = { least: 200, most: 10_000 };
/** Refusals that are over soon. */
const PASSING = new Set<TurnRefusal['reason']>(['busy', 'paused', 'key_in_flight', 'stopping']);

/**
 * Works on a delivery, at least once: its turn has the delivery's own idempotency key, ends the delivery in its own commit, and a
 * delivery that has ended is done. Resolves with `againInMs` while it has to wait for its conversation.
 */
export function createDeliver(deps: {
  readonly store: Store;
  readonly clock: Clock;
  readonly calls: AgentCalls;
  readonly logger?: Logger | undefined;
}): (deliveryId: string, isLastTry: boolean) => Promise<JobResult> {
  const { store, clock, calls, logger } = deps;

  async function refuse(delivery: Delivery, error: PlatformError): Promise<void> {
    const ending = { state: endStateOf(error.kind), error: wireError(error) };
    await store.commit(db => endWithError(db, delivery, ending, clock.now()));
  }

  /** Answers when to try again, if at all. */
  async function run(delivery: Delivery, turn: ClaimedTurn): Promise<JobResult> {
    const begun = await store
      .commit(async db => {
        const start = { conversationId: turn.conversationId, at: clock.now() };
        if (!(await startDelivery(db, delivery.id, start))) return false;
        if (delivery.startedAt === undefined) {
          await appendMessages(
            db,
            delivery.logId,
            statusMessage({ ...delivery, state: 'running' }, start.at),
          );
        }
        return true;
      })
      .catch(async thrown => {
        await turn.release();
        throw thrown;
      });
    if (!begun) {
      await turn.release();
      return;
    }
    try {
      await turn.run({
        signal: new AbortController().signal,
        timeLimitMs: Math.max(1, delivery.deadlineAt - clock.now()),
      });
      return;
    } catch (thrown) {
      // What is no word to a caller is ours, and the job is tried again.
      if (!(thrown instanceof PlatformError)) throw thrown;
      if (thrown.kind === 'unavailable') return later(delivery);
      await refuse(delivery, thrown);
      return;
    }
  }

  /** Another turn has the conversation, or this node is about to stop. */
  function later({ createdAt }: Delivery): JobResult {
    const waited = clock.now() - createdAt;
    return { againInMs: Math.min(AGAIN_MS.most, Math.max(AGAIN_MS.least, Math.floor(waited / 5))) };
  }

  return async (deliveryId, isLastTry) => {
    const delivery = await findDelivery(store.db, deliveryId);
    if (!delivery) return;
    try {
      return await deliver(delivery);
    } catch (error) {
      if (!isLastTry) throw error;
      logger?.error('A message in the background was given up', { id: deliveryId, error });
      await refuse(delivery, toPlatformError(error, 'The message'));
    }
  };

  async function deliver(delivery: Delivery): Promise<JobResult> {
    if (delivery.endedAt !== undefined || delivery.state === 'waiting') return;
    if (delivery.deadlineAt <= clock.now()) {
      await store.commit(db => endWithError(db, delivery, TOO_LATE, clock.now()));
      return;
    }
    if (delivery.kind === 'message' && (await findNextDelivery(store.db, delivery.logId)) !== delivery.id)
      return later(delivery);
    const principal = await principalOf(store.db, delivery);
    if (!principal) {
      await refuse(delivery, new PlatformError('forbidden', 'Who asked for this has been shut out.'));
      return;
    }
    const admission = await calls
      .ask({
        principal,
        agentId: delivery.agentId,
        message: delivery.message,
        contextId: delivery.contextId,
        idempotencyKey: delivery.idempotencyKey ?? delivery.id,
        attachments: delivery.attachments,
        metadata: delivery.metadata,
        delivery: delivery.id,
      })
      .catch((thrown: unknown) => {
        if (thrown instanceof PlatformError) return thrown;
        throw thrown;
      });
    if (admission instanceof PlatformError) {
      await refuse(delivery, admission);
      return;
    }
    switch (admission.kind) {
      case 'claimed':
        return run(delivery, admission.turn);
      case 'replay':
        await store.commit(db => endWithAnswer(db, delivery, admission.answer, clock.now()));
        return;
      case 'refused':
        if (PASSING.has(admission.refusal.reason)) return later(delivery);
        logger?.info('A message in the background was refused', {
          id: delivery.id,
          reason: admission.refusal.reason,
        });
        await refuse(delivery, callRefused(admission.refusal));
        return;
    }
  }
}

/**
 * Whoever asked, as they reach their own things and what is shared with them now: a key that was revoked since does not end what it
 * began. `undefined` for somebody who was shut out.
 */
async function principalOf(db: Db, { ownerId, credential }: Delivery): Promise<Principal | undefined> {
  const owner = await findPerson(db, ownerId);
  if (owner?.disabled) return undefined;
  return {
    ...{ id: ownerId, roles: new Set(owner?.roles), credential },
    ...{ via: 'user-key', agents: { kind: 'shared' } },
  };
}
