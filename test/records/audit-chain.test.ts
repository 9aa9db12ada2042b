import { randomBytes } from 'node:crypto';
import { type EngineName, engines } from '@patchbay/testing/stores';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../packages/server/src/kernel/clock.ts';
import { type Audit, beginAudit, createAudit } from '../../packages/server/src/records/audit/audit.ts';
import { createChain } from '../../packages/server/src/records/audit/chain.ts';
import {
  type AuditVerifier,
  type ChainBreak,
  createAuditVerifier,
  type Verification,
} from '../../packages/server/src/records/audit/verify.ts';
import type { AuditEntry } from '../../packages/server/src/store/tables/audit-entries.ts';
import { type Rig, say, startRig } from '../conversations/setup.ts';

let rig: Rig;
let audit: Audit;
let verifier: AuditVerifier;

async function start(engine: EngineName): Promise<void> {
  rig = await startRig(engine);
  const { store, chain } = rig;
  audit = createAudit({ store, clock: systemClock, chain });
  verifier = createAuditVerifier({ store, clock: systemClock, chain });
  await store.commit(db => beginAudit(db, chain, 1));
}

/** A conversation of a greeting and two messages. */
async function talked(): Promise<string> {
  const { conversationId } = await say(rig.turns, { input: 'hours' });
  await say(rig.turns, { conversationId, input: 'hours' });
  return conversationId;
}

const entriesOf = (conversationId: string) =>
  rig.store.db
    .selectFrom('audit_entries')
    .selectAll()
    .where('conversation_id', '=', conversationId)
    .orderBy('seq')
    .execute();

const headOf = async (conversationId: string) =>
  (
    await rig.store.db
      .selectFrom('conversations')
      .select('audit_head')
      .where('id', '=', conversationId)
      .executeTakeFirstOrThrow()
  ).audit_head!;

const setHead = (conversationId: string, audit_head: string | null) =>
  rig.store.db.updateTable('conversations').set({ audit_head }).where('id', '=', conversationId).execute();

const changeEntry = (id: string, change: Record<string, unknown>) =>
  rig.store.db.updateTable('audit_entries').set(change).where('id', '=', id).execute();

const deleteEntries = (ids: readonly string[]) =>
  rig.store.db.deleteFrom('audit_entries').where('id', 'in', ids).execute();

/** What one conversation and the whole trail say alike. */
async function breakOf(conversationId: string): Promise<ChainBreak> {
  const { breaks } = await verifier.conversation(conversationId);
  expect(breaks).toHaveLength(1);
  expect((await everything()).breaks).toEqual(breaks);
  return breaks[0]!;
}

async function everything(with_ = verifier): Promise<Verification> {
  let [chains, entries] = [0, 0];
  const breaks: ChainBreak[] = [];
  let next: string | undefined;
  do {
    const part = await with_.all(next);
    chains += part.chains;
    entries += part.entries;
    breaks.push(...part.breaks);
    next = part.next;
  } while (next !== undefined);
  return { chains, entries, breaks, next };
}

