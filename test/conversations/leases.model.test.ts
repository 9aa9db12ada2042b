import { engines } from '@patchbay/testing/stores';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Turns } from '../../packages/server/src/agents/turn/turns.ts';
import { createManualClock } from '../manual-clock.ts';
import { admin, ann, cancelHeld, endLease, gate, type Rig, say, startRig } from './setup.ts';

// What turns do to a conversation, and once more as a list of messages: three nodes take, lose, break off and take up turns
// with two effects each, in any order, and after each thing that happens the stored conversation is compared with the list.

const NODES = ['node-1', 'node-2', 'node-3'] as const;
/** Where a run of a turn falls silent: around its first effect, or around its second. */
const PLACES = ['nowhere', 'before 1', 'in 1', 'after 1', 'in 2', 'after 2'] as const;
type Place = (typeof PLACES)[number];
/** A turn that does not get on is ended with the fourth attempt to go on with it. */
const MAX_ATTEMPTS = 3;

const node = fc.integer({ min: 0, max: NODES.length - 1 });
const place = fc.constantFrom(...PLACES);
const happening = fc.oneof(
  { arbitrary: fc.record({ what: fc.constant('say' as const), node, place }), weight: 6 },
  { arbitrary: fc.record({ what: fc.constant('say twice at once' as const), node }), weight: 1 },
  { arbitrary: fc.record({ what: fc.constant('repeat' as const), node, which: fc.nat(5) }), weight: 3 },
  { arbitrary: fc.record({ what: fc.constant('take up' as const), node, place }), weight: 5 },
  { arbitrary: fc.record({ what: fc.constant('take up everywhere' as const) }), weight: 2 },
  { arbitrary: fc.record({ what: fc.constant('lease ends' as const) }), weight: 3 },
  { arbitrary: fc.record({ what: fc.constant('restart' as const), node }), weight: 2 },
  { arbitrary: fc.record({ what: fc.constant('wake' as const), which: fc.nat(3) }), weight: 3 },
  { arbitrary: fc.record({ what: fc.constant('cancel' as const) }), weight: 3 },
  { arbitrary: fc.record({ what: fc.constantFrom('undo' as const, 'redo' as const) }), weight: 4 },
);
type Happening = typeof happening extends fc.Arbitrary<infer T> ? T : never;

/** One run of a turn that fell silent, and may come back. */
interface SilentRun {
  wake(): void;
  readonly over: Promise<unknown>;
}

/** The turn that holds the conversation, as the model knows it. */
interface Held {
  readonly input: string;
  /** Of the run that holds the lease now. */
  readonly node: number;
  readonly silent: SilentRun;
  readonly leased: boolean;
  /** Effects that were begun, and so are never begun again. */
  readonly begun: 0 | 1 | 2;
  readonly attempts: number;
  /** Nobody goes on with it any more. */
  readonly cancelled?: boolean;
}

describe.each(engines)('conversations on %s', engine => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig(engine);
  });
  afterAll(() => rig?.[Symbol.asyncDispose]());

  it('are the list of what was acknowledged, whatever falls silent, comes back, is taken up, undone or cancelled', {
    timeout: 120_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(happening, { minLength: 1, maxLength: 30 }), async happenings => {
        await using trial = await startTrial(rig);
        for (const each of happenings) {
          await trial.happen(each);
          await trial.compare();
        }
        expect(await rig.auditBreaks(trial.conversationId)).toEqual([]);
      }),
      { numRuns: engine === 'sqlite' ? 60 : 25 },
    );
  });
});

