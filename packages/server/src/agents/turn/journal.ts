import { storable } from '../../connections/tool/json-value.ts';
import { Fault } from '../../kernel/errors.ts';
import type { Db, Store } from '../../store/store.ts';
import type { ConversationLease } from '../../store/tables/conversations.ts';
import {
  type EffectPlace,
  insertIntent,
  insertRecorded,
  type JournaledEffect,
  setOutcome,
} from '../../store/tables/effects.ts';
import type { Decision } from '../../store/tables/pauses.ts';
import { beginToAct } from '../../store/tables/turn-checkpoints.ts';
import type { EffectOutcome, PauseRequest } from '../step/step.ts';
import { leaseLost } from './keep-lease.ts';

/** Writes down what a turn does in the world: the intent before it, the outcome after it (architecture, section 3). */
export interface Journal {
  /** The task that runs from now on, and where the turn goes on from if it acts. */
  enter(task: Omit<EffectPlace, 'number'>, checkpoint: string | undefined): void;
  /**
   * See `StepTools.effect`. Rejects with a `Fault` when the lease is lost, and with the reason of the signal when the turn has ended
   * while the intent was written: then nothing is run.
   */
  effect<T>(what: string, run: () => Promise<T>): Promise<EffectOutcome<T>>;
  /** See `StepTools.recorded`. It is written down with the next intent or pause. */
  recorded<T>(run: () => Promise<T>): Promise<T>;
  /** See `StepTools.ask`. */
  ask(about: string, question: () => Promise<PauseRequest>): Promise<Decision>;
  /** See `StepTools.decisions`. */
  decisions(): readonly Decision[];
  /** Writes down what was found out and is not written yet, in the unit that stores a turn that waits. */
  writeRecorded(db: Db): Promise<void>;
  /** What people have decided in this turn so far. */
  readonly answers: readonly JournaledAnswer[];
  /** Resolves when every outcome that is known is stored. Rejects when one could not be. */
  stored(): Promise<void>;
  /**
   * Runs the unit that ends the turn and takes the journal away, so that outcomes are written down only when it fails. Rejects as it does.
   */
  end(commit: () => Promise<void>): Promise<void>;
  /**
   * True from when the first intent is about to be written: the turn can no longer be given back as if nothing had happened.
   */
  readonly hasActed: boolean;
  /** What was begun and has no outcome, for people. */
  readonly unfinished: readonly string[];
}

/** Where in a turn a person was asked, and about what. */
export interface AskedPlace {
  readonly place: EffectPlace;
  /** See `StepTools.ask`. */
  readonly about: string;
}

/** What a person decided, at the place where it was asked. */
export interface JournaledAnswer extends AskedPlace {
  readonly decision: Decision;
}

/** A turn waits for a person: its step cannot go on, and runs again when there is an answer. */
export class Parked extends Error {
  readonly asked: AskedPlace;
  readonly question: PauseRequest;
  constructor(asked: AskedPlace, question: PauseRequest) {
    super('The turn waits for a person');
    this.asked = asked;
    this.question = question;
  }
}

