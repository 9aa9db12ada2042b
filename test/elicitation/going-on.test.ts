import { type EngineName, engines } from '@patchbay/testing/stores';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createWaitedTurns } from '../../packages/server/src/agents/turn/waited-turns.ts';
import { systemClock } from '../../packages/server/src/kernel/clock.ts';
import { ann, endLease, errorOf, helloFile, never, type Rig, say, startRig } from '../conversations/setup.ts';

/** Waits for a person before it says two bubbles. */
async function payFile(): Promise<Record<string, unknown>> {
  const text = (value: string) => ({ valueAlternatives: [{ type: 'text', text: value }] });
  const said = [{ type: 'inputmatcher', configs: { expressions: 'pay' } }];
  const rule = { name: 'pay', actions: ['pay', 'PAUSE_CONVERSATION'], conditions: said };
  return helloFile({
    agent: 'pay',
    dictionary: { words: [{ word: 'pay', expressions: 'pay' }] },
    rules: { behaviorGroups: [{ name: 'pay', rules: [rule] }] },
    output: { outputSet: [{ action: 'pay', outputs: [text('Paid.'), text('Bye.')] }] },
  });
}

/** The greeting is the first. */
const STEP = 1;

describe.each(engines)('a turn somebody waits for has been decided about, on %s', (engine: EngineName) => {
  let rig: Rig;
  let closing: AbortController;
  beforeEach(async () => {
    rig = await startRig(engine);
    closing = new AbortController();
    await rig.agentFiles.deploy(ann, await payFile());
  });
  afterEach(() => rig[Symbol.asyncDispose]());

  const decider = { principal: ann, decidedBy: 'mcp:ann' };
  const pay = async () => (await say(rig.turns, { agentId: 'pay', input: 'pay' })).conversationId;
  async function approved(): Promise<string> {
    const conversationId = await pay();
    await rig.pauses.decide(decider, { conversationId, verdict: 'APPROVED', awaited: true });
    return conversationId;
  }
  const waitedOn = (turns = rig.turns) =>
    createWaitedTurns({
      ...{ store: rig.store, clock: systemClock, turns },
      base: () => 'https://patchbay.test',
      closing: closing.signal,
    });
  async function goOn(
    conversationId: string,
    {
      heard,
      turns = rig.turns,
      gone = never,
    }: { heard?: number; turns?: Rig['turns']; gone?: AbortSignal } = {},
  ) {
    const said: string[] = [];
    const reader = { signal: never, heard, onEvent: ({ text }: { text: string }) => void said.push(text) };
    const answer = await waitedOn(turns).goOn({ conversationId, stepIndex: STEP }, reader, gone);
    return { text: answer.agentResponse, state: answer.conversationState, said };
  }

  it('is run for them, and they are told what they have not heard', async () => {
    expect(await goOn(await approved())).toEqual({
      text: 'Paid. Bye.',
      state: 'READY',
      said: ['Paid.', 'Bye.'],
    });
    expect(await goOn(await approved(), { heard: 1 })).toMatchObject({ text: 'Paid. Bye.', said: ['Bye.'] });
  });

  it('is left to them for a moment, and gone on with if they do not come', async () => {
    await approved();
    const due = await rig.store.db.selectFrom('jobs').select(['kind', 'due_at', 'created_at']).execute();
    expect(due.map(({ kind, due_at, created_at }) => [kind, due_at - created_at])).toEqual([
      ['continue-turn', 2_000],
    ]);
  });

  it('is run once, whoever else takes it up at the same moment, and all hear how it ended', async () => {
    const conversationId = await approved();
    const [one, two] = await Promise.all([
      goOn(conversationId),
      goOn(conversationId, { turns: rig.node('node-2') }),
      rig.node('node-3').continueTurn(conversationId),
      rig.turns.continueTurn(conversationId),
    ]);
    expect([one!.text, two!.text]).toEqual(['Paid. Bye.', 'Paid. Bye.']);
    const entries = await rig.auditEntries(conversationId);
    expect(entries.filter(({ stepIndex, taskId }) => stepIndex === STEP && taskId === 'output')).toHaveLength(
      1,
    );
  });

  it('is read when another was quicker', async () => {
    const conversationId = await approved();
    await rig.node('node-2').continueTurn(conversationId);
    expect(await goOn(conversationId)).toEqual({ text: 'Paid. Bye.', state: 'READY', said: [] });
  });

  it('is taken over from a node that went down with it', async () => {
    const conversationId = await approved();
    const held = { lease_holder: 'node-2', lease_until: Number.MAX_SAFE_INTEGER };
    await rig.store.db.updateTable('conversations').set(held).where('id', '=', conversationId).execute();
    const answer = goOn(conversationId);
    expect(await waitedOn().read({ conversationId, stepIndex: STEP })).toBeUndefined();
    await endLease(rig.store, conversationId);
    expect(await answer).toMatchObject({ text: 'Paid. Bye.' });
  });

  it('is waited for no longer when nobody listens, or the node stops', async () => {
    for (const end of [(reader: AbortController) => reader.abort(), () => closing.abort()]) {
      const conversationId = await approved();
      const held = { lease_holder: 'node-2', lease_until: Number.MAX_SAFE_INTEGER };
      await rig.store.db.updateTable('conversations').set(held).where('id', '=', conversationId).execute();
      const reader = new AbortController();
      const ended = errorOf(goOn(conversationId, { gone: reader.signal }));
      end(reader);
      expect(await ended).toMatchObject({ kind: 'cancelled' });
    }
  });

  it('is told of by what it came to when it could not go on', async () => {
    const cancelled = await pay();
    await rig.pauses.cancel(decider, cancelled);
    expect(await errorOf(goOn(cancelled))).toMatchObject({ kind: 'cancelled' });

    const ended = await approved();
    await rig.pauses.cancel(decider, ended);
    expect(await errorOf(goOn(ended))).toMatchObject({
      kind: 'internal',
      message: expect.stringContaining('cancelled'),
    });

    const undone = await approved();
    await goOn(undone);
    await rig.turns.move(ann, undone, 'undo');
    expect(await errorOf(goOn(undone))).toMatchObject({ kind: 'conflict' });
    expect(await errorOf(goOn('conv_none'))).toMatchObject({ kind: 'conflict' });
  });
});