describe.each(engines)('the chain of the audit trail on %s', engine => {
  beforeEach(() => start(engine));
  afterEach(() => rig[Symbol.asyncDispose]());

  describe('that nobody touched', () => {
    it('is intact, with every entry of every turn in its place', async () => {
      const one = await talked();
      await talked();
      const entries = await entriesOf(one);
      expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index + 1));
      expect(new Set(entries.map(({ step_index }) => step_index))).toEqual(new Set([0, 1, 2]));
      expect(await verifier.conversation(one)).toEqual({
        chains: 1,
        entries: entries.length,
        breaks: [],
        next: undefined,
      });
      expect(await everything()).toEqual({
        chains: 3,
        entries: 2 * entries.length + 1,
        breaks: [],
        next: undefined,
      });
    });

    it('stays intact when a person in it is replaced by their pseudonym', async () => {
      const id = await talked();
      await rig.store.db
        .updateTable('audit_entries')
        .set({ user_id: `erased:${rig.chain.pseudonym('ann')}` })
        .execute();
      expect((await verifier.conversation(id)).breaks).toEqual([]);
      await rig.store.db
        .updateTable('audit_entries')
        .set({ user_id: `erased:${rig.chain.pseudonym('bob')}` })
        .execute();
      expect((await breakOf(id)).reason).toBe('changed');
    });

    it('stays intact while turns go on', async () => {
      const ids = await Promise.all(Array.from({ length: 4 }, talked));
      let talking = true;
      const talk = Promise.all(
        ids.map(async conversationId => {
          for (let turn = 0; turn < 8; turn += 1) await say(rig.turns, { conversationId, input: 'hours' });
        }),
      ).finally(() => {
        talking = false;
      });
      while (talking) expect((await everything()).breaks).toEqual([]);
      await talk;
      expect((await everything()).breaks).toEqual([]);
    });

    it('takes entries that belong to no turn, one after the other', async () => {
      const id = await talked();
      const before = await entriesOf(id);
      const entry = (number: number): AuditEntry => ({
        ...{ id: `audit_extra_${number}`, conversationId: id, agentId: 'hello', agentVersion: 1 },
        ...{ userId: 'ann', environment: 'production', stepIndex: 2, taskIndex: -1 },
        ...{ taskId: 'hitl.approval', taskType: 'hitl.approval', durationMs: 0, input: undefined },
        ...{ output: { number }, actions: [], createdAt: number },
      });
      await Promise.all(
        Array.from({ length: 10 }, (_, number) =>
          rig.store.commit(db => audit.append(db, id, [entry(number)])),
        ),
      );
      await say(rig.turns, { conversationId: id, input: 'hours' });
      const { entries, breaks } = await verifier.conversation(id);
      expect(breaks).toEqual([]);
      expect(entries).toBeGreaterThan(before.length + 10);
    });

    it('is looked at in pages, and in parts of some seconds', async () => {
      const { conversationId } = await say(rig.turns, {});
      const long = Array.from(
        { length: 450 },
        (_, number): AuditEntry => ({
          ...{ id: `audit_long_${number}`, conversationId, agentId: 'hello', agentVersion: 1 },
          ...{ userId: 'ann', environment: 'production', stepIndex: 1, taskIndex: number },
          ...{ taskId: 'rules', taskType: 'rules', durationMs: 0, input: undefined },
          ...{ output: {}, actions: [], createdAt: number },
        }),
      );
      await rig.store.commit(db => audit.append(db, conversationId, long));
      await talked();
      let now = 0;
      const slow = createAuditVerifier({ ...rig, clock: { now: () => (now += 1_500) } });
      const first = await slow.all(undefined);
      expect(first.next).toMatch(/^conv_/);
      const whole = await everything();
      expect(whole.entries).toBeGreaterThan(450);
      expect(await everything(slow)).toEqual(whole);
      await deleteEntries(['audit_long_300']);
      expect(await breakOf(conversationId)).toMatchObject({ reason: 'missing' });
    });
  });

  describe('says what is wrong, and where', () => {
    it.each([
      ['id', 'audit_other'],
      ['agent_id', 'other'],
      ['agent_version', 7],
      ['user_id', 'bob'],
      ['environment', 'test'],
      ['step_index', 9],
      ['task_index', 9],
      ['task_id', 'other'],
      ['task_type', 'other'],
      ['duration_ms', 99_999],
      ['input', 'what nobody said'],
      ['output', '{}'],
      ['actions', '["other"]'],
      ['created_at', 1],
      ['hash', 'x'],
      ['hash', null],
    ] as const)('when %s of an entry was changed', async (column, value) => {
      const id = await talked();
      const entry = (await entriesOf(id)).find(({ input }) => input === 'hours')!;
      await changeEntry(entry.id, { [column]: value });
      expect(await breakOf(id)).toMatchObject({ chain: id, seq: entry.seq, reason: 'changed' });
    });

    it('when an entry was changed and hashed again without the key', async () => {
      const id = await talked();
      const entries = await entriesOf(id);
      const forger = createAudit({ ...rig, clock: systemClock, chain: createChain(randomBytes(32)) });
      const forged = forger.seal(
        id,
        undefined,
        entries.map(entry => ({
          ...{ id: entry.id, conversationId: id, agentId: entry.agent_id, agentVersion: entry.agent_version },
          ...{ userId: entry.user_id, environment: entry.environment, stepIndex: entry.step_index },
          ...{ taskIndex: entry.task_index, taskId: entry.task_id, taskType: entry.task_type },
          ...{ durationMs: entry.duration_ms, input: 'forged', output: {}, actions: [] },
          createdAt: entry.created_at,
        })),
      );
      for (const entry of forged.entries)
        await changeEntry(entry.id, { input: entry.input, output: '{}', actions: '[]', hash: entry.hash! });
      await setHead(id, forged.head);
      expect(await breakOf(id)).toMatchObject({ seq: 1, reason: 'changed' });
    });

    it('when an entry is gone from the middle, also when the others moved up', async () => {
      const id = await talked();
      const entries = await entriesOf(id);
      await deleteEntries([entries[2]!.id]);
      expect(await breakOf(id)).toMatchObject({ seq: 3, reason: 'missing' });
      for (const entry of entries.slice(3)) await changeEntry(entry.id, { seq: entry.seq - 1 });
      expect(await breakOf(id)).toMatchObject({ seq: 3, reason: 'changed' });
    });

    it('when the end was cut off, also together with where it ends', async () => {
      const id = await talked();
      const entries = await entriesOf(id);
      const last = entries.at(-1)!;
      const head = await headOf(id);
      await deleteEntries([last.id]);
      expect(await breakOf(id)).toMatchObject({ seq: last.seq, reason: 'cut_off' });
      const [, , , seal] = head.split('.');
      await setHead(id, `1.${last.seq - 1}.${entries.at(-2)!.hash}.${seal}`);
      expect(await breakOf(id)).toMatchObject({ seq: last.seq - 1, reason: 'head_lost' });
      await setHead(id, null);
      expect(await breakOf(id)).toMatchObject({ reason: 'head_lost' });
    });

    it('for ever, when the conversation went on behind an end that was moved', async () => {
      const id = await talked();
      const entries = await entriesOf(id);
      const [, , , seal] = (await headOf(id)).split('.');
      await deleteEntries([entries.at(-1)!.id]);
      await setHead(id, `1.${entries.length - 1}.${entries.at(-2)!.hash}.${seal}`);
      await say(rig.turns, { conversationId: id, input: 'hours' });
      expect(await breakOf(id)).toMatchObject({ seq: entries.length, reason: 'changed' });
    });

    it('when everything is gone, or the conversation is', async () => {
      const [one, two] = [await talked(), await talked()];
      await deleteEntries((await entriesOf(one)).map(({ id }) => id));
      expect(await breakOf(one)).toMatchObject({ seq: 1, reason: 'cut_off' });
      await rig.store.db.deleteFrom('conversations').where('id', '=', one).execute();
      await rig.store.db.deleteFrom('conversations').where('id', '=', two).execute();
      expect(await breakOf(two)).toMatchObject({ reason: 'head_lost' });
    });

    it('when two entries changed places', async () => {
      const id = await talked();
      const [a, b] = (await entriesOf(id)).slice(2, 4);
      await changeEntry(a!.id, { seq: b!.seq });
      await changeEntry(b!.id, { seq: 3 });
      expect(await breakOf(id)).toMatchObject({ seq: 3, entryId: b!.id, reason: 'reordered' });
    });

    it.each([
      ['in between', (length: number) => length - 2],
      ['at the end', (length: number) => length + 1],
    ])('when an entry was put %s', async (_, place) => {
      const id = await talked();
      const entries = await entriesOf(id);
      const seq = place(entries.length);
      await rig.store.db
        .insertInto('audit_entries')
        .values({ ...entries.at(-1)!, id: 'audit_zzz', seq })
        .execute();
      const { reason } = await breakOf(id);
      // Which of two at one place was there first, nobody can tell; one at the end has no hash that fits.
      expect(['added', 'changed']).toContain(reason);
      expect((await breakOf(id)).seq).toBe(seq);
    });

    it('when an entry of one conversation stands in another', async () => {
      const [one, two] = [await talked(), await talked()];
      const [, second] = await entriesOf(one);
      const [, other] = await entriesOf(two);
      await deleteEntries([other!.id]);
      await rig.store.db
        .insertInto('audit_entries')
        .values({ ...second!, id: other!.id, conversation_id: two })
        .execute();
      expect(await breakOf(two)).toMatchObject({ seq: 2, reason: 'changed' });
      expect((await verifier.conversation(one)).breaks).toEqual([]);
    });
  });

  describe('beside entries from before there were chains', () => {
    it('counts them: none may come or go', async () => {
      const id = await talked();
      const [first] = await entriesOf(id);
      const old = { ...first!, id: 'audit_old', seq: 0, hash: null };
      await rig.store.db.insertInto('audit_entries').values(old).execute();
      expect((await verifier.conversation(id)).breaks).toEqual([]);
      expect((await everything()).breaks).toMatchObject([{ chain: 'unchained', reason: 'added' }]);
      await rig.store.db.deleteFrom('audit_events').execute();
      await rig.store.db.deleteFrom('audit_heads').execute();
      await rig.store.commit(db => beginAudit(db, rig.chain, 1));
      expect((await everything()).breaks).toEqual([]);
      await deleteEntries(['audit_old']);
      expect((await everything()).breaks).toMatchObject([{ chain: 'unchained', reason: 'missing' }]);
    });
  });

  describe('of the platform', () => {
    const note = (operation: string) =>
      audit.note({ userId: 'ann', via: 'cli', operation, outcome: 'done', subject: { id: operation } });
    const changeEvent = (seq: number, change: Record<string, unknown>) =>
      rig.store.db.updateTable('audit_events').set(change).where('seq', '=', seq).execute();

    beforeEach(async () => {
      await Promise.all(['a', 'b', 'c', 'd'].map(note));
      expect((await everything()).breaks).toEqual([]);
    });

    it.each([
      ['changed', 3, () => changeEvent(3, { operation: 'other' })],
      ['changed', 2, () => changeEvent(2, { subject: '{"id":"other"}' })],
      ['changed', 2, () => changeEvent(2, { user_id: 'bob' })],
      ['missing', 3, () => rig.store.db.deleteFrom('audit_events').where('seq', '=', 3).execute()],
      ['cut_off', 5, () => rig.store.db.deleteFrom('audit_events').where('seq', '=', 5).execute()],
      ['head_lost', 5, () => rig.store.db.deleteFrom('audit_heads').execute()],
      [
        'reordered',
        2,
        async () => {
          await changeEvent(2, { seq: 99 });
          await changeEvent(3, { seq: 2 });
          await changeEvent(99, { seq: 3 });
        },
      ],
    ] as const)('says %s at %i', async (reason, seq, tamper) => {
      await tamper();
      expect((await everything()).breaks).toMatchObject([{ chain: 'platform', reason, seq }]);
    });

    it('goes on after a start that finds its end gone, and says so for ever', async () => {
      const { db } = rig.store;
      await db.deleteFrom('audit_events').where('seq', '=', 5).execute();
      await db.deleteFrom('audit_heads').execute();
      await expect(note('nowhere to go')).rejects.toThrow();
      await rig.store.commit(unit => beginAudit(unit, rig.chain, 2));
      await note('e');
      expect((await everything()).breaks).toMatchObject([
        { chain: 'platform', seq: 5, reason: 'head_lost', entryId: 'audit_head_lost 5' },
      ]);
      expect((await audit.events({ limit: 2 })).map(({ operation }) => operation)).toEqual([
        'e',
        'audit_head_lost',
      ]);
    });

    it('that was never begun is no chain', async () => {
      await rig.store.db.deleteFrom('audit_events').execute();
      await rig.store.db.deleteFrom('audit_heads').execute();
      expect((await everything()).breaks).toMatchObject([{ chain: 'platform', reason: 'head_lost' }]);
    });
  });
});