async function startTrial(rig: Rig) {
  const clock = createManualClock();
  const start = (index: number) => rig.node(NODES[index]!, { clock });
  const nodes: Turns[] = NODES.map((_, index) => start(index));
  const { conversationId } = await say(nodes[0]!, {});

  /** What the world has seen. */
  const world: string[] = [];
  /** How the next run of a turn goes. */
  let next: { place: Place; reached: ReturnType<typeof gate>; wake: ReturnType<typeof gate> };
  const plan = (place: Place) => {
    next = { place, reached: gate(), wake: gate() };
    return next;
  };
  rig.insideTurn = async (memory, tools) => {
    if (memory.input === undefined) return;
    const run = next;
    const at = async (place: Place) => {
      if (run.place !== place) return;
      run.reached.open();
      await run.wake.opened;
    };
    await at('before 1');
    for (const number of [1, 2] as const) {
      await tools.effect(`effect ${number}`, async () => {
        world.push(`${memory.input} ${number}`);
        await at(`in ${number}`);
        return number;
      });
      await at(`after ${number}`);
    }
  };

  // The model.
  const done: string[] = [];
  let undone: string[] = [];
  const failed = new Set<string>();
  let state: 'READY' | 'ERROR' = 'READY';
  let held: Held | undefined;
  const asked: { input: string; answer: unknown; lost: boolean }[] = [];
  const everyRun: SilentRun[] = [];
  let said = 0;

  function newInput(): string {
    said += 1;
    return `message ${said}`;
  }

  const isBusy = () => held !== undefined && (held.leased || held.begun > 0);
  const request = (input: string) => ({
    conversationId,
    input,
    idempotencyKey: `${conversationId} ${input}`,
  });
  const expectRefused = async (call: Promise<unknown>, reason: string) =>
    expect(await outcomeOf(call)).toContain(reason);

  function begunAt(place: Place, before: Held['begun']): Held['begun'] {
    if (place === 'before 1') return before;
    if (place === 'in 1' || place === 'after 1') return before === 0 ? 1 : before;
    return 2;
  }

  function finish(input: string, how: 'READY' | 'ERROR'): void {
    done.push(input);
    undone = [];
    state = how;
    held = undefined;
    if (how === 'ERROR') failed.add(input);
  }

  /** Waits until the run has ended or fallen silent. */
  async function settle(
    run: ReturnType<typeof plan>,
    over: Promise<unknown>,
  ): Promise<SilentRun | undefined> {
    const handled = over.catch(() => {});
    const ended = await Promise.race([run.reached.opened.then(() => false), handled.then(() => true)]);
    if (ended) return undefined;
    const silent = { wake: () => run.wake.open(), over: handled };
    everyRun.push(silent);
    return silent;
  }

  async function sayAs(input: string, by: number, place: Place): Promise<void> {
    const run = plan(place);
    const call = say(nodes[by]!, request(input));
    const silent = await settle(run, call);
    const entry = asked.find(one => one.input === input)!;
    if (!silent) {
      const answer = await call;
      expect(answer.conversationState).toBe('READY');
      entry.answer = answer;
      finish(input, 'READY');
      return;
    }
    void call.then(
      answer => {
        entry.answer = answer;
      },
      () => {},
    );
    held = { input, node: by, silent, leased: true, begun: begunAt(place, 0), attempts: 0 };
  }

  async function takeUp(by: readonly number[], place: Place): Promise<void> {
    const run = plan(place);
    const over = Promise.all(by.map(index => nodes[index]!.continueTurn(conversationId)));
    const silent = await settle(run, over);
    if (!held || held.leased || held.begun === 0) {
      expect(silent).toBeUndefined();
      return;
    }
    const attempts = held.attempts + 1;
    if (held.cancelled || attempts > MAX_ATTEMPTS) {
      expect(silent).toBeUndefined();
      finish(held.input, 'ERROR');
      return;
    }
    const isReached =
      place !== 'nowhere' &&
      !(place === 'in 1' && held.begun >= 1) &&
      !(place === 'in 2' && held.begun === 2);
    expect(silent !== undefined).toBe(isReached);
    if (!silent) return finish(held.input, 'READY');
    const begun = begunAt(place, held.begun);
    held = {
      ...held,
      node: by[0]!,
      silent,
      leased: true,
      begun,
      attempts: begun > held.begun ? 0 : attempts,
    };
  }

  async function happen(it: Happening): Promise<void> {
    switch (it.what) {
      case 'say': {
        const input = newInput();
        if (isBusy()) return expectRefused(say(nodes[it.node]!, request(input)), 'busy');
        // What fell silent before it did anything is lost, and nobody was told that it was not.
        if (held) asked.find(one => one.input === held!.input)!.lost = true;
        held = undefined;
        asked.push({ input, answer: undefined, lost: false });
        return sayAs(input, it.node, it.place);
      }
      case 'say twice at once': {
        if (isBusy()) return;
        if (held) asked.find(one => one.input === held!.input)!.lost = true;
        held = undefined;
        plan('nowhere');
        const inputs = [newInput(), newInput()];
        const answers = await Promise.allSettled(
          inputs.map((input, index) => say(nodes[(it.node + index) % NODES.length]!, request(input))),
        );
        const taken = inputs.filter((_, index) => answers[index]!.status === 'fulfilled');
        expect(taken.length).toBeGreaterThan(0);
        const stored = await storedInputs();
        // Which of two came first is theirs to say.
        for (const input of taken.toSorted((a, b) => stored.indexOf(a) - stored.indexOf(b))) {
          const answer = (answers[inputs.indexOf(input)] as PromiseFulfilledResult<unknown>).value;
          asked.push({ input, answer, lost: false });
          finish(input, 'READY');
        }
        return;
      }
      case 'repeat': {
        const entry = asked.at(-1 - it.which);
        if (!entry) return;
        const { input } = entry;
        if (held?.input === input && isBusy())
          return expectRefused(say(nodes[it.node]!, request(input)), 'key_in_flight');
        if (held?.input === input || entry.lost) {
          // A turn that has to go on may be this call's: nobody but it knows.
          const why = held?.begun ? 'key_in_flight' : 'busy';
          if (isBusy()) return expectRefused(say(nodes[it.node]!, request(input)), why);
          if (held && held.input !== input) asked.find(one => one.input === held!.input)!.lost = true;
          entry.lost = false;
          held = undefined;
          return sayAs(input, it.node, 'nowhere');
        }
        if (failed.has(input)) return expectRefused(say(nodes[it.node]!, request(input)), 'key_failed');
        const answer = await say(nodes[it.node]!, request(input));
        if (entry.answer) expect(answer).toEqual(entry.answer);
        entry.answer = answer;
        return;
      }
      case 'take up':
        return takeUp([it.node], it.place);
      case 'take up everywhere':
        return takeUp([0, 1, 2], 'nowhere');
      case 'lease ends':
        await endLease(rig.store, conversationId);
        if (held) held = { ...held, leased: false };
        return;
      case 'restart': {
        nodes[it.node] = start(it.node);
        await nodes[it.node]!.releaseLeasesOf(NODES[it.node]!);
        if (held?.node !== it.node) return;
        if (held.begun > 0) {
          // Nobody waits for it, and whoever wakes of it is shut out.
          held = { ...held, leased: false, silent: GONE };
          return;
        }
        asked.find(one => one.input === held!.input)!.lost = true;
        held = undefined;
        return;
      }
      case 'wake': {
        const run = everyRun.splice(-1 - it.which, 1)[0];
        if (!run) return;
        run.wake();
        await run.over;
        if (held?.silent !== run) return;
        // What was cancelled does nothing more in the world, also where the news of it has not come.
        return finish(held.input, held.cancelled && held.begun < 2 ? 'ERROR' : 'READY');
      }
      case 'cancel': {
        const cancelling = rig.pauses.cancel({ principal: admin, decidedBy: 'root' }, conversationId);
        if (!held || !isBusy()) return expectRefused(cancelling, 'wrong_state');
        await cancelling;
        if (!held.leased) {
          // News of it is only for who holds the conversation.
          held = { ...held, cancelled: true };
          return;
        }
        await cancelHeld(nodes, rig.store, conversationId);
        await held.silent.over;
        const { input, begun } = held;
        if (begun > 0) return finish(input, 'ERROR');
        asked.find(one => one.input === input)!.lost = true;
        held = undefined;
        return;
      }
      case 'undo':
      case 'redo': {
        const moving = nodes[0]!.move(ann, conversationId, it.what);
        const [from, to] = it.what === 'undo' ? [done, undone] : [undone, done];
        if (isBusy() || from.length === 0) return expectRefused(moving, 'wrong_state');
        await moving;
        to.push(from.pop()!);
        state = 'READY';
        if (held) asked.find(one => one.input === held!.input)!.lost = true;
        held = undefined;
        return;
      }
    }
  }

  async function storedInputs(): Promise<string[]> {
    const { conversationOutputs = [] } = await rig.conversations.read(ann, {
      conversationId,
      currentStepOnly: false,
      returnDetailed: false,
    });
    return conversationOutputs.flatMap(({ input }) => input ?? []);
  }

  async function compare(): Promise<void> {
    const read = await rig.conversations.read(ann, {
      conversationId,
      currentStepOnly: false,
      returnDetailed: false,
    });
    const { conversationOutputs = [], conversationState } = read;
    expect(conversationOutputs.flatMap(({ input }) => input ?? [])).toEqual(done);
    expect(conversationState).toBe(isBusy() ? 'IN_PROGRESS' : state);
    const { undone_steps: undoneSteps } = await rig.store.db
      .selectFrom('conversations')
      .select('undone_steps')
      .where('id', '=', conversationId)
      .executeTakeFirstOrThrow();
    expect(undoneSteps).toBe(undone.length);
    // Once each, also of turns that were undone or are not ended.
    expect(world.toSorted()).toEqual([...new Set(world)].toSorted());
    for (const input of [...done, ...undone]) {
      if (failed.has(input)) continue;
      expect(world.filter(seen => seen.startsWith(`${input} `))).toEqual([`${input} 1`, `${input} 2`]);
    }
    const left = await rig.store.db
      .selectFrom('effects')
      .select('what')
      .where('conversation_id', '=', conversationId)
      .execute();
    expect(left).toHaveLength(held?.begun ?? 0);
  }

  return {
    conversationId,
    happen,
    compare,
    /** Whoever is silent wakes, so that no trial leaves anything to the next one. */
    async [Symbol.asyncDispose]() {
      for (const run of everyRun) run.wake();
      await Promise.all(everyRun.map(run => run.over));
    },
  };
}

const GONE: SilentRun = { wake: () => {}, over: Promise.resolve() };

async function outcomeOf(call: Promise<unknown>): Promise<string> {
  try {
    return `answered ${JSON.stringify(await call)}`;
  } catch (thrown) {
    return `${(thrown as { kind?: string }).kind ?? ''} ${(thrown as Error).message}`;
  }
}
