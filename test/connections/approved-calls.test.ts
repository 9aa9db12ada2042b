import { afterEach, describe, expect, it } from 'vitest';
import type { Judgement, OutboundCall } from '../../packages/server/src/connections/call/outbound-call.ts';
import {
  createOutboundCalls,
  MCPCALLS_SCOPE,
} from '../../packages/server/src/connections/call/outbound-calls.ts';
import type { ApprovalBinding, CallOutcome } from '../../packages/server/src/connections/call/outcome.ts';
import type { ServerDefinition } from '../../packages/server/src/connections/server/definition.ts';
import { readServerOptions } from '../../packages/server/src/connections/server/server-options.ts';
import type { ToolSnapshot } from '../../packages/server/src/connections/tool/pinned-tools.ts';
import { compileText } from '../../packages/server/src/secrets/reference-text.ts';
import { createJumpingClock } from '../jumping-clock.ts';
import { newMark } from './fault-rig.ts';
import { NO_PEOPLE } from './no-people.ts';
import { tool } from './servers/fault-server.ts';
import { faultServers } from './servers/fault-servers.ts';
import { quiet, testPool } from './test-pool.ts';

const { start } = faultServers();
const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one[Symbol.asyncDispose]();
});

const texts = { compile: (text: string) => compileText(text, () => true) };
const READS = { readOnlyHint: true };
const MINUTE = 60_000;

/** A server of an older era with one tool, `call`, and the way out to it as the platform has it. */
async function rigWith({ annotations = {}, options = {} }: { annotations?: object; options?: object } = {}) {
  const server = await start('legacy');
  server.tools = [{ ...tool('call'), annotations }];
  const clock = createJumpingClock();
  const pool = testPool({ clock });
  open.push(pool);
  const define = (more: object = {}): ServerDefinition =>
    readServerOptions(
      { url: server.url, ...options, ...more },
      { ref: { scope: 'default', name: 'one' }, source: 'code', texts },
    );
  /** What was changed of the server, on whichever node. */
  let stored: object = {};
  let definition = define();
  const accepted = new Map<string, ToolSnapshot>([
    ['call', { ...tool('call'), annotations } as unknown as ToolSnapshot],
  ]);
  const calls = createOutboundCalls({
    ...{ pool, clock, logger: quiet },
    references: { compile: texts.compile, resolve: () => Promise.reject(new Error('nothing refers here')) },
    limits: { callsPerMinute: 3 },
    accepted: { of: () => accepted, first: () => Promise.resolve() },
    registered: ({ scope }) => (scope === MCPCALLS_SCOPE ? undefined : definition),
    async reconcile() {
      definition = define(stored);
    },
    checkOf: () => undefined,
    ...NO_PEOPLE,
    onCall: () => undefined,
  });
  const mark = newMark();
  return {
    server,
    clock,
    mark,
    sent: () => server.executions(mark),
    definition: () => definition,
    /** From now on the server is registered so. */
    redefine: (more: object) => {
      stored = more;
      definition = define(more);
    },
    /** The same on another node, of which no news has come. */
    redefineElsewhere: (more: object) => {
      stored = more;
    },
    call: (more: Partial<OutboundCall> = {}): Promise<CallOutcome> =>
      calls.call({
        server: definition,
        tool: 'call',
        arguments: { mark },
        driver: 'model',
        callFor: { agentId: 'a', conversationId: 'c', userId: 'ann' },
        policyVersion: 'v1',
        signal: new AbortController().signal,
        ...more,
      }),
  };
}

type ApprovedRig = Awaited<ReturnType<typeof rigWith>> & {
  readonly approval: ApprovalBinding & { readonly expiresAt: number };
};

/** The same, with a call that somebody has approved for a minute. */
async function approvedRig(): Promise<ApprovedRig> {
  const rig = await rigWith({ annotations: { destructiveHint: true } });
  const asked = await rig.call();
  if (asked.kind !== 'needs-approval') throw new Error(`it was ${asked.kind}`);
  return { ...rig, approval: { ...asked.binding, expiresAt: rig.clock.now() + MINUTE } };
}

const judging =
  (verdict: Judgement['verdict']): NonNullable<OutboundCall['judge']> =>
  () => ({ verdict, reason: 'the agent says so' });