export function createJournal(deps: {
  readonly store: Store;
  readonly lease: ConversationLease;
  /** Of the turn. */
  readonly signal: AbortSignal;
  /** Of the runs of this turn before this one. */
  readonly earlier: readonly JournaledEffect[];
  readonly answers: readonly JournaledAnswer[];
}): Journal {
  const { store, lease, signal, earlier, answers } = deps;
  const known = new Map(earlier.map(effect => [keyOf(effect), effect]));
  /** By place: several at once may be called the same. */
  const unfinished = new Map(
    earlier.flatMap(effect => (effect.outcome ? [] : [[keyOf(effect), effect.what] as const])),
  );
  let hasActed = earlier.length > 0;
  let task: Omit<EffectPlace, 'number'> = { stepIndex: 0, taskIndex: 0 };
  let next = 0;
  /** Until the first intent of the task has stored it. */
  let checkpoint: string | undefined;
  const unstored = new Set<Outcome>();
  /** Found out, and written down with the next intent. */
  let unwritten: readonly Outcome[] = [];
  let carried: Promise<void> = Promise.resolve();
  let storing: Promise<unknown> = Promise.resolve();
  let isEnding = false;

  async function writeIntent(place: EffectPlace, what: string): Promise<void> {
    // Before it is known: whoever ends the turn meanwhile must not take it for one that has done nothing.
    hasActed = true;
    const text = checkpoint;
    const found = unwritten;
    checkpoint = undefined;
    unwritten = [];
    // Whoever finds an effect must find what it was decided by, and where the turn goes on.
    const writing = carried.then(() =>
      store.commit(async db => {
        if (!(await beginToAct(db, lease, text))) throw leaseLost(lease.conversationId);
        await insertFound(db, found);
        await insertIntent(db, lease, { ...place, what });
      }),
    );
    if (text !== undefined || found.length > 0) carried = writing;
    await writing;
    signal.throwIfAborted();
  }

  async function insertFound(db: Db, found: readonly Outcome[]): Promise<void> {
    for (const { place, value } of found) await insertRecorded(db, lease, { ...place, value });
  }

  async function storeOne(outcome: Outcome): Promise<void> {
    let isLeft = false;
    await store.commit(async db => {
      isLeft = isEnding;
      if (!isLeft) await setOutcome(db, lease, outcome.place, outcome.value);
    });
    if (!isLeft) unstored.delete(outcome);
  }

  /** At once, and the turn goes on meanwhile: what ends it is often in the same transaction, and then nothing need be written. */
  function storeOutcome(outcome: Outcome): void {
    unstored.add(outcome);
    storing = Promise.all([storing, storeOne(outcome)]);
    // Whoever waits for it hears it.
    storing.catch(() => undefined);
  }

  return {
    enter(entered, snapshot) {
      task = entered;
      next = 0;
      checkpoint = snapshot;
    },

    async effect<T>(called: string, run: () => Promise<T>): Promise<EffectOutcome<T>> {
      const place = { ...task, number: next++ };
      const key = keyOf(place);
      // A model may have made up the name in it.
      const what = storable(called);
      const before = known.get(key);
      // Another one in its place: the turn has gone another way, and what it did there cannot be told.
      if (before && before.what !== what) return { kind: 'unknown' };
      if (before)
        return before.outcome ? { kind: 'done', value: before.outcome.value as T } : { kind: 'unknown' };
      // What is known must not become unknown by a crash while the next one runs.
      await Promise.all([writeIntent(place, what), storing]);
      unfinished.set(key, what);
      const value = await run();
      storeOutcome({ place, value });
      unfinished.delete(key);
      return { kind: 'done', value };
    },

    async recorded<T>(run: () => Promise<T>): Promise<T> {
      const place = { ...task, number: next++ };
      const before = known.get(keyOf(place));
      if (before && before.what !== '') {
        throw new Fault('journal_mismatch', 'A turn that goes on does something else than it did before', {
          data: { conversationId: lease.conversationId, ...place },
        });
      }
      if (before?.outcome) return before.outcome.value as T;
      const value = await run();
      unwritten = [...unwritten, { place, value }];
      return value;
    },

    async ask(about, question) {
      const place = { ...task, number: next++ };
      // Another question in its place has not been answered: nobody has seen it.
      const answer = answers.find(one => keyOf(one.place) === keyOf(place) && one.about === about);
      if (!answer) throw new Parked({ place, about }, await question());
      return answer.decision;
    },

    decisions: () =>
      answers.flatMap(({ place, decision }) =>
        place.stepIndex === task.stepIndex && place.taskIndex < task.taskIndex ? [decision] : [],
      ),

    writeRecorded: db => insertFound(db, unwritten),

    answers,

    async stored() {
      await storing;
    },

    async end(commit) {
      isEnding = true;
      try {
        await commit();
      } catch (thrown) {
        isEnding = false;
        await Promise.allSettled([...unstored].map(storeOne));
        throw thrown;
      }
    },

    get hasActed() {
      return hasActed;
    },
    get unfinished() {
      return [...unfinished.values()];
    },
  };
}

interface Outcome {
  readonly place: EffectPlace;
  readonly value: unknown;
}

function keyOf({ stepIndex, taskIndex, number }: EffectPlace): string {
  return `${stepIndex} ${taskIndex} ${number}`;
}
