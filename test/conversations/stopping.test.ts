import { engines } from '@patchbay/testing/stores';
import { describe, expect, it } from 'vitest';
import { claim, countRows, errorOf, gate, never, refusalOf, say, startRig } from './setup.ts';

describe.each(engines)('a node that stops, on %s', engine => {
  it('waits for the turns that run, and admits no more', async () => {
    await using rig = await startRig(engine);
    const { conversationId } = await say(rig.turns, {});
    const [inside, goOn] = [gate(), gate()];
    rig.insideTurn = () => {
      inside.open();
      return goOn.opened;
    };
    const turn = say(rig.turns, { conversationId, input: 'hello' });
    await inside.opened;
    let closed = false;
    const closing = rig.turns.close(60_000).then(() => {
      closed = true;
    });
    expect(await refusalOf(rig.turns, { input: 'too late' })).toEqual({ reason: 'stopping' });
    expect(closed).toBe(false);
    goOn.open();
    await closing;
    expect(await countRows(rig.store)).toMatchObject({ conversation_steps: 2 });
    await turn;
  });

  it('waits for a turn that is admitted and not begun yet, until it is given back', async () => {
    await using rig = await startRig(engine);
    const admitting = claim(rig.turns, { input: 'hello' });
    const closing = rig.turns.close(60_000);
    const turn = await admitting;
    await turn.release();
    await closing;
    expect(await countRows(rig.store)).toMatchObject({ conversations: 0 });
  });

  it('ends what still runs after that: nothing is stored, conversation and key are free', async () => {
    await using rig = await startRig(engine);
    const { conversationId } = await say(rig.turns, {});
    const before = await countRows(rig.store);
    const inside = gate();
    rig.insideTurn = () => {
      inside.open();
      return new Promise(() => {});
    };
    const message = { conversationId, input: 'hello', idempotencyKey: 'once' };
    const failing = errorOf(say(rig.turns, message));
    const unbegun = await claim(rig.turns, { input: 'a message whose turn begins too late' });
    await inside.opened;
    const closing = rig.turns.close(50);
    expect(await failing).toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('sent again'),
    });
    expect((await errorOf(unbegun.run({ signal: never }))).kind).toBe('unavailable');
    await closing;
    expect(await countRows(rig.store)).toEqual(before);

    rig.insideTurn = () => undefined;
    expect((await say(rig.node('node-2'), message)).conversationId).toBe(conversationId);
  });
});
