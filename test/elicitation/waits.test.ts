import { type EngineName, engines } from '@patchbay/testing/stores';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createPauseWaits,
  type PauseWait,
  type PauseWaits,
} from '../../packages/server/src/agents/pause/pause-waits.ts';
import { createAnnouncer } from '../../packages/server/src/store/events.ts';
import type { Store } from '../../packages/server/src/store/store.ts';
import { closePause, insertPause } from '../../packages/server/src/store/tables/pauses.ts';
import { ann, helloFile, never, type Rig, say, startRig } from '../conversations/setup.ts';
import { createManualClock } from '../manual-clock.ts';

const HOUR = 3_600_000;
const LOOK_AGAIN_MS = 15_000;

describe.each(engines)('a call that waits for a pause on %s', (engine: EngineName) => {
  let rig: Rig;
  let clock: ReturnType<typeof createManualClock>;
  let closing: AbortController;
  let waits: PauseWaits;
  beforeEach(async () => {
    rig = await startRig(engine);
    clock = createManualClock();
    closing = new AbortController();
    waits = roomOn(rig.store);
    await rig.agentFiles.deploy(ann, await helloFile());
    const { conversationId } = await say(rig.turns, { input: 'hello' });
    await rig.store.commit(db =>
      insertPause(db, {
        ...{ id: 'pause_1', kind: 'RULE', conversationId, agentId: 'hello', userId: 'ann', reason: 'why' },
        ...{ timeoutPolicy: 'WAIT_INDEFINITELY', approvalTimeout: '', openedAt: 1, request: undefined },
      }),
    );
  });
  afterEach(() => rig[Symbol.asyncDispose]());

  const roomOn = (store: Store) =>
    createPauseWaits({ store, clock, announce: createAnnouncer({ store }), closing: closing.signal });
  const end = (wait: PauseWait, more: Partial<Parameters<PauseWait['end']>[0]> = {}) =>
    wait.end({ signal: never, until: clock.now() + HOUR, onWaiting: () => {}, ...more });
  const decide = (store: Pick<Store, 'commit'> = rig.store) =>
    store.commit(db =>
      closePause(db, 'pause_1', 'answered', {
        ...{ verdict: 'APPROVED', note: undefined, decidedBy: 'mcp:bob', decidedAt: 2 },
      }),
    );
  const asleep = () => expect.poll(() => clock.waiting).toBeGreaterThan(0);

  it('hears who has decided', async () => {
    const ended = end(waits.open('key', 'pause_1')!);
    await asleep();
    await decide();
    expect(await ended).toEqual({ kind: 'decided', by: 'mcp:bob' });
  });

  it('misses nothing that was decided between its entry and its look', async () => {
    const wait = waits.open('key', 'pause_1')!;
    await decide();
    expect(await end(wait)).toEqual({ kind: 'decided', by: 'mcp:bob' });
  });

  it('looks for itself now and then, as news may be lost, and says so', async () => {
    const deaf = createPauseWaits({
      store: { ...rig.store, subscribe: () => () => {} },
      clock,
      announce: async () => true,
      closing: closing.signal,
    });
    let said = 0;
    const ended = end(deaf.open('key', 'pause_1')!, { onWaiting: () => void said++ });
    await asleep();
    await clock.advance(LOOK_AGAIN_MS);
    await asleep();
    expect(said).toBe(1);
    await decide();
    await clock.advance(LOOK_AGAIN_MS);
    expect(await ended).toMatchObject({ kind: 'decided' });
  });

  it('ends when its client will not answer, and no other pause ends with it', async () => {
    const other = end(waits.open('key', 'pause_1')!);
    await asleep();
    await waits.leave('pause_2');
    await waits.leave('pause_1');
    expect(await other).toEqual({ kind: 'left' });
  });

  it('ends with its time, with its reader and with the node', async () => {
    const late = end(waits.open('key', 'pause_1')!, { until: clock.now() + 1_000 });
    await asleep();
    await clock.advance(1_000);
    expect(await late).toEqual({ kind: 'over' });
    const reader = new AbortController();
    const left = end(waits.open('key', 'pause_1')!, { signal: reader.signal });
    await asleep();
    reader.abort();
    expect(await left).toEqual({ kind: 'over' });
    const stopped = end(waits.open('key', 'pause_1')!);
    await asleep();
    closing.abort();
    expect(await stopped).toEqual({ kind: 'over' });
  });

  it('has room for a thousand of a credential, and for those of others besides', async () => {
    const reader = new AbortController();
    const held = Array.from({ length: 1_000 }, () => waits.open('key', 'pause_1')!);
    expect(waits.open('key', 'pause_1')).toBeUndefined();
    expect(waits.open('other', 'pause_1')).toBeDefined();
    reader.abort();
    await end(held[0]!, { signal: reader.signal });
    expect(waits.open('key', 'pause_1')).toBeDefined();
  });
});