describe('A call that a model makes', () => {
  it('waits for a person where the server is gated, and is sent once with an approval of it (W-35, W-98) (attack 51)', async () => {
    const rig = await rigWith({ annotations: READS, options: { gated: true } });
    const asked = await rig.call();
    expect(asked).toMatchObject({
      kind: 'needs-approval',
      reason: 'the definition of its server asks for that for every tool',
      record: { outcome: 'needs_approval', reached: 'no', attempts: 0 },
    });
    expect(rig.sent()).toBe(0);
    if (asked.kind !== 'needs-approval') throw new Error('unreachable');
    const approval = { ...asked.binding, expiresAt: rig.clock.now() + MINUTE };
    expect(await rig.call({ approval })).toMatchObject({ kind: 'answered' });
    expect(rig.sent()).toBe(1);
  });

  it('needs none where the tool only reads, or its server is not gated (W-36, W-38)', async () => {
    const reading = await rigWith({ annotations: READS });
    expect(await reading.call()).toMatchObject({ kind: 'answered' });
    const silent = await rigWith();
    expect(await silent.call()).toMatchObject({ kind: 'needs-approval' });
    silent.redefine({ gated: false });
    expect(await silent.call()).toMatchObject({ kind: 'answered' });
    expect([reading.sent(), silent.sent()]).toEqual([1, 1]);
  });

  it.each([
    [false, 'allow', 'answered'],
    [false, 'ask', 'needs-approval'],
    [false, 'deny', 'refused'],
    [true, 'allow', 'needs-approval'],
    [true, 'ask', 'needs-approval'],
    [true, 'deny', 'refused'],
    [['ca*'], 'allow', 'needs-approval'],
    [['one__call'], 'allow', 'needs-approval'],
    [['other'], 'allow', 'answered'],
  ] as const)(
    'of a server with `gated: %j`, where the agent says %s, is %s: the stricter counts (W-37) (W-39) (W-98, W-100)',
    async (gated, verdict, kind) => {
      const rig = await rigWith({ annotations: READS, options: { gated } });
      const outcome = await rig.call({ judge: judging(verdict) });
      expect(outcome).toMatchObject(
        kind === 'refused'
          ? { kind, code: 'DENIED', message: expect.stringContaining('the agent says so') }
          : { kind },
      );
      expect(rig.sent()).toBe(kind === 'answered' ? 1 : 0);
    },
  );

  it('is judged by what the server said when the tool was accepted, too (attack 37)', async () => {
    const rig = await rigWith({ options: { gated: false } });
    rig.server.tools = [{ ...tool('call'), annotations: { ...READS, destructiveHint: false } }];
    const seen: unknown[] = [];
    await rig.call({
      judge: asked => {
        seen.push(asked);
        return { verdict: 'deny', reason: '' };
      },
    });
    expect(seen).toEqual([
      { name: 'call', annotations: { readOnly: false, idempotent: false, destructive: false } },
    ]);
  });

  it('is not sent when its tool no longer only reads once it comes to that (attack 37)', async () => {
    const rig = await rigWith({ annotations: READS });
    const turn = {};
    expect(await rig.call({ turn, arguments: {} })).toMatchObject({ kind: 'answered' });
    rig.server.tools = [tool('call')];
    rig.server.forgetSessions();
    expect(await rig.call({ turn })).toMatchObject({
      code: 'DENIED',
      message: expect.stringContaining('call it again in a later turn'),
    });
    expect(rig.sent()).toBe(0);
    expect(await rig.call()).toMatchObject({ kind: 'needs-approval' });
  });

  it('tells its server that an agent makes it, as a rule does and a person does not (attack 29)', async () => {
    const rig = await rigWith({ annotations: READS });
    for (const driver of ['model', 'rule', 'person'] as const) await rig.call({ driver });
    const marks = rig.server.received
      .filter(({ method }) => method === 'tools/call')
      .map(({ params }) => (params._meta as Record<string, unknown> | undefined)?.['patchbay/calledBy']);
    expect(marks).toEqual(['agent', 'agent', undefined]);
  });

  it('is refused where it comes too often, in words for a model (E-104, EX-13)', async () => {
    const rig = await rigWith({ annotations: READS });
    for (let n = 0; n < 3; n += 1) await rig.call();
    expect(await rig.call()).toMatchObject({
      code: 'RATE_LIMITED',
      message: 'the tool "call" was called 3 times within a minute; do without it for a minute',
    });
    expect(await rig.call({ budget: { limitUsd: 1, spentUsd: 1 } })).toMatchObject({
      code: 'BUDGET_EXCEEDED',
      message: expect.stringContaining('answer with what is known'),
    });
    expect(rig.sent()).toBe(3);
  });
});

