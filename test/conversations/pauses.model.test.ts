import { openStore } from '@patchbay/server/store/open-store';
import type { Store } from '@patchbay/server/store/store';
import { type EngineName, engines } from '@patchbay/testing/stores';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDocuments } from '../../packages/server/src/agents/configuration/documents.ts';
import { createDeployer } from '../../packages/server/src/agents/deployment/deployer.ts';
import { createPauses, type Pauses } from '../../packages/server/src/agents/pause/pauses.ts';
import { STEP_TYPES } from '../../packages/server/src/agents/turn/steps.ts';
import type { Turns } from '../../packages/server/src/agents/turn/turns.ts';
import { systemClock } from '../../packages/server/src/kernel/clock.ts';
import { createAudit } from '../../packages/server/src/records/audit/audit.ts';
import { admin, ann, endLease, gate, type Rig, refusalOf, say, startRig } from './setup.ts';

// Several people, a time limit and a cancellation decide one pause at the same moment, on two nodes; then both nodes go on with
// its turn, and one of them may fall silent while it pays. Whoever was first has decided, and what was approved is paid once.

const POLICIES = ['AUTO_APPROVE', 'AUTO_REJECT', 'ABORT'] as const;
const DECISIONS = ['approve', 'reject', 'expire', 'cancel', 'undo', 'say'] as const;
type Decision = (typeof DECISIONS)[number];

const race = fc.record({
  policy: fc.constantFrom(...POLICIES),
  racers: fc.array(fc.record({ decision: fc.constantFrom(...DECISIONS), node: fc.nat(1) }), {
    minLength: 2,
    maxLength: 8,
  }),
  /** Where the first node that goes on falls silent. */
  silent: fc.constantFrom('nowhere' as const, 'before it pays' as const, 'after it has paid' as const),
});

describe.each(engines)('one pause and many who decide it, on %s', engine => {
  let rig: Rig;
  let second: Store | undefined;
  let nodes: { turns: Turns; pauses: Pauses }[];
  beforeAll(async () => {
    rig = await startRig(engine);
    second = await otherNode(rig, engine);
    const store = second ?? rig.store;
    nodes = [
      { turns: rig.turns, pauses: rig.pauses },
      {
        turns: rig.node('node-2', { store }),
        pauses: createPauses({
          store,
          clock: systemClock,
          audit: createAudit({ store, clock: systemClock, chain: rig.chain }),
        }),
      },
    ];
    for (const policy of POLICIES) await deployPayer(rig, policy);
  });
  afterAll(async () => {
    await second?.close();
    await rig?.[Symbol.asyncDispose]();
  });

  it('is decided by the first, and its turn goes on once (E-32)', { timeout: 60_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(race, async ({ policy, racers, silent }) => {
        let paid = 0;
        const stuck = gate();
        const wake = gate();
        let isFirst = true;
        rig.insideTurn = async (memory, tools) => {
          if (!memory.actions.includes('PAUSE_CONVERSATION')) return;
          const falls = isFirst ? silent : 'nowhere';
          isFirst = false;
          const fall = async () => {
            stuck.open();
            await wake.opened;
          };
          if (falls === 'before it pays') await fall();
          await tools.effect('pay', async () => {
            paid += 1;
            return paid;
          });
          if (falls === 'after it has paid') await fall();
        };
        const { conversationId } = await say(rig.turns, { agentId: agentOf(policy), input: 'pay' });
        const { pause } = await rig.pauses.status(ann, conversationId);

        const decide: Record<Decision, (node: (typeof nodes)[number]) => Promise<unknown>> = {
          approve: ({ pauses }) =>
            pauses.decide({ principal: ann, decidedBy: 'ann' }, { conversationId, verdict: 'APPROVED' }),
          reject: ({ pauses }) =>
            pauses.decide(
              { principal: admin, decidedBy: 'root' },
              { conversationId, verdict: 'REJECTED', pauseId: pause!.id },
            ),
          expire: ({ pauses }) => pauses.expire(pause!.id),
          cancel: ({ pauses }) => pauses.cancel({ principal: admin, decidedBy: 'root' }, conversationId),
          undo: ({ turns }) => turns.move(ann, conversationId, 'undo'),
          say: ({ turns }) => say(turns, { agentId: agentOf(policy), conversationId, input: 'pay' }),
        };
        const results = await Promise.allSettled(
          racers.map(({ decision, node }) => decide[decision](nodes[node]!)),
        );
        const won = racers.filter((_, index) => results[index]!.status === 'fulfilled');
        expect(won.filter(({ decision }) => decision === 'undo' || decision === 'say')).toEqual([]);
        const entries = await rig.auditEntries(conversationId);
        const decided = entries.filter(({ taskId }) => taskId === 'hitl.approval');
        expect(decided.length).toBeLessThanOrEqual(1);
        const { verdict = 'open', automated }: Verdict = decided[0]?.output ?? {};
        const people = won.filter(({ decision }) => decision === 'approve' || decision === 'reject');
        const said = { approve: 'APPROVED', reject: 'REJECTED' }[people[0]?.decision as 'approve'];
        expect(people.map(() => said)).toEqual(automated || isOver(verdict) ? [] : [verdict]);
        if (automated) expect(verdict).toBe(VERDICTS[policy]);
        // Who cancels after a decision ends the turn that is to go on.
        const isCancelled = !isOver(verdict) && won.some(({ decision }) => decision === 'cancel');

        const goingOn = nodes.map(({ turns }) => turns.continueTurn(conversationId));
        const goesOn = verdict === 'APPROVED' && !isCancelled;
        if (goesOn && silent !== 'nowhere') {
          await stuck.opened;
          await endLease(rig.store, conversationId);
          await Promise.all(nodes.map(({ turns }) => turns.continueTurn(conversationId)));
        }
        wake.open();
        await Promise.all(goingOn);

        const state = isCancelled ? 'ERROR' : STATES[verdict as keyof typeof STATES];
        expect((await rig.pauses.status(ann, conversationId)).state).toBe(state);
        const { conversationOutputs } = await rig.conversations.read(ann, {
          conversationId,
          currentStepOnly: true,
          returnDetailed: false,
        });
        if (!isCancelled)
          expect(conversationOutputs?.[0]?.hitlDecision).toBe(isOver(verdict) ? undefined : verdict);
        expect(paid).toBe(goesOn ? 1 : 0);
        expect(await rig.auditBreaks(conversationId)).toEqual([]);
        const left = await rig.store.db
          .selectFrom('turn_checkpoints')
          .select('conversation_id')
          .where('conversation_id', '=', conversationId)
          .execute();
        expect(left).toHaveLength(verdict === 'open' ? 1 : 0);
        const next = { agentId: agentOf(policy), conversationId, input: 'pay' };
        if (state === 'READY' || state === 'ERROR') {
          expect(await say(nodes[1]!.turns, next)).toMatchObject({ status: 'PAUSED_FOR_APPROVAL' });
        } else {
          const reason = state === 'AWAITING_HUMAN' ? 'paused' : 'not_active';
          expect(await refusalOf(nodes[1]!.turns, next)).toMatchObject({ reason });
        }
      }),
      { numRuns: engine === 'sqlite' ? 120 : 80 },
    );
  });
});

