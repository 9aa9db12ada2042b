import { engines } from '@patchbay/testing/stores';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createDocuments } from '../../packages/server/src/agents/configuration/documents.ts';
import { createDeployer } from '../../packages/server/src/agents/deployment/deployer.ts';
import type { AnswerPart, ModelRequest } from '../../packages/server/src/agents/model/model.ts';
import type { TurnEvent } from '../../packages/server/src/agents/turn/run-turn.ts';
import { STEP_TYPES } from '../../packages/server/src/agents/turn/steps.ts';
import { createWaitedTurns } from '../../packages/server/src/agents/turn/waited-turns.ts';
import type { OutboundCall } from '../../packages/server/src/connections/call/outbound-call.ts';
import { systemClock } from '../../packages/server/src/kernel/clock.ts';
import { AGENT, call, text, world } from './scripted-model.ts';
import { ann, endLease, errorOf, fallenSilent, gate, never, type Rig, say, startRig } from './setup.ts';

const [TASK] = AGENT.llm.tasks;
/** The same agent with a task that is otherwise. */
const agentWith = (...tasks: object[]) => ({
  ...AGENT,
  llm: { tasks: tasks.map(task => ({ ...TASK, ...task })) },
});

describe.each(engines)('a turn with a model on %s', engine => {
  let rig: Rig;
  beforeEach(async () => {
    rig = await startRig(engine);
    await rig.agentFiles.deploy(ann, AGENT);
  });
  afterEach(() => rig[Symbol.asyncDispose]());

  const talk = (turns: Rig['turns'], input = 'Go.', reader: Parameters<typeof say>[2] = {}) =>
    say(turns, { agentId: 'helper', input }, reader);
  const decide = (conversationId: string, verdict: 'APPROVED' | 'REJECTED' = 'APPROVED') =>
    rig.pauses.decide({ principal: ann, decidedBy: ann.id }, { conversationId, verdict });
  const told = ({ messages }: ModelRequest) =>
    messages
      .flatMap(message => (message.role === 'tool' ? message.results : []))
      .map(({ text: said }) => said);
  const inProgress = async () => {
    const { id } = await rig.store.db
      .selectFrom('conversations')
      .select('id')
      .where('state', '=', 'IN_PROGRESS')
      .executeTakeFirstOrThrow();
    return id;
  };
  const spent = async (conversationId: string) => {
    const { counters } = await rig.store.db
      .selectFrom('conversations')
      .select('counters')
      .where('id', '=', conversationId)
      .executeTakeFirstOrThrow();
    return (JSON.parse(counters) as { spentUsd?: number }).spentUsd;
  };
  /** Calls whose outcome is written down. */
  const known = () =>
    rig.store.db
      .selectFrom('effects')
      .select('number')
      .where('outcome', 'is not', null)
      .where('what', '<>', '')
      .execute();
  const lastOf = async (conversationId: string) => {
    const read = await rig.conversations.read(ann, {
      ...{ conversationId, currentStepOnly: true, returnDetailed: true },
    });
    const [output] = read.conversationOutputs ?? [];
    const [step] = read.conversationSteps ?? [];
    const data =
      (step as { conversationStep?: { key: string; value: unknown }[] } | undefined)?.conversationStep ?? [];
    return {
      state: read.conversationState,
      texts: output?.output?.map(item => item.text),
      calls: data
        .filter(({ key }) => key === 'llm:main:call')
        .map(({ value }) => (value as { outcome: string }).outcome),
    };
  };
  /** Ends as a real call does when its turn is over. */
  const untilOver = ({ tool, signal, onInterrupted }: OutboundCall) =>
    new Promise((_, reject) => {
      signal.addEventListener('abort', () => {
        onInterrupted?.({
          ...{ server: 'default/files', tool, outcome: 'INTERRUPTED', reached: 'unknown' },
          ...{ durationMs: 1, attempts: 1, costUsd: 0.25 },
        });
        reject(signal.reason);
      });
    });

  it('goes by what was told of a call, also when a node that had fallen silent comes back and knows more', async () => {
    const silent = world([[call('read', 'a'), call('read', 'b')]]);
    const second = world([[call('read', 'c')], [text('Well.')]]);
    const [reached, late, again] = [gate(), gate(), gate()];
    silent.behaviour.inCall = async outbound => {
      if (outbound.arguments.name !== 'b') return;
      reached.open();
      await late.opened;
    };
    second.behaviour.inCall = () => {
      again.open();
      return new Promise(() => {});
    };
    const lost = talk(rig.node('node-1', silent.deps)).catch(() => {});
    await reached.opened;
    const id = await fallenSilent(rig.store);
    void rig.node('node-2', second.deps).continueTurn(id);
    await again.opened;
    expect(told(second.requests[0]!)[1]).toContain('OUTCOME_UNKNOWN');
    late.open();
    await lost;
    await endLease(rig.store, id);
    await rig.node('node-3', second.deps).continueTurn(id);
    expect(told(second.requests[1]!)[1]).toContain('OUTCOME_UNKNOWN');
    expect(told(second.requests[1]!)).toHaveLength(3);
  });

  it('that is cut off while several calls run says which of them nobody knows about, and counts all of them (W-104)', async () => {
    const { deps, behaviour } = world([[call('read', 'a'), call('read', 'b')]]);
    const reached = gate();
    behaviour.inCall = outbound => {
      // Both are under way before the first one ends.
      if (outbound.arguments.name !== 'b') return reached.opened;
      reached.open();
      return untilOver(outbound);
    };
    const caller = new AbortController();
    const turn = errorOf(talk(rig.node('node-1', deps), 'Go.', { signal: caller.signal }));
    await reached.opened;
    const { id } = await rig.store.db.selectFrom('conversations').select('id').executeTakeFirstOrThrow();
    await vi.waitFor(async () => expect(await known()).toHaveLength(1));
    caller.abort();
    expect((await turn).message).toContain('unknown whether this was done: the tool "files__read"');
    expect(await spent(id)).toBe(1.5);
    expect((await lastOf(id)).calls.toSorted()).toEqual(['INTERRUPTED', 'answered']);
  });

  it('counts a call that was lost at the price that its task gives', async () => {
    await rig.agentFiles.deploy(ann, agentWith({ toolPricing: { files__read: 0.5 } }));
    const { deps, behaviour } = world([[call('read', 'a')], [text('Who knows.')]], {});
    const reached = gate();
    behaviour.inCall = () => {
      reached.open();
      return new Promise(() => {});
    };
    void talk(rig.node('node-1', deps)).catch(() => {});
    await reached.opened;
    const id = await fallenSilent(rig.store);
    await rig.node('node-2', deps).continueTurn(id);
    expect(await spent(id)).toBe(2.5);
  });

  it('keeps what it had said, asked and spent when it is cancelled between a decision and its going on', async () => {
    const { deps, sent } = world([[text('I will remove it.'), call('read', 'a'), call('remove', 'a')]]);
    const turns = rig.node('node-1', deps);
    const { conversationId } = await talk(turns);
    const before = await spent(conversationId);
    expect(before).toBe(1.25);
    await decide(conversationId);
    await rig.pauses.cancel({ principal: ann, decidedBy: ann.id }, conversationId);
    await turns.continueTurn(conversationId);
    expect(sent.map(({ tool }) => tool)).toEqual(['read']);
    expect(await lastOf(conversationId)).toEqual({
      ...{ state: 'ERROR', texts: ['I will remove it.'], calls: ['answered'] },
    });
    expect(await spent(conversationId)).toBe(before);
    expect((await rig.auditEntries(conversationId)).at(-1)!.output).toMatchObject({
      made: [{ what: 'the tool "files__read"', record: { outcome: 'answered' } }],
    });
    expect(await rig.auditBreaks(conversationId)).toEqual([]);
  });

  it('that no node could bring to its end leaves what it did in the audit trail, and what that has cost', async () => {
    const { deps, behaviour } = world([[call('read', 'a'), call('read', 'b')]]);
    const reached = gate();
    behaviour.inCall = async outbound => {
      if (outbound.arguments.name !== 'b') return;
      reached.open();
      await new Promise(() => {});
    };
    const first = world([[text('Hi.')]]);
    const { conversationId } = await talk(rig.node('node-0', first.deps), 'Hello.');
    void say(rig.node('node-1', deps), { agentId: 'helper', conversationId, input: 'Go.' }).catch(() => {});
    await reached.opened;
    await vi.waitFor(async () => expect(await known()).toHaveLength(1));
    await endLease(rig.store, conversationId);
    await rig.pauses.cancel({ principal: ann, decidedBy: ann.id }, conversationId);
    await rig.node('node-2', deps).continueTurn(conversationId);
    expect(await spent(conversationId)).toBe(1.25);
    const made = { what: 'the tool "files__read"' };
    expect((await rig.auditEntries(conversationId)).at(-1)!.output).toMatchObject({
      error: expect.stringContaining('It is unknown whether this was done: the tool "files__read"'),
      made: [
        { ...made, record: { outcome: 'answered' } },
        { ...made, outcome: 'OUTCOME_UNKNOWN' },
      ],
    });
    expect(await rig.auditBreaks(conversationId)).toEqual([]);
  });

  it('keeps nothing of what a person wrote when a later wait of it is cancelled', async () => {
    const { deps } = world([[call('remove', 'a')], [call('remove', 'b')]]);
    const turns = rig.node('node-1', deps);
    const { conversationId } = await talk(turns);
    const pause = (await rig.pauses.status(ann, conversationId)).pause!;
    const toolDecisions = { '0.0': { verdict: 'APPROVED', amendedArguments: { name: 'secret' } } } as const;
    const decision = { conversationId, verdict: 'APPROVED', pauseId: pause.id, toolDecisions } as const;
    await rig.pauses.decide({ principal: ann, decidedBy: ann.id }, decision);
    await turns.continueTurn(conversationId);
    const answers = () => rig.store.db.selectFrom('pauses').select('answer').orderBy('opened_at').execute();
    expect((await answers())[0]!.answer).toContain('secret');
    await rig.pauses.cancel({ principal: ann, decidedBy: ann.id }, conversationId);
    expect(await answers()).toEqual([{ answer: null }, { answer: null }]);
  });

  it('tells no bubble twice to whoever waits for it while a person decides', async () => {
    await rig.agentFiles.deploy(
      ann,
      agentWith({ parameters: { ...TASK!.parameters, convertToObject: true } }),
    );
    const object = (said: string) => text(JSON.stringify({ htmlResponseText: said }));
    const { deps } = world([[object('One.'), call('remove', 'a')], [object('Two.')]]);
    const turns = rig.node('node-1', deps);
    const events: TurnEvent[] = [];
    const onEvent = (event: TurnEvent) => void events.push(event);
    const { conversationId } = await talk(turns, 'Go.', { onEvent });
    await decide(conversationId);
    await turns.resumeTurn(conversationId, { signal: new AbortController().signal, onEvent, heard: 1 });
    expect(events.map(event => event.text)).toEqual(['One.', 'Two.']);
  });

  it("tells its bubbles in their order, those before the model's as well", async () => {
    rig.insideTurn = memory => {
      if (memory.input !== undefined) memory.output.push({ type: 'text', text: 'Let me see.' });
    };
    const { deps } = world([[text('It is '), text('there.')]]);
    const events: TurnEvent[] = [];
    const answer = await talk(rig.node('node-1', deps), 'Go.', { onEvent: event => events.push(event) });
    expect(answer.agentResponseParts).toEqual(['Let me see.', 'It is there.']);
    expect(events.map(event => event.text).join('')).toBe('Let me see.It is there.');
    expect(events.map(({ index }) => index)).toEqual(events.map(({ index }) => index).toSorted());
  });

  it('tells as much of each bubble as is in it, where a model writes blanks before it calls', async () => {
    const { deps } = world([
      [text('\n\n'), call('read', 'a')],
      [text('\n'), text('There.')],
    ]);
    const events: TurnEvent[] = [];
    const answer = await talk(rig.node('node-1', deps), 'Go.', { onEvent: event => events.push(event) });
    expect(events.map(event => event.text).join('')).toBe(answer.agentResponse);
  });

  it.each(['files__\0read', 'files__\ud800read'])('goes on when a model calls the tool %j', async name => {
    const odd: AnswerPart = { type: 'tool-call', callId: 'odd', name, input: '{}' };
    const { deps, requests } = world([[odd, call('remove', 'a')], [text('Sorry.')]]);
    const turns = rig.node('node-1', deps);
    const { conversationId } = await talk(turns);
    await decide(conversationId);
    await turns.continueTurn(conversationId);
    expect(told(requests[1]!)[0]).toContain('TOOL_NOT_FOUND');
    expect((await lastOf(conversationId)).texts).toEqual(['Sorry.']);
  });

  it('that fails in one of its calls has waited for the others, and knows what became of them', async () => {
    const { deps, behaviour, sent } = world([[call('read', 'a'), call('read', 'b')]]);
    const [failed, over] = [gate(), gate()];
    let isOver = false;
    behaviour.inCall = async outbound => {
      if (outbound.arguments.name === 'a') {
        failed.open();
        throw new TypeError('a fault of ours');
      }
      await over.opened;
    };
    const turn = talk(rig.node('node-1', deps))
      .catch(() => {})
      .finally(() => {
        isOver = true;
      });
    await failed.opened;
    await new Promise(resolve => setImmediate(resolve));
    // The renewal of anything else would do: the turn must still be there.
    const id = await inProgress();
    expect(isOver).toBe(false);
    over.open();
    await turn;
    expect(sent).toHaveLength(2);
    expect((await lastOf(id)).calls).toEqual(['answered']);
    expect(await spent(id)).toBe(1.25);
  });

  it('has one limit of pauses, however many of its tasks call tools', async () => {
    await rig.agentFiles.deploy(ann, {
      ...agentWith({}, { id: 'second' }),
      hitlConfig: { toolApprovals: { maxPausesPerTurn: 1 } },
    });
    const { deps, requests } = world([
      [call('remove', 'a')],
      [text('One.')],
      [call('remove', 'b')],
      [text('Two.')],
    ]);
    const turns = rig.node('node-1', deps);
    const { conversationId } = await talk(turns);
    await decide(conversationId);
    await turns.continueTurn(conversationId);
    expect((await lastOf(conversationId)).texts).toEqual(['One.', 'Two.']);
    expect(told(requests[3]!)[0]).toContain('hitl_pause_cap');
  });

  it('has one limit of pauses, however many of its steps ask a model', async () => {
    const references = { checkDeployment: async () => [] };
    const parts = { store: rig.store, stepTypes: STEP_TYPES, clock: systemClock, references };
    const documents = createDocuments(parts);
    const steps = [];
    for (const id of ['first', 'second']) {
      const made = await documents.create(ann, { type: 'llm', body: { tasks: [{ ...TASK, id }] } });
      steps.push({ type: 'llm', config: { uri: `patchbay://llm/${made.id}?version=1` } });
    }
    const workflow = await documents.create(ann, { type: 'workflow', body: { workflowSteps: steps } });
    await documents.create(ann, {
      ...{ type: 'agent', id: 'two-steps' },
      body: {
        workflows: [`patchbay://workflow/${workflow.id}?version=1`],
        hitlConfig: { toolApprovals: { maxPausesPerTurn: 1 } },
      },
    });
    const which = { agentId: 'two-steps', version: 1, environment: 'production' } as const;
    await createDeployer(parts).deploy(ann, which);
    const script = [[call('remove', 'a')], [text('One.')], [call('remove', 'b')], [text('Two.')]];
    const { deps, requests } = world(script);
    const turns = rig.node('node-1', deps);
    const { conversationId } = await say(turns, { agentId: 'two-steps', input: 'Go.' });
    await decide(conversationId);
    await turns.continueTurn(conversationId);
    expect(told(requests[3]!)[0]).toContain('hitl_pause_cap');
    expect((await lastOf(conversationId)).texts).toEqual(['One.', 'Two.']);
  });

  it('goes on with the message behind a greeting that waited', async () => {
    await rig.agentFiles.deploy(ann, agentWith({ id: 'greeting', actions: ['CONVERSATION_START'] }, {}));
    const { deps, sent } = world([
      [call('remove', 'a')],
      [text('Welcome.')],
      [call('remove', 'b')],
      [text('Done.')],
    ]);
    const { conversationId } = await talk(rig.node('node-1', deps));
    for (const node of ['node-2', 'node-3']) {
      await decide(conversationId);
      await rig.node(node, deps).continueTurn(conversationId);
    }
    expect(sent.map(({ args }) => args)).toEqual([{ name: 'a' }, { name: 'b' }]);
    const read = await rig.conversations.read(ann, {
      ...{ conversationId, currentStepOnly: false, returnDetailed: false },
    });
    const said = read.conversationOutputs?.map(({ input, output }) => [
      input,
      output?.map(item => item.text),
    ]);
    expect(said).toEqual([
      [undefined, ['Welcome.']],
      ['Go.', ['Done.']],
    ]);
    expect(await rig.auditBreaks(conversationId)).toEqual([]);
  });

  it('is not taken for a later one of its conversation by a call that waits for it', async () => {
    const { deps, behaviour } = world([
      [call('remove', 'a')],
      [text('It is gone.')],
      [call('read', 'b')],
      [text('It is there.')],
    ]);
    const turns = rig.node('node-1', deps);
    const { conversationId } = await talk(turns);
    const { conversation } = await rig.pauses.status(ann, conversationId);
    await decide(conversationId);
    await turns.continueTurn(conversationId);
    const reached = gate();
    behaviour.inCall = () => {
      behaviour.inCall = async () => undefined;
      reached.open();
      return new Promise(() => {});
    };
    void say(turns, { agentId: 'helper', conversationId, input: 'And b?' }).catch(() => {});
    await reached.opened;
    await endLease(rig.store, conversationId);
    const looked = gate();
    const waiting = createWaitedTurns({
      ...{ store: rig.store, turns: rig.node('node-2', deps), closing: never },
      base: () => 'https://patchbay.test',
      clock: {
        ...systemClock,
        async sleep(ms, signal) {
          looked.open();
          await systemClock.sleep(ms, signal);
        },
      },
    });
    const step = { conversationId, stepIndex: conversation.stepCount - 1 };
    const answer = waiting.goOn(step, { signal: never }, never);
    await Promise.race([looked.opened, answer]);
    await rig.node('node-3', deps).continueTurn(conversationId);
    expect((await answer).agentResponse).toBe('It is gone.');
    expect((await lastOf(conversationId)).texts).toEqual(['It is there.']);
  });

  it('tells what answers the message, and of a greeting before it only what waits', async () => {
    await rig.agentFiles.deploy(ann, agentWith({ id: 'greeting', actions: ['CONVERSATION_START'] }, {}));
    const { deps } = world([
      [text('Welcome.')],
      [text('Hello.')],
      [text('Wait.'), call('remove', 'a')],
      [text('Welcome.')],
      [text('Hello.')],
    ]);
    const turns = rig.node('node-1', deps);
    const events: TurnEvent[] = [];
    const onEvent = (event: TurnEvent) => void events.push(event);
    const heard = () => events.splice(0).map(event => event.text);
    expect((await talk(turns, 'Go.', { onEvent })).agentResponse).toBe('Hello.');
    expect(heard()).toEqual(['Hello.']);
    const { conversationId } = await talk(turns, 'Go.', { onEvent });
    expect(heard()).toEqual(['Wait.']);
    await decide(conversationId);
    await turns.resumeTurn(conversationId, { signal: never, onEvent, heard: 1 });
    expect(heard()).toEqual(['Hello.']);
  });

  it('keeps a secret that a person gives from its model, its journal and its checkpoint', async () => {
    const { deps, requests } = world([[call('remove', 'a')]]);
    const turns = rig.node('node-1', deps);
    await say(turns, { agentId: 'helper', input: 'hunter2', context: { secretInput: true } });
    const tables = ['effects', 'turn_checkpoints', 'conversation_steps', 'pauses', 'audit_records'] as const;
    const rows = tables.map(table => rig.store.db.selectFrom(table).selectAll().execute());
    expect(JSON.stringify([requests, await Promise.all(rows)])).not.toContain('hunter2');
  });

  it('keeps no more of a result than the model is told', async () => {
    const { deps, behaviour } = world([[call('read', 'a'), call('remove', 'a')]]);
    behaviour.inCall = async () => 'long '.repeat(200_000);
    await talk(rig.node('node-1', deps));
    const rows = await rig.store.db.selectFrom('effects').select('outcome').execute();
    for (const { outcome } of rows) expect(outcome!.length).toBeLessThan(60_000);
  });

  it('leaves one audit entry of a step that waited, with all that it did, in an unbroken chain', async () => {
    const done: string[] = [];
    rig.insideTurn = async (memory, tools) => {
      if (memory.input !== undefined) await tools.effect('before', async () => done.push('before'));
    };
    const { deps } = world([[call('remove', 'a')], [call('remove', 'b')], [text('Done.')]]);
    const turns = rig.node('node-1', deps);
    const { conversationId } = await talk(turns);
    for (const _ of ['a', 'b']) {
      await decide(conversationId);
      await turns.continueTurn(conversationId);
    }
    expect(done).toEqual(['before']);
    const entries = (await rig.auditEntries(conversationId)).filter(({ stepIndex }) => stepIndex === 1);
    expect(entries.map(({ taskType }) => taskType)).toEqual([
      ...['parser', 'rules', 'hitl.approval', 'hitl.approval', 'llm', 'output', 'templating'],
    ]);
    expect(await rig.auditBreaks(conversationId)).toEqual([]);
    expect(await spent(conversationId)).toBe(3.5);
  });
});