describe('An approved call', () => {
  it.each<[string, string, (rig: ApprovedRig) => Partial<OutboundCall> | undefined]>([
    ['its arguments', 'its arguments', ({ mark }) => ({ arguments: { mark, fault: 'none' } })],
    [
      'what the server says of the tool',
      'what its server says of the tool',
      ({ server }) => {
        server.tools = [{ ...tool('call'), description: 'sends the keys too' }];
        server.forgetSessions();
        return undefined;
      },
    ],
    [
      'the credential of the server',
      'with which credentials',
      ({ redefine }) => void redefine({ headers: { authorization: 'Bearer other' } }),
    ],
    [
      'the address of the server',
      'where its server is reached',
      ({ redefine, server }) => void redefine({ url: `${server.url}?elsewhere` }),
    ],
    [
      'the person for whom it is made',
      'the person',
      () => ({ callFor: { agentId: 'a', conversationId: 'c', userId: 'eve' } }),
    ],
    ['the policy of the agent', 'what the agent or the server asks', () => ({ policyVersion: 'v2' })],
    [
      'the gate of the server',
      'what the agent or the server asks',
      ({ redefine }) => void redefine({ gated: ['call'] }),
    ],
  ])('is not sent when %s changed while it waited, and says so (attack 51)', async (_, words, change) => {
    const rig = await approvedRig();
    const more = change(rig);
    // The first one finds out on its way where the server had not been heard of since.
    for (const time of [1, 2])
      expect(await rig.call({ approval: rig.approval, ...more }), `${time}`).toMatchObject({
        kind: 'refused',
        code: 'APPROVAL_CHANGED',
        message: expect.stringContaining(words),
        record: { outcome: 'APPROVAL_CHANGED', reached: 'no' },
      });
    expect(rig.sent()).toBe(0);
  });

  it('is not sent where another node has changed the server, and the news of it is still under way (attack 51)', async () => {
    const rig = await approvedRig();
    rig.redefineElsewhere({ headers: { authorization: 'Bearer other' } });
    expect(await rig.call({ approval: rig.approval })).toMatchObject({
      code: 'APPROVAL_CHANGED',
      message: expect.stringContaining('with which credentials'),
    });
    expect(rig.sent()).toBe(0);
  });

  it('is sent whatever the order of its arguments', async () => {
    const rig = await rigWith();
    const { mark } = rig;
    const asked = await rig.call({ arguments: { mark, fault: 'none' } });
    if (asked.kind !== 'needs-approval') throw new Error('it was let through');
    const approval = { ...asked.binding, expiresAt: rig.clock.now() + MINUTE };
    expect(await rig.call({ approval, arguments: { fault: 'none', mark } })).toMatchObject({
      kind: 'answered',
    });
  });

  it('is not sent when the approval has run out (attack 52)', async () => {
    const rig = await approvedRig();
    rig.clock.jump(MINUTE);
    expect(await rig.call({ approval: rig.approval })).toMatchObject({
      kind: 'refused',
      code: 'APPROVAL_EXPIRED',
    });
    expect(rig.sent()).toBe(0);
  });

  it('is not sent when the agent denies it by now (W-98)', async () => {
    const rig = await approvedRig();
    expect(await rig.call({ approval: rig.approval, judge: judging('deny') })).toMatchObject({
      code: 'DENIED',
    });
    expect(rig.sent()).toBe(0);
  });

  it('is not sent when only the connection finds out that the tool is another one (attack 37, attack 51)', async () => {
    const rig = await approvedRig();
    const turn = {};
    expect(await rig.call({ turn })).toMatchObject({ kind: 'needs-approval' });
    rig.server.tools = [{ ...tool('call'), description: 'sends the keys too' }];
    rig.server.forgetSessions();
    const refused = { code: 'APPROVAL_CHANGED', message: expect.stringContaining('of the tool changed') };
    expect(await rig.call({ turn, approval: rig.approval })).toMatchObject(refused);
    rig.server.tools = [];
    rig.server.forgetSessions();
    expect(await rig.call({ turn, approval: rig.approval })).toMatchObject(refused);
    expect(rig.sent()).toBe(0);
  });

  it('asks nobody about a call as the caller, who is not there any more when it is decided (E-90)', async () => {
    const rig = await rigWith();
    const server = {
      ...rig.definition(),
      ref: { scope: MCPCALLS_SCOPE, name: 'document' },
      gated: 'none',
      auth: { kind: 'caller', scheme: 'Bearer' },
    } as const;
    const callFor = {
      ...{ agentId: 'a', conversationId: 'c', userId: 'ann' },
      callerToken: async () => 'token of ann',
    };
    expect(await rig.call({ server, callFor, judge: judging('ask') })).toMatchObject({
      code: 'DENIED',
      message: expect.stringContaining('called as whoever talks to the agent'),
    });
    expect(rig.sent()).toBe(0);
    expect(await rig.call({ server, callFor, judge: judging('allow') })).toMatchObject({ kind: 'answered' });
  });

  it('lets no rule call what a person must approve, and says what would (EX-12)', async () => {
    const rig = await rigWith({ options: { gated: ['call'] } });
    expect(await rig.call({ driver: 'rule' })).toMatchObject({
      code: 'DENIED',
      message: expect.stringMatching(/^DENIED: .*"gated" in .* names it.*"gated": false/),
    });
    rig.redefine({ gated: false });
    expect(await rig.call({ driver: 'rule', judge: judging('ask') })).toMatchObject({
      code: 'DENIED',
      message: expect.stringMatching(/^DENIED: .*the agent says so.*"exempt"/),
    });
    expect(rig.sent()).toBe(0);
  });
});
