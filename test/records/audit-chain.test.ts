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
import type { AuditRecord } from '../../packages/server/src/store/tables/audit-records.ts';
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

/** A conversation of a greeting and four messages, the first one in the same commit. */
async function talked(): Promise<string> {
  const { conversationId } = await say(rig.turns, { input: 'hours' });
  for (let turn = 0; turn < 3; turn += 1) await say(rig.turns, { conversationId, input: 'hours' });
  return conversationId;
}

const recordsOf = (conversationId: string) =>
  rig.store.db
    .selectFrom('audit_records')
    .selectAll()
    .where('conversation_id', '=', conversationId)
    .orderBy('seq')
    .execute();

const conversation = (conversationId: string) => ({
  conversationId,
  agentId: 'hello',
  agentVersion: 1,
  userId: 'ann',
  environment: 'production',
});

const anEntry = (number: number, output: AuditEntry['output'] = { number }): AuditEntry => ({
  ...{ stepIndex: 2, taskIndex: number, taskId: 'rules', taskType: 'rules', durationMs: 0 },
  ...{ input: undefined, output, actions: [], createdAt: number },
});

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

const changeRecord = (conversationId: string, seq: number, change: Record<string, unknown>) =>
  rig.store.db
    .updateTable('audit_records')
    .set(change)
    .where('conversation_id', '=', conversationId)
    .where('seq', '=', seq)
    .execute();

