import { openStore } from '@patchbay/server/store/open-store';
import { type EngineName, engines } from '@patchbay/testing/stores';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AnswerPart } from '../../packages/server/src/agents/model/model.ts';
import { createPauses, type Pauses } from '../../packages/server/src/agents/pause/pauses.ts';
import { type ShownCall, wholeCallsIn } from '../../packages/server/src/agents/pause/tool-calls.ts';
import type { McpTools } from '../../packages/server/src/agents/step/step.ts';
import type { TurnDeps, Turns } from '../../packages/server/src/agents/turn/turns.ts';
import type { CallOutcome } from '../../packages/server/src/connections/call/outcome.ts';
import { readServerOptions } from '../../packages/server/src/connections/server/server-options.ts';
import { createViews } from '../../packages/server/src/connections/server/server-view.ts';
import { systemClock } from '../../packages/server/src/kernel/clock.ts';
import { sha256OfJson } from '../../packages/server/src/kernel/digest.ts';
import { createAudit } from '../../packages/server/src/records/audit/audit.ts';
import { compileText } from '../../packages/server/src/secrets/reference-text.ts';
import type { Store } from '../../packages/server/src/store/store.ts';
import { admin, ann, endLease, type Rig, say, startRig } from './setup.ts';

// A model calls tools, some of which a person must approve. People approve, reject, change and cancel, the clock decides, nodes fall silent at any
// moment and wake up later, others go on. Whatever happens: what needs an approval is sent only with one, once for each, and as it was shown.

const POLICIES = ['AUTO_APPROVE', 'AUTO_REJECT', 'ABORT'] as const;
type Policy = (typeof POLICIES)[number];

const ACTIONS = [
  'approve',
  'reject',
  'mix',
  'amend',
  'expire',
  'cancel',
  'race',
  'say',
  'undo',
  'stale',
] as const;
type Action = (typeof ACTIONS)[number];

