import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Role } from '@patchbay/contract/roles';
import { type EngineName, openTestStore, type TestStore } from '@patchbay/testing/stores';
import { parse } from 'yaml';
import {
  type Conversations,
  createConversations,
} from '../../packages/server/src/agents/conversation/conversations.ts';
import {
  type AgentFiles,
  createAgentFiles,
} from '../../packages/server/src/agents/deployment/agent-files.ts';
import { createCapabilities } from '../../packages/server/src/agents/deployment/capabilities.ts';
import { type Catalogue, createCatalogue } from '../../packages/server/src/agents/deployment/catalogue.ts';
import {
  createDeployments,
  type Deployments,
} from '../../packages/server/src/agents/deployment/deployments.ts';
import { createPauses, type Pauses } from '../../packages/server/src/agents/pause/pauses.ts';
import type { StepTools, StepType, TurnMemory } from '../../packages/server/src/agents/step/step.ts';
import type { TurnRequest } from '../../packages/server/src/agents/turn/admit-turn.ts';
import type { TurnRefusal } from '../../packages/server/src/agents/turn/refusal.ts';
import type { TurnReader } from '../../packages/server/src/agents/turn/run-turn.ts';
import { STEP_TYPES } from '../../packages/server/src/agents/turn/steps.ts';
import type { TurnAnswer } from '../../packages/server/src/agents/turn/turn-answer.ts';
import {
  type ClaimedTurn,
  createTurns,
  type TurnDeps,
  type Turns,
} from '../../packages/server/src/agents/turn/turns.ts';
import { type Clock, systemClock } from '../../packages/server/src/kernel/clock.ts';
import { PlatformError } from '../../packages/server/src/kernel/errors.ts';
import type { Principal } from '../../packages/server/src/kernel/principal.ts';
import { createAudit } from '../../packages/server/src/records/audit/audit.ts';
import { type Chain, createChain } from '../../packages/server/src/records/audit/chain.ts';
import { type ChainBreak, createAuditVerifier } from '../../packages/server/src/records/audit/verify.ts';
import { createVariables, type Variables } from '../../packages/server/src/secrets/variables.ts';
import type { AuditEntryRead } from '../../packages/server/src/store/tables/audit-entries.ts';

/** Conversations, turns and deployments on a real store, with one agent deployed: examples/hello.yaml, owned by ann. */
export interface Rig extends AsyncDisposable {
  readonly store: TestStore;
  /** With the key of this installation's audit trail. */
  readonly chain: Chain;
  readonly deployments: Deployments;
  readonly catalogue: Catalogue;
  readonly agentFiles: AgentFiles;
  readonly turns: Turns;
  readonly conversations: Conversations;
  readonly variables: Variables;
  readonly pauses: Pauses;
  /** What is wrong with the chain of a conversation's audit entries. */
  auditBreaks(conversationId: string): Promise<readonly ChainBreak[]>;
  /** A conversation's audit entries in the order they were written. */
  auditEntries(conversationId: string): Promise<readonly AuditEntryRead[]>;
  /** Runs before the rules of every turn; a test puts in it what is to happen inside a turn. */
  insideTurn: (memory: TurnMemory, tools: StepTools) => unknown;
  /** A second node over the same store. */
  node(nodeId: string, overrides?: Partial<TurnDeps>): Turns;
}

