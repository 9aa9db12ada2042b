import { engines } from '@patchbay/testing/stores';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CONTINUE_TURN } from '../../packages/server/src/agents/pause/jobs.ts';
import { createSignIns, type SignIns } from '../../packages/server/src/agents/pause/sign-ins.ts';
import { createAnsweredTurns } from '../../packages/server/src/agents/turn/answered-turns.ts';
import type { Turns } from '../../packages/server/src/agents/turn/turns.ts';
import { createWaitedTurns } from '../../packages/server/src/agents/turn/waited-turns.ts';
import { systemClock } from '../../packages/server/src/kernel/clock.ts';
import type { Principal } from '../../packages/server/src/kernel/principal.ts';
import { publish } from '../../packages/server/src/store/events.ts';
import { AGENT, call, text, world } from './scripted-model.ts';
import { admin, ann, bob, endLease, errorOf, never, type Rig, say, startRig } from './setup.ts';

const LINK = /files needs you to sign in: https:\/\/patchbay\.test\/connect\/(pause_\w+)$/;
const approver: Principal = { ...bob, roles: new Set(['patchbay-approver']) };

describe.each(engines)('a turn whose person has to sign in at a server, on %s', engine => {
  let rig: Rig;
  let signIns: SignIns;
  /** Names of credentials. */
  let arrived: Set<string>;
  beforeEach(async () => {
    rig = await startRig(engine);
    arrived = new Set();
    signIns = createSignIns({
      ...{ store: rig.store, pauses: rig.pauses },
      hasArrived: async ({ credential }) => arrived.has(credential),
    });
    await rig.agentFiles.deploy(ann, AGENT);
  });
  afterEach(() => rig[Symbol.asyncDispose]());

  /** As doors have them: a message may be an answer. */
  function answered(turns: Turns): Turns {
    const waited = createWaitedTurns({
      ...{ store: rig.store, clock: systemClock, turns, closing: never },
      base: () => 'https://patchbay.test',
    });
    return createAnsweredTurns({ store: rig.store, turns, waited, pauses: rig.pauses, signIns });
  }
  function worldOf(...script: Parameters<typeof world>[0]) {
    const made = world(script);
    made.behaviour.isSignedIn = () => arrived.has('files');
    return { ...made, turns: answered(rig.node('node-1', made.deps)) };
  }
  const talk = (turns: Turns, input = 'Go.', conversationId?: string) =>
    say(turns, { agentId: 'helper', input, ...(conversationId !== undefined && { conversationId }) });
  /** The row is what says that somebody has credentials at all; the news may be lost. */
  async function keep(name: string, isHeard: boolean): Promise<void> {
    arrived.add(name);
    await rig.store.commit(async db => {
      await db
        .insertInto('personal_credentials')
        .values({
          ...{ user_id: ann.id, name, data_key_id: 'x', sealed: new Uint8Array(1), revision: 1, given: 1 },
          ...{ renewing_until: null, created_at: 1, updated_at: 1 },
        })
        .execute();
      if (isHeard) publish(db, { kind: 'credential-changed', userId: ann.id, name });
    });
  }
  const goesOn = (conversationId: string) =>
    vi.waitFor(async () => {
      const { state } = await rig.pauses.status(ann, conversationId);
      expect(state).toBe('IN_PROGRESS');
    });
  const told = ({ requests }: ReturnType<typeof worldOf>, at = -1) =>
    requests.at(at)!.messages.flatMap(message => (message.role === 'tool' ? message.results : []));
  const textsOf = async (conversationId: string) => {
    const read = await rig.conversations.read(ann, {
      ...{ conversationId, currentStepOnly: true, returnDetailed: false },
    });
    return [read.conversationState, ...(read.conversationOutputs?.[0]?.output ?? []).map(item => item.text)];
  };

  it('waits, says where, and goes on when they have: the call is made once (W-75)', async () => {
    const one = worldOf([text('Let me see.'), call('read', 'a')], [text('Done.')]);
    const waiting = await talk(one.turns);
    expect(waiting).toMatchObject({
      agentResponse: expect.stringMatching(LINK),
      agentResponseParts: ['Let me see.', expect.stringMatching(LINK)],
      ...{ quickReplies: ['Cancel'], conversationState: 'AWAITING_HUMAN', pauseType: 'SIGN_IN' },
    });
    expect(waiting.status).toBeUndefined();
    expect(one.sent).toEqual([]);
    await keep('files', true);
    await goesOn(waiting.conversationId);
    // Another node, as after a restart.
    await rig.node('node-2', one.deps).continueTurn(waiting.conversationId);
    expect(one.sent).toEqual([{ tool: 'read', args: { name: 'a' }, approved: false }]);
    expect(await textsOf(waiting.conversationId)).toEqual(['READY', 'Let me see.', 'Done.']);
    expect(one.requests).toHaveLength(2);
    const { properties } = await rig.store.db
      .selectFrom('conversations')
      .select('properties')
      .where('id', '=', waiting.conversationId)
      .executeTakeFirstOrThrow();
    expect(properties).not.toContain('hitlVerdict');
  });

  it('is found when the news of it was lost, or nobody was there to hear it (W-76)', async () => {
    const one = worldOf([call('read', 'a')], [text('Done.')]);
    const { conversationId } = await talk(one.turns);
    await keep('other', true);
    await signIns.lookAtAll();
    expect((await rig.pauses.status(ann, conversationId)).state).toBe('AWAITING_HUMAN');
    arrived.add('files');
    await signIns.lookAtAll();
    const due = await rig.store.db
      .selectFrom('jobs')
      .select('payload')
      .where('kind', '=', CONTINUE_TURN)
      .execute();
    expect(due.map(({ payload }) => JSON.parse(payload))).toEqual([{ conversationId }]);
    await rig.node('node-2', one.deps).continueTurn(conversationId);
    expect(await textsOf(conversationId)).toEqual(['READY', 'Done.']);
  });

  it('takes the next message for the answer: the same address again, or the turn goes on', async () => {
    const one = worldOf([call('read', 'a')], [text('Done.')]);
    const { conversationId, agentResponse } = await talk(one.turns);
    expect((await talk(one.turns, 'What now?', conversationId)).agentResponse).toBe(agentResponse);
    await keep('files', false);
    expect(await talk(one.turns, 'I am back.', conversationId)).toMatchObject({
      ...{ agentResponse: 'Done.', conversationState: 'READY' },
    });
    expect(one.sent).toHaveLength(1);
  });

  it('goes on without when they do not want to, and is not asked for again in the turn (W-81)', async () => {
    const one = worldOf([call('read', 'a')], [call('read', 'b')], [text('Then not.')]);
    const { conversationId } = await talk(one.turns);
    expect(await talk(one.turns, ' cancel ', conversationId)).toMatchObject({ agentResponse: 'Then not.' });
    expect(told(one).map(({ text: said }) => said)).toEqual([
      expect.stringContaining('SIGN_IN_DECLINED: the person in the conversation did not sign in'),
      expect.stringContaining('SIGN_IN_DECLINED'),
    ]);
    expect(one.sent).toEqual([]);
    const entries = await rig.auditEntries(conversationId);
    expect(entries.find(({ taskId }) => taskId === 'hitl.sign_in')?.output).toMatchObject({
      ...{ verdict: 'REJECTED', decidedBy: ann.id, servers: ['default/files'] },
    });
  });

  it('asks once for all calls of an answer, and makes none twice that was made', async () => {
    const one = worldOf([call('read', 'a'), call('read', 'b'), call('read', 'c')], [text('Done.')]);
    one.behaviour.isSignedIn = ({ arguments: { name } }) => name === 'b' || arrived.has('files');
    const { conversationId } = await talk(one.turns);
    expect(one.sent.map(({ args }) => args)).toEqual([{ name: 'b' }]);
    await keep('files', false);
    await talk(one.turns, 'Back.', conversationId);
    expect(one.sent.map(({ args }) => args)).toEqual([{ name: 'b' }, { name: 'a' }, { name: 'c' }]);
    expect(told(one).map(({ text: said }) => said)).toEqual(
      ['a', 'b', 'c'].map(name => expect.stringContaining(`read ${name}: done`)),
    );
    const asked = await rig.store.db.selectFrom('pauses').select('kind').execute();
    expect(asked).toEqual([{ kind: 'SIGN_IN' }]);
  });

  it('sends what was approved, under the approval that it had', async () => {
    const one = worldOf([call('remove', 'a')], [text('Gone.')]);
    const { conversationId } = await talk(one.turns);
    await rig.pauses.decide({ principal: ann, decidedBy: ann.id }, { conversationId, verdict: 'APPROVED' });
    await rig.node('node-2', one.deps).continueTurn(conversationId);
    expect((await rig.pauses.status(ann, conversationId)).pause?.kind).toBe('SIGN_IN');
    await keep('files', false);
    expect(await talk(one.turns, 'Back.', conversationId)).toMatchObject({ agentResponse: 'Gone.' });
    expect(one.sent).toEqual([{ tool: 'remove', args: { name: 'a' }, approved: true }]);
  });

  it('asks again where one sign-in did not do, and then no more: the call has its error (W-81)', async () => {
    const one = worldOf([call('read', 'a')], [text('Well.')]);
    one.behaviour.isSignedIn = () => false;
    const { conversationId } = await talk(one.turns);
    await keep('files', false);
    expect((await talk(one.turns, 'Back.', conversationId)).agentResponse).toMatch(LINK);
    expect(await talk(one.turns, 'Back.', conversationId)).toMatchObject({ agentResponse: 'Well.' });
    expect(told(one)[0]!.text).toContain('SIGN_IN_NEEDED: You have to sign in at the server files first');
  });

  it('is answered by the person alone, ended by an admin, approved by nobody, and is in no list of approvals', async () => {
    const one = worldOf([call('read', 'a')], [text('Well.')]);
    const { conversationId } = await talk(one.turns);
    for (const principal of [ann, admin, approver]) expect(await rig.pauses.list(principal, 10)).toEqual([]);
    const decide = (principal: Principal, verdict: 'APPROVED' | 'REJECTED') =>
      errorOf(rig.pauses.decide({ principal, decidedBy: principal.id }, { conversationId, verdict }));
    expect(await decide(ann, 'APPROVED')).toMatchObject({ kind: 'wrong_state' });
    for (const principal of [admin, approver, { ...ann, byAgent: true }])
      expect(await decide(principal, 'REJECTED')).toMatchObject({ kind: 'forbidden' });
    const cancel = (principal: Principal) =>
      rig.pauses.cancel({ principal, decidedBy: principal.id }, conversationId);
    expect(await errorOf(cancel(approver))).toMatchObject({ kind: 'forbidden' });
    await cancel(admin);
    expect((await textsOf(conversationId))[0]).toBe('EXECUTION_INTERRUPTED');
    await keep('files', true);
    expect(one.sent).toEqual([]);
  });

  it('makes the call once though its node goes down at that moment', async () => {
    const one = worldOf([call('read', 'a')], [text('Well.')]);
    const { conversationId } = await talk(one.turns);
    await keep('files', true);
    await goesOn(conversationId);
    one.behaviour.inCall = async () => {
      // Falls silent: somebody else takes the turn over, and this one hears of its call too late.
      await endLease(rig.store, conversationId);
      one.behaviour.inCall = async () => undefined;
      await rig.node('node-3', one.deps).continueTurn(conversationId);
      return undefined;
    };
    await rig.node('node-2', one.deps).continueTurn(conversationId);
    expect(one.sent).toHaveLength(1);
    expect(told(one, 1)[0]!.text).toContain('OUTCOME_UNKNOWN');
  });
});
