import { isTaskId } from '@patchbay/contract/ids';
import type { TaskState } from '@patchbay/contract/operations/tasks';
import { mayUseDelivery } from '../../kernel/access.ts';
import type { Clock } from '../../kernel/clock.ts';
import { PlatformError } from '../../kernel/errors.ts';
import { newTaskId } from '../../kernel/ids.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { Store } from '../../store/store.ts';
import {
  type Delivery,
  deleteOldDeliveries,
  findDelivery,
  listAbandonedDeliveries,
  listDeliveries,
} from '../../store/tables/deliveries.ts';
import { insertMessageLog } from '../../store/tables/message-logs.ts';
import type { AgentCall, AgentCalls } from '../call/agent-calls.ts';
import type { Pauses } from '../pause/pauses.ts';
import { taskStateOf } from './delivery-state.ts';
import { endWithError, TOO_LATE } from './end-delivery.ts';
import { postDelivery } from './post-delivery.ts';

/** A message that is worked on in the background, for whoever gave it. */
export interface Task extends Delivery {
  readonly status: TaskState;
}

/**
 * Tasks for agents (B-60, BX-19 to BX-21). Only who made a task sees it; one of somebody else is not there, in the same words.
 */
export interface Tasks {
  /** Rejects as `AgentCalls.check` does, and with `conflict`, see `postDelivery`. */
  create(call: AgentCall & { readonly deadlineMs: number }): Promise<Task>;
  read(principal: Principal, taskId: string): Promise<Task>;
  /** Newest first. */
  list(
    principal: Principal,
    filter: {
      readonly agentId?: string | undefined;
      readonly state: 'active' | 'closed' | 'all';
      readonly since?: number | undefined;
      readonly limit: number;
    },
  ): Promise<Task[]>;
  /** Ends a task wherever it is; nothing of the rest is done. One that has ended stays as it is. */
  cancel(principal: Principal, taskId: string, reason: string | undefined): Promise<Task>;
  /** Decides what a task waits for, and it goes on. Rejects with `invalid` and `wrong_state`. */
  continue(principal: Principal, taskId: string, input: string): Promise<Task>;
  /** Ends a delivery that has not ended by its deadline. */
  endLate(deliveryId: string): Promise<void>;
  /** Ends deliveries whose conversation was ended by somebody else while they waited. */
  endAbandoned(): Promise<void>;
  /** Removes what ended longer ago than it is kept. */
  removeOld(): Promise<void>;
}

const DAY_MS = 86_400_000;
const AT_ONCE = 200;

export function createTasks(deps: {
  readonly store: Store;
  readonly clock: Clock;
  readonly calls: AgentCalls;
  readonly pauses: Pauses;
  /** How long a key is remembered with its task. */
  readonly idempotencyHours: number;
  readonly keepDays: number;
}): Tasks {
  const { store, clock, calls, pauses } = deps;

  function seen(delivery: Delivery): Task {
    const status = taskStateOf(delivery, clock.now());
    const isLate = status === 'timeout' && delivery.endedAt === undefined;
    return { ...delivery, status, ...(isLate && { result: { error: TOO_LATE.error } }) };
  }

  async function find(principal: Principal, taskId: string): Promise<Task> {
    const task = isTaskId(taskId) ? await findDelivery(store.db, taskId) : undefined;
    if (task && mayUseDelivery(principal, task)) return seen(task);
    throw new PlatformError('not_found', 'task_id: you have no such task.');
  }

  /** Ends it, and then whatever of it runs or waits. */
  async function end(delivery: Delivery, ending: Parameters<typeof endWithError>[2]): Promise<void> {
    const ended = await store.commit(db => endWithError(db, delivery, ending, clock.now()));
    if (!ended) return;
    const { ownerId, conversationId, state, credential } = delivery;
    if (conversationId === undefined || state === 'queued') return;
    const owner: Principal = {
      ...{ id: ownerId, credential, roles: new Set<never>(), via: 'user-key' },
      agents: { kind: 'own' },
    };
    // It may have ended by itself, or never begun to be stored.
    await pauses.cancel({ principal: owner, decidedBy: ownerId }, conversationId).catch(thrown => {
      if (!(thrown instanceof PlatformError)) throw thrown;
    });
  }

  return {
    async create(call) {
      await calls.check(call);
      const { principal, agentId, deadlineMs } = call;
      const id = newTaskId();
      const createdAt = clock.now();
      const log = { id, kind: 'task', agentId, ownerId: principal.id, createdAt } as const;
      const delivery = await postDelivery(
        store,
        {
          ...{ id, kind: 'task', logId: id, agentId, ownerId: principal.id, createdAt },
          ...{ credential: principal.credential, keyScope: agentId, idempotencyKey: call.idempotencyKey },
          ...{ contextId: call.contextId, message: call.message, metadata: call.metadata },
          attachments: call.attachments ?? [],
          deadlineAt: createdAt + deadlineMs,
        },
        {
          keyLifeMs: deps.idempotencyHours * 3_600_000,
          prepare: db => insertMessageLog(db, { ...log, title: undefined, metadata: undefined }),
        },
      );
      return seen(delivery);
    },

    read: find,

    async list(principal, { state, ...filter }) {
      if (filter.agentId !== undefined) await calls.checkAgent(principal, filter.agentId);
      const deliveries = await listDeliveries(store.db, {
        ...filter,
        ownerId: principal.id,
        kind: 'task',
        ended: state === 'all' ? undefined : state === 'closed',
      });
      return deliveries.map(seen);
    },

    async cancel(principal, taskId, reason) {
      const task = await find(principal, taskId);
      if (task.endedAt === undefined) {
        const error = { code: 'canceled', message: 'The task was canceled.' };
        await end(task, { state: 'cancelled', error, reason });
      }
      return find(principal, taskId);
    },

    async continue(principal, taskId, input) {
      const verdict = input.trim().toUpperCase();
      if (verdict !== 'APPROVED' && verdict !== 'REJECTED') {
        throw new PlatformError('invalid', 'input: must be APPROVED or REJECTED.');
      }
      const task = await find(principal, taskId);
      const { conversationId } = task;
      if (task.state !== 'waiting' || conversationId === undefined) {
        throw new PlatformError('wrong_state', 'The task waits for nothing; read_task says what it does.');
      }
      await pauses.decide({ principal, decidedBy: principal.id }, { conversationId, verdict });
      return { ...task, status: 'running', result: undefined };
    },

    async endLate(deliveryId) {
      const delivery = await findDelivery(store.db, deliveryId);
      if (!delivery || delivery.endedAt !== undefined) return;
      await end(delivery, TOO_LATE);
    },

    async endAbandoned() {
      const error = { code: 'cancelled', message: 'What it waited for was given up.' };
      for (const delivery of await listAbandonedDeliveries(store.db, AT_ONCE)) {
        await store.commit(db => endWithError(db, delivery, { state: 'cancelled', error }, clock.now()));
      }
    },

    async removeOld() {
      const old = { endedBefore: clock.now() - deps.keepDays * DAY_MS, limit: AT_ONCE };
      while ((await store.commit(db => deleteOldDeliveries(db, old))) === AT_ONCE);
    },
  };
}