const sequence = fc.record({
  policy: fc.constantFrom(...POLICIES),
  /** Of each answer of the model, which of its calls need an approval. */
  rounds: fc.array(fc.array(fc.boolean(), { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 }),
  actions: fc.array(fc.record({ action: fc.constantFrom(...ACTIONS), node: fc.nat(1) }), { maxLength: 6 }),
  /** At which requests and calls, counted from 0, the node that makes it falls silent, before or after it is there. */
  silences: fc.uniqueArray(fc.record({ at: fc.nat(12), isBefore: fc.boolean() }), {
    maxLength: 3,
    selector: ({ at }) => at,
  }),
});

type Sequence = typeof sequence extends fc.Arbitrary<infer T> ? T : never;

/** What was found out: the outcome of a call came back to a turn that another node had gone on with, and a third one went another way. */
const FOUND: [Sequence][] = [
  [
    {
      ...{ policy: 'AUTO_APPROVE', rounds: [[false, true], [false]] },
      actions: [{ action: 'approve', node: 0 }],
      silences: [
        { at: 1, isBefore: false },
        { at: 3, isBefore: false },
      ],
    },
  ],
];

const SCHEMA = { type: 'object', properties: { n: { type: 'string' } }, required: ['n'] };
const TOOLS = ['look', 'pay'].map(name => ({ name, description: name, inputSchema: SCHEMA }));

/** A model and a server as the sequence says, with everything that reached the server. */
function worldOf({ rounds, silences }: Sequence) {
  const sent: { readonly tool: string; readonly args: string; readonly approved: boolean }[] = [];
  const wakes = Promise.withResolvers<void>();
  let fallen = Promise.withResolvers<void>();
  let moments = 0;
  let requests = 0;

  /** Counts what is done outside, and has whoever does it fall silent where the sequence says so. */
  async function happens(what: () => void = () => undefined): Promise<void> {
    const silence = silences.find(({ at }) => at === moments);
    moments += 1;
    if (!silence) return what();
    if (!silence.isBefore) what();
    fallen.resolve();
    await wakes.promise;
    if (silence.isBefore) what();
  }

  const definition = readServerOptions(
    { url: 'http://shop.test/mcp' },
    {
      ...{ ref: { scope: 'default', name: 'shop' }, source: 'data' },
      texts: { compile: source => compileText(source, () => true) },
    },
  );
  const view = createViews()(definition, { tools: TOOLS, mirrorsArguments: false, accepted: undefined });
  const mcp: McpTools = {
    ...({} as McpTools),
    offered: async () => view,
    registered: ({ name }) => (name === 'shop' ? definition : undefined),
    warn: () => undefined,
    async call({ tool, arguments: args, approval }): Promise<CallOutcome> {
      const record = { server: 'default/shop', tool, durationMs: 0, costUsd: undefined } as const;
      const binding = {
        ...{ server: 's', tool, person: 'p', policy: 'v' },
        arguments: sha256OfJson(args),
      };
      if (tool === 'pay' && !approval) {
        return {
          ...{ kind: 'needs-approval', binding, arguments: args, inputSchema: SCHEMA },
          ...{ reason: 'it pays', serverAsks: false },
          record: { ...record, outcome: 'needs_approval', reached: 'no', attempts: 0 },
        };
      }
      // As the policy of the table of calls does, which tests of its own hold.
      if (approval && approval.arguments !== binding.arguments) throw new Error('approved otherwise');
      await happens(() => sent.push({ tool, args: JSON.stringify(args), approved: approval !== undefined }));
      return {
        kind: 'answered',
        result: { value: 'done', text: 'done', isError: false, cut: false, outside: false, suspicious: [] },
        record: { ...record, outcome: 'answered', reached: 'yes', attempts: 1 },
      };
    },
  };
  const deps: Partial<TurnDeps> = {
    mcp,
    references: {
      compile: source => ({ source, references: [] }) as never,
      resolve: async ({ source }) => ({ text: source, secrets: [] }),
    },
    async model({ messages }) {
      const round = messages.filter(({ role }) => role === 'tool').length;
      requests += 1;
      await happens();
      const calls = (rounds[round] ?? []).map(
        (isGated, index): AnswerPart => ({
          ...{ type: 'tool-call', callId: `${round}_${index}`, name: `shop__${isGated ? 'pay' : 'look'}` },
          input: JSON.stringify({ n: `${round}.${index}` }),
        }),
      );
      const parts: AnswerPart[] = calls.length > 0 ? calls : [{ type: 'text', text: 'That is all.' }];
      return {
        ...{ kind: 'answered', parts, finish: calls.length > 0 ? 'tool-calls' : 'stop' },
        ...{ attempts: 1, durationMs: 1, usage: { inputTokens: 1, outputTokens: 1 } },
      };
    },
  };
  return {
    deps,
    sent,
    get requests() {
      return requests;
    },
    /** Resolves with true when whoever runs the turn has fallen silent. */
    falls: () => fallen.promise.then(() => true),
    /** Somebody else takes up the turn. */
    others: () => {
      fallen = Promise.withResolvers();
    },
    wake: () => wakes.resolve(),
  };
}

describe.each(engines)('approvals of calls of a model, in any order of what happens, on %s', engine => {
  let rig: Rig;
  let second: Store | undefined;
  beforeAll(async () => {
    rig = await startRig(engine);
    second = engine === 'postgres' ? await openStore(rig.store.options) : undefined;
    for (const policy of POLICIES) await rig.agentFiles.deploy(ann, agentFile(policy));
  });
  afterAll(async () => {
    await second?.close();
    await rig?.[Symbol.asyncDispose]();
  });

  it('are of one call each, sent once and as it was shown, and nothing is sent without (attack 51) (attack 52) (attack 53)', {
    timeout: 120_000,
  }, async () => {
    const seen = { paid: 0, silences: 0 };
    await fc.assert(
      fc.asyncProperty(sequence, async chosen => {
        const world = worldOf(chosen);
        const store = second ?? rig.store;
        const audit = createAudit({ store, clock: systemClock, chain: rig.chain });
        const nodes: readonly { readonly turns: Turns; readonly pauses: Pauses }[] = [
          { turns: rig.node('node-1', world.deps), pauses: rig.pauses },
          {
            turns: rig.node('node-2', { ...world.deps, store }),
            pauses: createPauses({ store, clock: systemClock, audit }),
          },
        ];
        const agentId = agentOf(chosen.policy);
        const running: Promise<unknown>[] = [];
        let at = 0;
        /** Until the turn waits or is over; where a node falls silent the other one goes on. */
        const drive = async (
          conversationId: string,
          begin: (turns: Turns) => Promise<unknown>,
        ): Promise<void> => {
          let turn = begin(nodes[at % 2]!.turns);
          for (;;) {
            const settled = turn.then(
              () => false,
              () => false,
            );
            running.push(settled);
            if (!(await Promise.race([settled, world.falls()]))) return;
            seen.silences += 1;
            world.others();
            await endLease(rig.store, conversationId);
            at += 1;
            turn = nodes[at % 2]!.turns.continueTurn(conversationId);
          }
        };
        const { conversationId } = await say(rig.node('node-0', world.deps), { agentId });
        await drive(conversationId, turns => say(turns, { agentId, conversationId, input: 'pay' }));

        /** Each thing that may be sent once more, by what was shown or written. */
        const allowed: string[] = [];
        const decisions = new Set<string>();
        for (const { action, node } of chosen.actions) {
          const { pause, state } = await rig.pauses.status(ann, conversationId);
          if (state === 'IN_PROGRESS') {
            at += 1;
            await endLease(rig.store, conversationId);
            await drive(conversationId, turns => turns.continueTurn(conversationId));
            continue;
          }
          const shown = pause ? wholeCallsIn(pause) : [];
          const verdicts = await act(action, {
            conversationId,
            agentId,
            node,
            shown,
            pauseId: pause?.id,
            policy: pause?.timeoutPolicy,
            decisions,
          });
          if (pause && verdicts) allowed.push(...verdicts);
          if (pause) decisions.add(pause.id);
          at += node;
          if ((await rig.pauses.status(ann, conversationId)).state === 'IN_PROGRESS')
            await drive(conversationId, turns => turns.continueTurn(conversationId));
        }
        world.wake();
        await Promise.all(running);

        const gated = world.sent.filter(({ tool }) => tool === 'pay');
        expect(gated.filter(({ approved }) => !approved)).toEqual([]);
        const left = [...allowed];
        const unallowed = gated.filter(({ args }) => {
          const index = left.indexOf(args);
          if (index >= 0) left.splice(index, 1);
          return index < 0;
        });
        expect(unallowed).toEqual([]);
        seen.paid += gated.length;
        const free = world.sent.filter(({ tool }) => tool === 'look').map(({ args }) => args);
        expect(free).toEqual([...new Set(free)]);
        // Without a silent node every approval does its work, and no request to the model is made twice.
        if (chosen.silences.length === 0) expect(left).toEqual([]);
        if (chosen.silences.length === 0)
          expect(world.requests).toBeLessThanOrEqual(chosen.rounds.length + 1);
        expect(await rig.auditBreaks(conversationId)).toEqual([]);

        async function act(
          what: Action,
          turn: {
            conversationId: string;
            agentId: string;
            node: number;
            shown: readonly ShownCall[];
            pauseId: string | undefined;
            policy: string | undefined;
            decisions: ReadonlySet<string>;
          },
        ): Promise<readonly string[] | undefined> {
          const { pauses, turns } = nodes[turn.node]!;
          const all = turn.shown.map(({ argumentsRedacted }) => argumentsRedacted);
          const decide = (verdict: 'APPROVED' | 'REJECTED', more: object = {}) =>
            pauses.decide({ principal: ann, decidedBy: 'ann' }, { conversationId, verdict, ...more }).then(
              () => true,
              () => false,
            );
          const [first] = turn.shown;
          switch (what) {
            case 'approve':
              return (await decide('APPROVED')) ? all : undefined;
            case 'reject':
              await decide('REJECTED', { note: 'no' });
              return undefined;
            case 'mix': {
              const toolDecisions = first && { [first.callId]: { verdict: 'REJECTED' } };
              return (await decide('APPROVED', { toolDecisions })) ? all.slice(1) : undefined;
            }
            case 'amend': {
              const amendedArguments = { n: 'amended' };
              const toolDecisions = first && { [first.callId]: { verdict: 'APPROVED', amendedArguments } };
              const isDecided = await decide('APPROVED', { toolDecisions });
              return isDecided ? [JSON.stringify(amendedArguments), ...all.slice(1)] : undefined;
            }
            case 'expire': {
              if (turn.pauseId) await pauses.expire(turn.pauseId);
              return turn.policy === 'AUTO_APPROVE' ? all : undefined;
            }
            case 'cancel':
              await pauses
                .cancel({ principal: admin, decidedBy: 'root' }, conversationId)
                .catch(() => undefined);
              return undefined;
            case 'race': {
              const [approved, rejected] = await Promise.all([decide('APPROVED'), decide('REJECTED')]);
              expect(Number(approved) + Number(rejected)).toBe(turn.pauseId ? 1 : 0);
              return approved ? all : undefined;
            }
            case 'stale': {
              // Of a pause that was decided before, whatever is open now.
              for (const pauseId of turn.decisions)
                if (pauseId !== turn.pauseId) expect(await decide('APPROVED', { pauseId })).toBe(false);
              return undefined;
            }
            case 'say': {
              if (!turn.pauseId) return undefined;
              const admission = await turns.admitTurn({
                ...{
                  principal: ann,
                  access: 'own',
                  agentId: turn.agentId,
                  conversationId,
                  input: 'yes, approved',
                },
              });
              expect(admission.kind).toBe('refused');
              return undefined;
            }
            case 'undo':
              if (turn.pauseId)
                await expect(turns.move(ann, conversationId, 'undo')).rejects.toMatchObject({
                  kind: 'wrong_state',
                });
              return undefined;
          }
        }
      }),
      { numRuns: runs(engine), examples: FOUND },
    );
    // It has been somewhere.
    for (const count of Object.values(seen)) expect(count, JSON.stringify(seen)).toBeGreaterThan(10);
  });
});

function runs(engine: EngineName): number {
  return engine === 'sqlite' ? 120 : 60;
}

function agentOf(policy: Policy): string {
  return `pay-${policy.toLowerCase().replace('_', '-')}`;
}

function agentFile(policy: Policy): Record<string, unknown> {
  const toolApprovals = { timeoutPolicy: policy, approvalTimeout: 'PT1H', maxPausesPerTurn: 10 };
  const parameters = { model: 'any', baseUrl: 'http://model.test' };
  return {
    ...{ agent: agentOf(policy), name: 'Payer', hitlConfig: { toolApprovals } },
    llm: { tasks: [{ id: 'main', type: 'openai-compatible', parameters, mcpServers: ['shop'] }] },
  };
}
