import type { DocumentRef } from '@patchbay/contract/ids';
import { formatDocumentUri } from '@patchbay/contract/ids';
import { PlatformError } from '../../../kernel/errors.ts';
import { createLogger } from '../../../kernel/logger.ts';
import type { SafeFetch, SafeFetchInit } from '../../../kernel/safe-fetch.ts';
import { createReferences } from '../../../secrets/references.ts';
import { createToolApprovals } from '../../approval/tool-approvals.ts';
import type { Counters, LoadDocument, PastStep, StepTools } from '../../step/step.ts';
import { createTurnBudget } from '../turn-budget.ts';
import { readCallerContext } from '../turn-context.ts';
import { createTurnMemory, type RunningMemory } from '../turn-memory.ts';
import { createTurnstile } from '../turnstile.ts';

/** The memory of a turn in a test: what is not given is empty. */
export function testMemory(
  start: {
    input?: string | undefined;
    counters?: Partial<Counters>;
    last?: PastStep | undefined;
    /** What came before the last. */
    past?: readonly PastStep[];
    properties?: Record<string, unknown>;
    context?: Record<string, unknown>;
    attachments?: RunningMemory['attachments'];
  } & Partial<Pick<RunningMemory, 'expressions' | 'intents' | 'actions' | 'output' | 'quickReplies'>> = {},
): RunningMemory {
  const { input, counters, last, past = [], properties = {}, context = {}, attachments, ...set } = start;
  const fresh = { rules: {}, actions: {}, seen: {}, ...counters };
  const memory = createTurnMemory({
    input,
    counters: fresh,
    past: last ? [last, ...past] : past,
    properties,
    context: readCallerContext(context),
    attachments,
    now: () => 0,
  });
  return Object.assign(memory, set);
}

export function pastStep(step: Partial<PastStep>): PastStep {
  return {
    input: undefined,
    expressions: [],
    intents: [],
    actions: [],
    output: [],
    quickReplies: [],
    ...step,
  };
}

export const NOON = Date.UTC(2026, 10, 30, 12);

/** What a step may use in a test: nothing goes out, and a reference resolves to `value of <name>`. */
export function testTools(
  conversationId = 'conv_aaaaaaaaaaaaaaaaaaaaaaaaaa',
  overrides: Partial<StepTools> = {},
): StepTools {
  const clock = { now: () => NOON, sleep: async () => {} };
  const { signal } = new AbortController();
  return {
    callerToken: async () => undefined,
    effect: async (_, run) => ({ kind: 'done', value: await run() }),
    clock,
    signal,
    budget: createTurnBudget({ clock, signal, turnstile: createTurnstile() }),
    approvals: createToolApprovals(undefined),
    vars: { shop: 'Tea House' },
    deploymentEnv: 'development',
    capabilities: async () => [],
    keepSecret: async name => `\${vault:${conversationId}.${name}}`,
    references: createReferences({
      vault: {
        open: async name => ({ kind: 'opened', value: `value of ${name}` }),
        grants: async () => new Map(),
      },
      variables: { values: async () => new Map([['region', 'eu/west']]) },
      environment: new Map(),
      mayRead: name => name === 'OPEN',
      callerIdentity: true,
      grantEnforcement: 'enforce',
      logger: createLogger({ level: 'error', format: 'json', destination: { write() {} }, clock }),
    }),
    fetch: testFetch(async () => {
      throw new Error('Nothing goes out in this test.');
    }),
    mcp: {
      call: () => Promise.reject(new Error('Nothing is called in this test.')),
      offered: () => Promise.reject(new Error('No tools are looked at in this test.')),
      tooOften: async () => undefined,
      registered: () => undefined,
      warn: () => undefined,
    },
    decisions: () => [],
    recorded: run => run(),
    ask: () => Promise.reject(new Error('Nobody is asked in this test.')),
    model: () => Promise.reject(new Error('No model is asked in this test.')),
    say: () => undefined,
    conversation: {
      conversationId,
      agentId: 'demo',
      agentVersion: 3,
      environment: 'production',
      userId: 'user_one',
    },
    ...overrides,
  };
}

/** The way out of a test: `answer` is asked, and no connection is made. */
export function testFetch(
  answer: (url: URL, init: RequestInit & SafeFetchInit) => Promise<Response>,
): SafeFetch {
  const fetch = (url: string | URL, init: RequestInit & SafeFetchInit) => answer(new URL(url), init);
  return Object.assign(fetch, {
    with:
      (bound: SafeFetchInit) =>
      (url: string | URL, init: RequestInit = {}) =>
        fetch(url, { ...init, ...bound }),
    request: () => Promise.reject(new Error('no connection is made')),
    check: () => Promise.reject(new Error('no connection is made')),
    close: async () => {},
  });
}

/** Serves bodies by `type/id`, version 1. */
export function loadFrom(bodies: Record<string, unknown>): LoadDocument {
  return async (ref: DocumentRef) => {
    const body = bodies[`${ref.type}/${ref.id}`];
    if (body === undefined) throw new PlatformError('not_found', `${formatDocumentUri(ref)} is not there`);
    return body;
  };
}

/** The values remembered under a key. */
export function rememberedAs(memory: RunningMemory, key: string): unknown[] {
  return memory.remembered.filter(datum => datum.key === key).map(({ value }) => value);
}