/** What each policy decides when nobody has. */
const VERDICTS = { AUTO_APPROVE: 'APPROVED', AUTO_REJECT: 'REJECTED', ABORT: 'CANCELLED' } as const;
const STATES = {
  APPROVED: 'READY',
  REJECTED: 'READY',
  CANCELLED: 'EXECUTION_INTERRUPTED',
  open: 'AWAITING_HUMAN',
} as const;

/** What the audit trail says of a decision. */
interface Verdict {
  readonly verdict?: string;
  readonly automated?: boolean;
}

const isOver = (verdict: string) => verdict === 'CANCELLED' || verdict === 'open';

const agentOf = (policy: string) => `pay-${policy.toLowerCase().replace('_', '-')}`;

/** Another process has connections of its own; of an embedded database there is only one. */
async function otherNode(rig: Rig, engine: EngineName): Promise<Store | undefined> {
  return engine === 'postgres' ? openStore(rig.store.options) : undefined;
}

/** An agent whose first rules wait for a person, whose second ones act. */
async function deployPayer(rig: Rig, timeoutPolicy: string): Promise<void> {
  const references = { checkDeployment: async () => [] };
  const parts = { store: rig.store, stepTypes: STEP_TYPES, clock: systemClock, references };
  const documents = createDocuments(parts);
  const isGreeting = { type: 'actionmatcher', configs: { actions: 'CONVERSATION_START' } };
  const conditions = [{ type: 'negation', conditions: [isGreeting] }];
  const rules = async (actions: string[]) =>
    documents.create(ann, {
      type: 'rules',
      body: { behaviorGroups: [{ name: 'message', rules: [{ name: 'message', actions, conditions }] }] },
    });
  const first = await rules(['PAUSE_CONVERSATION']);
  const then = await rules(['paid']);
  const workflow = await documents.create(ann, {
    type: 'workflow',
    body: {
      workflowSteps: [first, then].map(({ id }) => ({
        type: 'rules',
        config: { uri: `patchbay://rules/${id}?version=1` },
      })),
    },
  });
  const agentId = agentOf(timeoutPolicy);
  await documents.create(ann, {
    type: 'agent',
    id: agentId,
    body: {
      workflows: [`patchbay://workflow/${workflow.id}?version=1`],
      hitlConfig: { timeoutPolicy, approvalTimeout: 'PT1H' },
    },
  });
  await createDeployer(parts).deploy(ann, { agentId, version: 1, environment: 'production' });
}
