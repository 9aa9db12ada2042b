import type { Store } from '@patchbay/server/store/store';
import { engines } from '@patchbay/testing/stores';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ModelRequest } from '../../packages/server/src/agents/model/model.ts';
import type { TurnEvent } from '../../packages/server/src/agents/turn/run-turn.ts';
import { AGENT, call, text, world } from './scripted-model.ts';
import { ann, errorOf, fallenSilent, gate, type Rig, say, startRig } from './setup.ts';

describe.each(engines)('an agent with a model on %s', engine => {
  let rig: Rig;
  beforeEach(async () => {
    rig = await startRig(engine);
    await rig.agentFiles.deploy(ann, AGENT);
  });
  afterEach(() => rig[Symbol.asyncDispose]());

  const talk = (turns: Rig['turns'], input: string, events: TurnEvent[] = []) =>
    say(turns, { agentId: 'helper', input }, { onEvent: event => events.push(event) });
  const lastOf = async (conversationId: string) => {
    const read = await rig.conversations.read(ann, {
      ...{ conversationId, currentStepOnly: true, returnDetailed: false },
    });
    return {
      state: read.conversationState,
      texts: read.conversationOutputs?.[0]?.output?.map(item => item.text),
    };
  };
  const decide = (conversationId: string, verdict: 'APPROVED' | 'REJECTED', note?: string) =>
    rig.pauses.decide({ principal: ann, decidedBy: ann.id }, { conversationId, verdict, note });
  /** What the model was told of its calls in its latest request. */
  const told = ({ messages }: ModelRequest) =>
    messages.flatMap(message => (message.role === 'tool' ? message.results : []));

  it('is told who it is and what was said, calls tools at once, and answers with what they said', async () => {
    const { deps, requests, sent } = world([
      [text('Let me look.'), call('read', 'a'), call('read', 'b')],
      [text('Both are '), text('there.')],
    ]);
    const events: TurnEvent[] = [];
    const answer = await talk(rig.node('node-1', deps), 'Are a and b there?', events);
    expect(answer.agentResponseParts).toEqual(['Let me look.', 'Both are there.']);
    expect(events).toEqual([
      { type: 'reply-delta', text: 'Let me look.', index: 0 },
      { type: 'reply-delta', text: 'Both are ', index: 1 },
      { type: 'reply-delta', text: 'there.', index: 1 },
    ]);
    expect(requests[0]).toMatchObject({
      system: 'You help ann.',
      messages: [{ role: 'user', text: 'Are a and b there?' }],
    });
    expect(requests[0]!.tools.map(({ name }) => name)).toEqual(['files__read', 'files__remove']);
    expect(sent.map(({ args }) => args)).toEqual([{ name: 'a' }, { name: 'b' }]);
    const replies = told(requests[1]!);
    expect(replies.map(({ callId }) => callId)).toEqual(['call_a', 'call_b']);
    expect(replies[0]!.text).toMatch(
      /from outside: tool "read" of server "default\/files".*\nread a: done\n/,
    );
    const [, turn] = await rig.auditEntries(answer.conversationId);
    expect(turn).toBeDefined();
  });

  async function spentBy(conversationId: string): Promise<unknown> {
    const { counters } = await rig.store.db
      .selectFrom('conversations')
      .select('counters')
      .where('id', '=', conversationId)
      .executeTakeFirstOrThrow();
    return JSON.parse(counters).spentUsd;
  }

  it('counts what requests and calls have cost on the conversation (W-104)', async () => {
    const { deps } = world([[call('read', 'a')], [text('Done.')]]);
    const { conversationId } = await talk(rig.node('node-1', deps), 'Look.');
    expect(await spentBy(conversationId)).toBe(2.25);
  });

  it('waits for a person before a call that needs one, and makes exactly that call on whichever node goes on', async () => {
    const { deps, requests, sent } = world([
      [text('I will remove it.'), call('read', 'a'), call('remove', 'a')],
      [text('It is gone.')],
    ]);
    const answer = await talk(rig.node('node-1', deps), 'Remove a.');
    expect(answer).toMatchObject({ status: 'PAUSED_FOR_APPROVAL', agentResponse: 'I will remove it.' });
    expect(answer).toMatchObject({ pauseType: 'TOOL_CALL', tools: ['files__remove'] });
    expect(answer.message).toContain('before it calls files__remove.');
    expect(answer.message).not.toContain('"a"');
    expect(sent).toEqual([{ tool: 'read', args: { name: 'a' }, approved: false }]);
    await decide(answer.conversationId, 'APPROVED');
    await rig.node('node-2', deps).continueTurn(answer.conversationId);
    expect(sent.slice(1)).toEqual([{ tool: 'remove', args: { name: 'a' }, approved: true }]);
    expect(requests).toHaveLength(2);
    expect(told(requests[1]!).map(({ isError }) => isError)).toEqual([false, false]);
    expect(await lastOf(answer.conversationId)).toEqual({
      state: 'READY',
      texts: ['I will remove it.', 'It is gone.'],
    });
  });

  it('is told when a person said no, and is not asked about the same call again in its turn', async () => {
    const { deps, requests, sent } = world([
      [call('remove', 'a')],
      [call('remove', 'a', 'again')],
      [text('Then not.')],
    ]);
    const turns = rig.node('node-1', deps);
    const { conversationId } = await talk(turns, 'Remove a.');
    await decide(conversationId, 'REJECTED', 'keep it');
    await turns.continueTurn(conversationId);
    expect(sent).toEqual([]);
    expect(told(requests[2]!).map(({ text: said }) => said)).toEqual([
      expect.stringContaining('a person said no: keep it'),
      expect.stringContaining('a person said no: keep it'),
    ]);
    expect((await lastOf(conversationId)).texts).toEqual(['Then not.']);
  });

  it('is over when it was cancelled at the moment it began to wait, and nobody is asked (attack 52)', async () => {
    const { deps, sent, behaviour } = world([[text('Hi.')], [call('remove', 'a')], [text('Never said.')]]);
    const turns = rig.node('node-1', deps);
    const { conversationId } = await talk(turns, 'Hello.');
    // The news of it does not arrive here, as between nodes it may not.
    behaviour.inCheck = () => rig.pauses.cancel({ principal: ann, decidedBy: ann.id }, conversationId);
    const error = await errorOf(say(turns, { agentId: 'helper', conversationId, input: 'Remove a.' }));
    expect(error.kind).toBe('cancelled');
    expect(await rig.pauses.list(ann, 10)).toEqual([]);
    expect((await rig.pauses.status(ann, conversationId)).state).toBe('ERROR');
    await turns.continueTurn(conversationId);
    expect(sent).toEqual([]);
    expect(await rig.auditBreaks(conversationId)).toEqual([]);
  });

  it('leaves what it had done in the audit trail when its wait is cancelled, and nothing of the rest is done', async () => {
    const { deps, sent } = world([[call('read', 'a'), call('remove', 'a')], [text('Never said.')]]);
    const turns = rig.node('node-1', deps);
    const { conversationId } = await talk(turns, 'Remove a.');
    await rig.pauses.cancel({ principal: ann, decidedBy: ann.id }, conversationId);
    await turns.continueTurn(conversationId);
    expect(sent.map(({ tool }) => tool)).toEqual(['read']);
    const entries = await rig.auditEntries(conversationId);
    expect(entries.find(({ taskId }) => taskId === 'hitl.approval')).toMatchObject({
      output: {
        verdict: 'CANCELLED',
        calls: [{ toolName: 'files__remove', verdict: 'CANCELLED' }],
        made: [
          { what: 'the tool "files__read"', record: { tool: 'read', outcome: 'answered', costUsd: 0.25 } },
        ],
      },
    });
    expect(await rig.auditBreaks(conversationId)).toEqual([]);
  });

  it('leaves what it had done in the audit trail when it is cancelled before it goes on', async () => {
    const { deps, sent } = world([[call('read', 'a'), call('remove', 'a')], [text('Never said.')]]);
    const turns = rig.node('node-1', deps);
    const { conversationId } = await talk(turns, 'Remove a.');
    await decide(conversationId, 'APPROVED');
    await rig.pauses.cancel({ principal: ann, decidedBy: ann.id }, conversationId);
    await turns.continueTurn(conversationId);
    expect(sent.map(({ tool }) => tool)).toEqual(['read']);
    expect((await rig.auditEntries(conversationId)).at(-1)).toMatchObject({
      taskId: 'turn',
      output: {
        error: expect.stringContaining('was cancelled'),
        made: [{ what: 'the tool "files__read"', record: { tool: 'read', outcome: 'answered' } }],
      },
    });
    expect(await rig.auditBreaks(conversationId)).toEqual([]);
  });

  it('keeps what was decided when the same turn waits once more', async () => {
    const { deps, requests, sent } = world([
      [call('remove', 'a')],
      [call('remove', 'b')],
      [text('Both are gone.')],
    ]);
    const turns = rig.node('node-1', deps);
    const { conversationId } = await talk(turns, 'Remove both.');
    for (const _ of ['a', 'b']) {
      await decide(conversationId, 'APPROVED');
      await turns.continueTurn(conversationId);
    }
    expect(sent.map(({ args }) => args)).toEqual([{ name: 'a' }, { name: 'b' }]);
    expect(requests).toHaveLength(3);
    expect((await lastOf(conversationId)).texts).toEqual(['Both are gone.']);
  });

  it('is told that nobody knows what became of a call whose node fell silent, which is not made again (attack 53)', async () => {
    const { deps, requests, sent, behaviour } = world([
      [call('read', 'a'), call('read', 'b')],
      [text('I do not know.')],
    ]);
    const reached = gate();
    behaviour.inCall = async outbound => {
      if (outbound.arguments.name !== 'b') return;
      reached.open();
      await new Promise(() => {});
    };
    void talk(rig.node('node-1', deps), 'Look at both.').catch(() => {});
    await reached.opened;
    const id = await fallenSilent(rig.store);
    await rig.node('node-2', deps).continueTurn(id);
    expect(sent).toHaveLength(2);
    expect(requests).toHaveLength(2);
    expect(told(requests[1]!).at(-1)!.text).toContain('OUTCOME_UNKNOWN');
    expect(await lastOf(id)).toEqual({ state: 'READY', texts: ['I do not know.'] });
    // It may have been made, and then it cost what it costs.
    expect(await spentBy(id)).toBe(2.5);
  });

  it('is told of arguments that are no JSON and of tools that are not there, and the turn goes on', async () => {
    const { deps, requests, sent } = world([
      [
        { type: 'tool-call', callId: 'one', name: 'files__read', input: '{"name": ' },
        { type: 'tool-call', callId: 'two', name: 'files__burn', input: '{}' },
      ],
      [text('Sorry.')],
    ]);
    const answer = await talk(rig.node('node-1', deps), 'Look.');
    expect(sent).toEqual([]);
    expect(told(requests[1]!)).toMatchObject([
      { callId: 'one', isError: true, text: expect.stringContaining('INVALID_ARGUMENTS') },
      { callId: 'two', isError: true, text: expect.stringContaining('TOOL_NOT_FOUND') },
    ]);
    expect(answer.agentResponse).toBe('Sorry.');
  });

  it('answers without tools after it has called them as often as it may', async () => {
    const { deps, requests } = world(Array.from({ length: 20 }, () => [call('read', 'a')]));
    const answer = await talk(rig.node('node-1', deps), 'Look for ever.');
    expect(requests.map(({ mayCall }) => mayCall)).toEqual([...Array(10).fill(true), false]);
    expect(answer.agentResponse).toBe('The model gave no answer.');
  });

  it('fails the turn with a sentence when the model cannot be asked, and the next one works', async () => {
    const { deps } = world([]);
    const failing = rig.node('node-1', {
      ...deps,
      model: async () => ({
        ...{ kind: 'failed', code: 'AUTHENTICATION_FAILED', attempts: 1, durationMs: 1 },
        message: 'The provider refused the key (401): set another one',
      }),
    });
    const error = await errorOf(talk(failing, 'Hello'));
    expect(error.message).toContain('refused the key (401)');
    expect((await talk(rig.node('node-2', deps), 'Hello')).agentResponse).toBe('The script is over.');
  });

  it('writes twice in a turn in which it only talks: when it takes the turn, and when it has answered', async () => {
    const { deps } = world([[text('Hello.')], [text('Hello again.')]]);
    let commits = 0;
    const store: Store = {
      ...rig.store,
      commit(unit, options) {
        commits += 1;
        return rig.store.commit(unit, options);
      },
    };
    const turns = rig.node('node-1', { ...deps, store });
    const { conversationId } = await talk(turns, 'Hello');
    commits = 0;
    await say(turns, { agentId: 'helper', conversationId, input: 'Hello again' });
    expect(commits).toBe(2);
  });

  it('remembers the turns before', async () => {
    const { deps, requests } = world([[text('One.')], [text('Two.')]]);
    const turns = rig.node('node-1', deps);
    const { conversationId } = await talk(turns, 'First');
    await say(turns, { agentId: 'helper', conversationId, input: 'Second' });
    expect(requests[1]!.messages).toEqual([
      { role: 'user', text: 'First' },
      { role: 'assistant', parts: [{ type: 'text', text: 'One.' }] },
      { role: 'user', text: 'Second' },
    ]);
  });
});