const deleteRecords = (conversationId: string, seqs: readonly number[]) =>
  rig.store.db
    .deleteFrom('audit_records')
    .where('conversation_id', '=', conversationId)
    .where('seq', 'in', seqs)
    .execute();

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
      expect((await recordsOf(one)).map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
      const entries = await rig.auditEntries(one);
      expect(entries.map(({ seq, stepIndex, taskIndex }) => `${seq} ${stepIndex} ${taskIndex}`)).toEqual(
        ['1 0', '1 1', '2 2', '3 3', '4 4'].flatMap(step => [0, 1, 2, 3].map(task => `${step} ${task}`)),
      );
      expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length);
      for (const limit of [1, 3, 4, 5, 19, 20, 21])
        expect(await audit.entriesOf(one, limit)).toEqual([...entries].reverse().slice(0, limit));
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
        .updateTable('audit_records')
        .set({ user_id: `erased:${rig.chain.pseudonym('ann')}` })
        .execute();
      expect((await verifier.conversation(id)).breaks).toEqual([]);
      await rig.store.db
        .updateTable('audit_records')
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
      const before = await rig.auditEntries(id);
      await Promise.all(
        Array.from({ length: 10 }, (_, number) =>
          rig.store.commit(db => audit.append(db, conversation(id), [anEntry(number)])),
        ),
      );
      await say(rig.turns, { conversationId: id, input: 'hours' });
      const { entries, breaks } = await verifier.conversation(id);
      expect(breaks).toEqual([]);
      expect(entries).toBeGreaterThan(before.length + 10);
    });

    it('is looked at in pages, and in parts of some seconds', async () => {
      const { conversationId } = await say(rig.turns, {});
      await rig.store.commit(async db => {
        for (let number = 0; number < 120; number += 1)
          await audit.append(db, conversation(conversationId), [anEntry(number), anEntry(number)]);
      });
      await talked();
      let now = 0;
      const slow = createAuditVerifier({ ...rig, clock: { now: () => (now += 1_500) } });
      const first = await slow.all(undefined);
      expect(first.next).toMatch(/^conv_/);
      const whole = await everything();
      expect(whole.entries).toBeGreaterThan(240);
      expect(await everything(slow)).toEqual(whole);
      await deleteRecords(conversationId, [90]);
      expect(await breakOf(conversationId)).toMatchObject({ reason: 'missing', seq: 90 });
    });

    it('is divided into records of which none is long because there is much in one commit', async () => {
      const { conversationId } = await say(rig.turns, {});
      const output = (number: number) => ({
        text: String(number).padEnd(number === 30 ? 150_000 : 10_000, 'x'),
      });
      const entries = Array.from({ length: 60 }, (_, number) => anEntry(number, output(number)));
      await rig.store.commit(db => audit.append(db, conversation(conversationId), entries));
      const lengths = (await recordsOf(conversationId)).map(record => record.entries.length);
      expect(lengths.filter(length => length > 64 * 1024)).toHaveLength(1);
      expect(lengths.length).toBeLessThan(30);
      const read = await rig.auditEntries(conversationId);
      expect(read.slice(4)).toMatchObject(entries.map(entry => ({ output: entry.output })));
      expect((await verifier.conversation(conversationId)).breaks).toEqual([]);
    });
  });

  describe('says what is wrong, and where', () => {
    it.each([
      ['agent_id', 'other'],
      ['agent_version', 7],
      ['user_id', 'bob'],
      ['environment', 'test'],
      ['entries', '[]'],
      ['entries', 'no JSON'],
      ['hash', 'x'],
    ] as const)('when %s of a record was changed', async (column, value) => {
      const id = await talked();
      await changeRecord(id, 2, { [column]: value });
      const entryId = `audit_${id.slice('conv_'.length)}_2_0`;
      expect(await breakOf(id)).toMatchObject({ chain: id, seq: 2, entryId, reason: 'changed' });
    });

    it.each([
      ['stepIndex', 9],
      ['taskIndex', 9],
      ['taskId', 'other'],
      ['taskType', 'other'],
      ['durationMs', 99_999],
      ['input', 'what nobody said'],
      ['output', { forged: true }],
      ['actions', ['other']],
      ['createdAt', 1],
    ] as const)('when %s of an entry was changed', async (field, value) => {
      const id = await talked();
      const record = (await recordsOf(id))[1]!;
      const entries = JSON.parse(record.entries) as Record<string, unknown>[];
      expect(entries[0]![field]).toBeDefined();
      entries[0]![field] = value;
      await changeRecord(id, 2, { entries: JSON.stringify(entries) });
      expect(await breakOf(id)).toMatchObject({ chain: id, seq: 2, reason: 'changed' });
    });

    it('when the entries of a commit were put in another order, or one of them is gone', async () => {
      const id = await talked();
      const record = (await recordsOf(id))[1]!;
      const entries = JSON.parse(record.entries) as unknown[];
      for (const other of [entries.toReversed(), entries.slice(1), [...entries, entries[0]]]) {
        await changeRecord(id, 2, { entries: JSON.stringify(other) });
        expect(await breakOf(id)).toMatchObject({ seq: 2, reason: 'changed' });
      }
      await changeRecord(id, 2, { entries: JSON.stringify(entries) });
      expect((await verifier.conversation(id)).breaks).toEqual([]);
    });

    it('when an entry was changed and hashed again without the key', async () => {
      const id = await talked();
      const records = await recordsOf(id);
      const forger = createAudit({ ...rig, clock: systemClock, chain: createChain(randomBytes(32)) });
      let head: string | undefined;
      for (const { seq } of records) {
        const forged = forger.seal(conversation(id), head, [anEntry(seq)]);
        head = forged.head!;
        const [{ entries, hash }] = forged.records as [AuditRecord];
        await changeRecord(id, seq, { entries, hash });
      }
      await setHead(id, head!);
      expect(await breakOf(id)).toMatchObject({ seq: 1, reason: 'changed' });
    });

    it('when a record is gone from the middle, also when the others moved up', async () => {
      const id = await talked();
      await deleteRecords(id, [3]);
      expect(await breakOf(id)).toMatchObject({ seq: 3, reason: 'missing' });
      await changeRecord(id, 4, { seq: 3 });
      expect(await breakOf(id)).toMatchObject({ seq: 3, reason: 'changed' });
    });

    it('when the end was cut off, also together with where it ends', async () => {
      const id = await talked();
      const records = await recordsOf(id);
      const last = records.at(-1)!;
      const head = await headOf(id);
      await deleteRecords(id, [last.seq]);
      expect(await breakOf(id)).toMatchObject({ seq: last.seq, reason: 'cut_off' });
      const [, , , seal] = head.split('.');
      await setHead(id, `1.${last.seq - 1}.${records.at(-2)!.hash}.${seal}`);
      expect(await breakOf(id)).toMatchObject({ seq: last.seq - 1, reason: 'head_lost' });
      await setHead(id, null);
      expect(await breakOf(id)).toMatchObject({ reason: 'head_lost' });
    });

    it('for ever, when the conversation went on behind an end that was moved', async () => {
      const id = await talked();
      const records = await recordsOf(id);
      const [, , , seal] = (await headOf(id)).split('.');
      await deleteRecords(id, [records.length]);
      await setHead(id, `1.${records.length - 1}.${records.at(-2)!.hash}.${seal}`);
      await say(rig.turns, { conversationId: id, input: 'hours' });
      expect(await breakOf(id)).toMatchObject({ seq: records.length, reason: 'changed' });
    });

    it('when everything is gone, or the conversation is', async () => {
      const [one, two] = [await talked(), await talked()];
      await deleteRecords(one, [1, 2, 3, 4]);
      expect(await breakOf(one)).toMatchObject({ seq: 1, reason: 'cut_off' });
      await rig.store.db.deleteFrom('conversations').where('id', '=', one).execute();
      await rig.store.db.deleteFrom('conversations').where('id', '=', two).execute();
      expect(await breakOf(two)).toMatchObject({ reason: 'head_lost' });
    });

    it('when two records changed places', async () => {
      const id = await talked();
      await changeRecord(id, 2, { seq: 99 });
      await changeRecord(id, 3, { seq: 2 });
      await changeRecord(id, 99, { seq: 3 });
      expect(await breakOf(id)).toMatchObject({ seq: 2, reason: 'reordered' });
    });

    it.each([
      ['before the first', 0, 'added'],
      ['before the first', -7, 'added'],
      ['in between', 3, 'reordered'],
      ['at the end', 5, 'changed'],
    ] as const)('when a record was put %s, at %i', async (_, seq, reason) => {
      const id = await talked();
      const last = (await recordsOf(id)).at(-1)!;
      for (let place = last.seq; place >= seq && seq > 0; place -= 1)
        await changeRecord(id, place, { seq: place + 1 });
      await rig.store.db
        .insertInto('audit_records')
        .values({ ...last, seq })
        .execute();
      expect(await breakOf(id)).toMatchObject({ seq, reason });
    });

    it('when a record that was really written stands behind the end', async () => {
      const id = await talked();
      const head = await headOf(id);
      await say(rig.turns, { conversationId: id, input: 'hours' });
      await setHead(id, head);
      expect(await breakOf(id)).toMatchObject({ seq: 5, reason: 'added' });
    });

    it('when a record of one conversation stands in another', async () => {
      const [one, two] = [await talked(), await talked()];
      const [, second] = await recordsOf(one);
      await deleteRecords(two, [2]);
      await rig.store.db
        .insertInto('audit_records')
        .values({ ...second!, conversation_id: two })
        .execute();
      expect(await breakOf(two)).toMatchObject({ seq: 2, reason: 'changed' });
      expect((await verifier.conversation(one)).breaks).toEqual([]);
    });
  });

  describe('beside entries from before there were chains', () => {
    it('counts them: none may come or go', async () => {
      const id = await talked();
      const old = {
        ...{ id: 'audit_old', conversation_id: id, agent_id: 'hello', agent_version: 1, user_id: 'ann' },
        ...{ environment: 'production', step_index: 0, task_index: 0, task_id: 'rules', task_type: 'rules' },
        ...{ duration_ms: 1, input: null, output: '{}', actions: '[]', created_at: 1 },
      };
      await rig.store.db.insertInto('audit_entries').values(old).execute();
      expect((await verifier.conversation(id)).breaks).toEqual([]);
      expect((await everything()).breaks).toMatchObject([{ chain: 'unchained', reason: 'added' }]);
      await rig.store.db.deleteFrom('audit_events').execute();
      await rig.store.db.deleteFrom('audit_heads').execute();
      await rig.store.commit(db => beginAudit(db, rig.chain, 1));
      expect((await everything()).breaks).toEqual([]);
      await rig.store.db.deleteFrom('audit_entries').execute();
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