export async function startRig(engine: EngineName, overrides: Partial<TurnDeps> = {}): Promise<Rig> {
  const store = await openTestStore(engine);
  const clock = systemClock;
  const chain = createChain(randomBytes(32));
  const stepTypes = STEP_TYPES.map(type =>
    type.type === 'rules' ? watched(type, () => rig.insideTurn) : type,
  );
  const deployments = createDeployments({ store, stepTypes, clock });
  const variables = createVariables({ store, clock });
  const references = { checkDeployment: async () => [] };
  const agentFiles = createAgentFiles({ store, stepTypes, clock, references });
  const audit = createAudit({ store, clock, chain });
  const node = (nodeId: string, more: Partial<TurnDeps> = {}) =>
    createTurns({
      store,
      deployments,
      audit,
      clock,
      nodeId,
      base: () => 'https://patchbay.test',
      turnTimeoutMs: 60_000,
      maxInputChars: 200_000,
      idempotencyHours: 24,
      deploymentEnv: 'development',
      capabilities: createCapabilities({ store }),
      variables,
      vault: unused('vault'),
      references: unused('references'),
      model: unused('model'),
      fetch: unused('fetch'),
      mcp: unused('mcp'),
      ...overrides,
      ...more,
    });
  const verifier = createAuditVerifier({ store, clock, chain });
  const rig: Rig = {
    store,
    chain,
    deployments,
    catalogue: createCatalogue({ store }),
    agentFiles,
    turns: node('node-1'),
    conversations: createConversations({ store, reasonOf: ({ reason }) => reason }),
    pauses: createPauses({ store, clock, audit }),
    auditBreaks: async conversationId => (await verifier.conversation(conversationId)).breaks,
    auditEntries: async conversationId => (await audit.entriesOf(conversationId, 1_000)).reverse(),
    variables,
    insideTurn: () => undefined,
    node,
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
  await agentFiles.deploy(ann, await helloFile());
  return rig;
}

/** A part that no agent of these tests uses. */
function unused<T extends object>(part: string): T {
  return new Proxy(() => undefined, {
    get: () => {
      throw new Error(`The ${part} is not there in these tests.`);
    },
  }) as unknown as T;
}

/** The step type with a look inside its turns. */
function watched(type: StepType, inside: () => Rig['insideTurn']): StepType {
  return {
    type: type.type,
    async compile(step, load, agent) {
      const real = await type.compile(step, load, agent);
      return {
        ...real,
        // What a test does in a turn may be an effect.
        acts: true,
        async run(memory, tools) {
          await inside()(memory, tools);
          return real.run(memory, tools);
        },
      };
    },
  };
}

export async function helloFile(changes: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
  const text = await readFile(new URL('../../examples/hello.yaml', import.meta.url), 'utf8');
  return { ...parse(text), ...changes };
}

function person(id: string, ...roles: Role[]): Principal {
  return { id, roles: new Set(roles), via: 'user-key', credential: `key of ${id}`, agents: { kind: 'own' } };
}

export const ann = person('ann', 'patchbay-user');
export const bob = person('bob', 'patchbay-viewer');
export const admin = person('root', 'patchbay-admin');
/** An agent key for the hello agent. */
export const helloKey: Principal = {
  id: 'key:key_hello',
  roles: new Set(),
  via: 'agent-key',
  credential: 'key_hello',
  agents: { kind: 'one', agentId: 'hello' },
};

export type SaidRequest = Partial<TurnRequest>;

export async function claim(turns: Turns, request: SaidRequest): Promise<ClaimedTurn> {
  const admission = await turns.admitTurn(complete(request));
  if (admission.kind !== 'claimed') throw new Error(`not claimed: ${JSON.stringify(admission)}`);
  return admission.turn;
}

/** The whole of a turn, as a plain caller sees it. */
export async function say(
  turns: Turns,
  request: SaidRequest,
  reader: Partial<TurnReader> = {},
): Promise<TurnAnswer> {
  const admission = await turns.admitTurn(complete(request));
  if (admission.kind === 'replay') return admission.answer;
  if (admission.kind === 'refused') throw new Error(`refused: ${JSON.stringify(admission.refusal)}`);
  return admission.turn.run({ signal: new AbortController().signal, ...reader });
}

export async function refusalOf(turns: Turns, request: SaidRequest): Promise<TurnRefusal> {
  const admission = await turns.admitTurn(complete(request));
  if (admission.kind !== 'refused') throw new Error(`not refused: ${admission.kind}`);
  return admission.refusal;
}

function complete(request: SaidRequest): TurnRequest {
  return { principal: ann, access: 'own', agentId: 'hello', ...request };
}

export const never = new AbortController().signal;

/** What a call rejects with, which must be a `PlatformError`. */
export async function errorOf(call: Promise<unknown>): Promise<PlatformError> {
  const thrown = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (thrown instanceof PlatformError) return thrown;
  throw new Error('no PlatformError', { cause: thrown });
}

/** A promise that somebody else settles. */
export function gate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: () => resolve() };
}

/** How many rows each table has that a turn writes. */
export async function countRows(store: TestStore): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of ['conversations', 'conversation_steps', 'audit_records', 'idempotency_keys'] as const) {
    const row = await store.db
      .selectFrom(table)
      .select(eb => eb.fn.countAll<number | string>().as('rows'))
      .executeTakeFirstOrThrow();
    counts[table] = Number(row.rows);
  }
  return counts;
}

/** Has the turn that holds the conversation cancelled where it runs, as news of its cancellation does. */
export async function cancelHeld(
  nodes: readonly Turns[],
  store: TestStore,
  conversationId: string,
): Promise<void> {
  const { lease_fence: fence } = await store.db
    .selectFrom('conversations')
    .select('lease_fence')
    .where('id', '=', conversationId)
    .executeTakeFirstOrThrow();
  for (const turns of nodes) turns.cancelTurn({ conversationId, fence });
}

/** What a test sees when the holder of a conversation falls silent: its lease ends. */
export async function endLease(store: TestStore, conversationId: string): Promise<void> {
  await store.db
    .updateTable('conversations')
    .set({ lease_until: 1 })
    .where('id', '=', conversationId)
    .execute();
}

/** The conversation whose turn has acted and whose node fell silent: anybody may go on with it. */
export async function fallenSilent(store: TestStore): Promise<string> {
  const { id } = await store.db
    .selectFrom('conversations')
    .select('id')
    .where('state', '=', 'IN_PROGRESS')
    .executeTakeFirstOrThrow();
  await endLease(store, id);
  return id;
}

/** The parts as a restart of the same node makes them, with the program it has then: nothing is remembered but the store. */
export function startAgain(
  rig: Pick<Rig, 'store' | 'node'>,
  program: { readonly stepTypes?: readonly StepType[]; readonly clock?: Clock } = {},
): { readonly turns: Turns; readonly deployments: Deployments } {
  const { stepTypes = STEP_TYPES, clock = systemClock } = program;
  const deployments = createDeployments({ store: rig.store, stepTypes, clock });
  return { deployments, turns: rig.node('node-1', { deployments }) };
}
