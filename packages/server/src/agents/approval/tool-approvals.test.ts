import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { approvalFields } from './approval-fields.ts';
import { hitlConfig } from './hitl-config.ts';
import { createToolApprovals, type JudgedTool } from './tool-approvals.ts';

type Written<T extends z.ZodType> = z.input<T>;
type OfAgent = Written<typeof approvalFields.ofAgent>;
type OfTask = Written<typeof approvalFields.ofTask>;

const tool = (exposedName: string, annotations: JudgedTool['annotations'] = {}): JudgedTool => ({
  ...{ source: 'mcp', exposedName, name: exposedName.replace(/^.*__/, ''), annotations },
});

function approvals(toolApprovals: OfAgent, more: Omit<Written<typeof hitlConfig>, 'toolApprovals'> = {}) {
  return createToolApprovals(hitlConfig.parse({ ...more, toolApprovals }));
}

const forTask = (agent: ReturnType<typeof approvals>, task: OfTask) =>
  agent.forTask({ toolApprovals: approvalFields.ofTask.parse(task) });

const POLICY = [{ destructive: 'deny' }, { read_only: 'allow' }, { else: 'ask' }] as const;

describe('the tools of an agent that wait for a person', () => {
  it('are none where nothing is said', () => {
    const none = { verdict: 'allow' };
    expect(createToolApprovals(undefined).judge(tool('delete_all'))).toMatchObject(none);
    expect(approvals({}).judge(tool('delete_all'))).toMatchObject(none);
  });

  it('are those it names, and no exempt one', () => {
    const agent = approvals({ requireApproval: ['delete_*', '*'], exempt: ['search', 'github__get_*'] });
    const verdicts = ['delete_x', 'search', 'github__get_user', 'evil__search'].map(
      name => agent.judge(tool(name)).verdict,
    );
    expect(verdicts).toEqual(['ask', 'allow', 'allow', 'ask']);
    expect(agent.judge(tool('delete_x'))).toEqual({
      verdict: 'ask',
      reason: '"delete_*" in its toolApprovals asks for that',
      rule: 'delete_*',
    });
  });

  it('are more where a task asks for more, and never less', () => {
    const agent = approvals({ requireApproval: ['delete_*'], exempt: ['delete_draft'] });
    const task = forTask(agent, { requireApproval: ['send_*'], exempt: ['*'] });
    const verdicts = ['delete_x', 'send_mail', 'delete_draft', 'read'].map(
      name => task.judge(tool(name)).verdict,
    );
    expect(verdicts).toEqual(['ask', 'ask', 'allow', 'allow']);
  });

  it('are more or fewer by the first line of a list whose word is true (W-97) (W-99)', () => {
    const agent = createToolApprovals(undefined).forTask({ toolPolicy: [...POLICY] });
    const verdict = (annotations: JudgedTool['annotations']) => agent.judge(tool('x', annotations)).verdict;
    expect(verdict({ destructive: true, readOnly: true })).toBe('deny');
    expect(verdict({ destructive: false, readOnly: true })).toBe('allow');
    expect(verdict({ openWorld: true })).toBe('ask');
    expect(verdict({})).toBe('ask');
    expect(agent.judge(tool('x', { destructive: true })).reason).toBe(
      '"destructive": "deny" in its toolPolicy says so',
    );
  });

  it('are the stricter of both (W-100)', () => {
    const agent = approvals({ requireApproval: ['*'], exempt: ['free'] }).forTask({
      toolPolicy: [...POLICY],
    });
    expect(agent.judge(tool('x', { readOnly: true })).verdict).toBe('ask');
    expect(agent.judge(tool('x', { destructive: true })).verdict).toBe('deny');
    expect(agent.judge(tool('free', {})).verdict).toBe('ask');
  });

  it('only ever become more by a task and a list, whatever they say', () => {
    const pattern = fc.constantFrom('*', 'a*', 'mcp:*', 'a', 'b', 'mcp:b*', 'x__a');
    const patterns = fc.array(pattern, { maxLength: 3 });
    const config = fc.record({ requireApproval: patterns, exempt: patterns });
    const line = fc.record({ destructive: fc.constantFrom('allow', 'ask', 'deny') } as const);
    const rank = { allow: 0, ask: 1, deny: 2 };
    fc.assert(
      fc.property(config, config, line, fc.constantFrom('a', 'b', 'x__a'), (own, task, first, name) => {
        const agent = approvals(own);
        const stricter = forTask(agent, task);
        const listed = agent.forTask({ toolPolicy: [first, { else: 'allow' }] });
        const asked = tool(name, { destructive: true });
        const before = rank[agent.judge(asked).verdict];
        expect(rank[stricter.judge(asked).verdict]).toBeGreaterThanOrEqual(before);
        expect(rank[listed.judge(asked).verdict]).toBeGreaterThanOrEqual(before);
      }),
    );
  });

  it('have another version when they are others, and only then', () => {
    const version = (own: OfAgent) => approvals(own).policyVersion;
    const one = version({ requireApproval: ['a'] });
    expect(version({ requireApproval: ['a'], maxPausesPerTurn: 9, pauseReason: 'x' })).toBe(one);
    const others = [
      version({ requireApproval: ['b'] }),
      version({ requireApproval: ['a'], exempt: ['b'] }),
      forTask(approvals({ requireApproval: ['a'] }), { requireApproval: ['b'] }).policyVersion,
      approvals({ requireApproval: ['a'] }).forTask({ toolPolicy: [...POLICY] }).policyVersion,
    ];
    expect(new Set([one, ...others]).size).toBe(5);
  });
});

describe('a pause for calls of tools', () => {
  const terms = (agent: ReturnType<typeof approvals>, ...names: string[]) =>
    agent.pauseTermsFor(
      names.map(name => ({ ...tool(name), serverAsks: false })),
      0,
    );

  it('waits as the most precise rule says, else as toolApprovals, else as the agent', () => {
    const agent = approvals(
      {
        timeoutPolicy: 'ABORT',
        rules: [
          { match: '*_mail', timeoutPolicy: 'AUTO_APPROVE', approvalTimeout: 'PT1M' },
          { match: 'send_mail', timeoutPolicy: 'AUTO_REJECT', pauseReason: 'Mail leaves the house.' },
        ],
      },
      { approvalTimeout: 'PT1H', pauseReason: 'Ask Ann.' },
    );
    expect(terms(agent, 'send_mail')).toEqual({
      timeoutPolicy: 'AUTO_REJECT',
      approvalTimeout: 'PT1H',
      reason: 'Mail leaves the house.',
      message: undefined,
    });
    expect(terms(agent, 'read_mail')).toMatchObject({
      timeoutPolicy: 'AUTO_APPROVE',
      approvalTimeout: 'PT1M',
      reason: 'Ask Ann.',
    });
    expect(terms(agent, 'other')).toMatchObject({ timeoutPolicy: 'ABORT', approvalTimeout: 'PT1H' });
  });

  it('for several calls is the strictest', () => {
    const line = (
      match: string,
      timeoutPolicy: 'AUTO_APPROVE' | 'AUTO_REJECT' | 'ABORT' | 'WAIT_INDEFINITELY',
    ) => ({
      ...{ match, timeoutPolicy, approvalTimeout: 'PT1M', pauseReason: match },
    });
    const agent = approvals({
      rules: [
        line('approve', 'AUTO_APPROVE'),
        { ...line('later', 'AUTO_APPROVE'), approvalTimeout: 'PT2M' },
        line('reject', 'AUTO_REJECT'),
        line('abort', 'ABORT'),
        line('wait', 'WAIT_INDEFINITELY'),
      ],
    });
    const order = ['approve', 'later', 'reject', 'abort', 'wait'];
    for (let count = 1; count <= order.length; count += 1) {
      for (const batch of [order.slice(0, count), order.slice(0, count).toReversed()])
        expect(terms(agent, ...batch).reason).toBe(order[count - 1]);
    }
  });

  it('is not approved by the clock because pauses of rules are', () => {
    const inherited = { timeoutPolicy: 'AUTO_APPROVE', approvalTimeout: 'PT1S' } as const;
    expect(terms(approvals({}, inherited), 'x').timeoutPolicy).toBe('WAIT_INDEFINITELY');
    expect(terms(approvals({ timeoutPolicy: 'AUTO_APPROVE' }, inherited), 'x').timeoutPolicy).toBe(
      'AUTO_APPROVE',
    );
  });

  it('of a task is at least as strict', () => {
    const agent = approvals({ timeoutPolicy: 'AUTO_REJECT', approvalTimeout: 'PT1H', pauseReason: 'agent' });
    const loose = { timeoutPolicy: 'AUTO_APPROVE', approvalTimeout: 'PT1S', pauseReason: 'task' } as const;
    expect(terms(forTask(agent, loose), 'x')).toMatchObject({
      timeoutPolicy: 'WAIT_INDEFINITELY',
      reason: 'task',
    });
    const ruled = forTask(agent, {
      rules: [{ match: 'x', timeoutPolicy: 'ABORT', approvalTimeout: 'PT1M' }],
    });
    expect(terms(ruled, 'x')).toMatchObject({
      timeoutPolicy: 'ABORT',
      approvalTimeout: 'PT1M',
      reason: 'agent',
    });
    expect(terms(ruled, 'y')).toMatchObject({ timeoutPolicy: 'AUTO_REJECT', approvalTimeout: 'PT1H' });
  });

  it('is left to a person where a server asks for one of the calls, whatever the agent says of the clock (C9)', () => {
    const auto = { timeoutPolicy: 'AUTO_APPROVE', approvalTimeout: 'PT1S' } as const;
    const policyOf = (agent: OfAgent, ...serverAsks: boolean[]) =>
      approvals(agent).pauseTermsFor(
        serverAsks.map(asks => ({ ...tool('x'), serverAsks: asks })),
        0,
      ).timeoutPolicy;
    expect(policyOf(auto, false, false)).toBe('AUTO_APPROVE');
    expect(policyOf(auto, false, true)).toBe('WAIT_INDEFINITELY');
    expect(policyOf({ rules: [{ match: '*', ...auto }] }, true)).toBe('WAIT_INDEFINITELY');
    expect(policyOf({ ...auto, maxAutoApprovalsPerTurn: 0, onNoProgress: 'AUTO_REJECT' }, true)).toBe(
      'WAIT_INDEFINITELY',
    );
    expect(policyOf({ ...auto, timeoutPolicy: 'AUTO_REJECT' }, true)).toBe('AUTO_REJECT');
  });

  it('is left to a person when the clock has approved too many, or what is said instead', () => {
    const auto = { timeoutPolicy: 'AUTO_APPROVE', approvalTimeout: 'PT1S' } as const;
    const after = (agent: ReturnType<typeof approvals>, count: number) =>
      agent.pauseTermsFor([{ ...tool('x'), serverAsks: false }], count).timeoutPolicy;
    const agent = approvals(auto);
    expect([0, 1, 2, 3].map(count => after(agent, count))).toEqual([
      ...['AUTO_APPROVE', 'AUTO_APPROVE'],
      ...['WAIT_INDEFINITELY', 'WAIT_INDEFINITELY'],
    ]);
    expect(after(approvals({ ...auto, maxAutoApprovalsPerTurn: 0, onNoProgress: 'ABORT' }), 0)).toBe('ABORT');
    const rejects = approvals({ ...auto, onNoProgress: 'AUTO_REJECT' });
    expect(after(forTask(rejects, { maxAutoApprovalsPerTurn: 1 }), 1)).toBe('AUTO_REJECT');
    expect(after(forTask(rejects, { maxAutoApprovalsPerTurn: 9 }), 2)).toBe('AUTO_REJECT');
    expect(after(forTask(rejects, { onNoProgress: 'ABORT' }), 2)).toBe('ABORT');
  });

  it('tells which tools, each once and not all of very many', () => {
    const agent = approvals({ pendingMessage: 'Waiting for $& {toolNames}; {toolNames}' });
    expect(terms(agent, 'b', 'a', 'b').message).toBe('Waiting for $& b, a; b, a');
    const many = Array.from({ length: 30 }, (_, n) => `t${n}`);
    expect(terms(agent, ...many).message).toMatch(/t19, and 10 more$/);
    expect(terms(approvals({}), 'a')).toMatchObject({ reason: undefined, message: undefined });
  });

  it('happens as often in a turn as agent and task allow', () => {
    expect(createToolApprovals(undefined).maxPausesPerTurn).toBe(3);
    const agent = approvals({ maxPausesPerTurn: 5 });
    expect(
      [{}, { maxPausesPerTurn: 9 }, { maxPausesPerTurn: 1 }].map(
        task => forTask(agent, task).maxPausesPerTurn,
      ),
    ).toEqual([5, 5, 1]);
  });
});

describe('what documents may say of it', () => {
  /** Each problem with its place. */
  const problems = (toolApprovals: unknown, more: object = {}) => {
    const { error } = hitlConfig.safeParse({ ...more, toolApprovals });
    return error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('\n');
  };

  it.each([
    [{ requireApproval: ['mpc:x'] }, /requireApproval\.0: names the unknown source "mpc"; did you/],
    [{ exempt: ['a b'] }, /exempt\.0: must have letters/],
    [{ requireApproval: Array(101).fill('a') }, /at most 100 entries/],
    [{ maxPausesPerTurn: 0 }, /maxPausesPerTurn/],
    [{ maxPausesPerTurn: 11 }, /maxPausesPerTurn/],
    [{ maxAutoApprovalsPerTurn: 11 }, /maxAutoApprovalsPerTurn/],
    [{ onNoProgress: 'GO_ON' }, /onNoProgress/],
    [{ inGroupTurns: 'INBOX' }, /inGroupTurns: must be REJECT/],
    [{ pauseReason: 'x'.repeat(501) }, /at most 500 characters/],
    [{ pendingMessage: 'x'.repeat(501) }, /at most 500 characters/],
    [{ approvalTimeout: '30m' }, /must be an ISO-8601 duration/],
    [{ timeoutPolicy: 'ABORT' }, /toolApprovals\.approvalTimeout: is needed with ABORT/],
    [{ rules: [{ match: 'x', timeoutPolicy: 'ABORT' }] }, /rules\.0\.approvalTimeout: is needed/],
    [{ rules: [{ match: ':' }] }, /rules\.0\.match/],
    [{ rules: [{ match: 'x', gate: false }] }, /Unrecognized key: "gate"/],
    [{ rules: [{}] }, /rules\.0\.match/],
    [{ gates: [] }, /Unrecognized key: "gates"/],
  ])('refuses %j', (toolApprovals, message) => {
    expect(problems(toolApprovals)).toMatch(message);
  });

  it('takes a policy whose time another place says', () => {
    const config = { timeoutPolicy: 'ABORT', rules: [{ match: 'x', timeoutPolicy: 'AUTO_REJECT' }] };
    expect(problems(config, { approvalTimeout: 'PT1H' })).toBeUndefined();
    expect(problems({ ...config, approvalTimeout: 'PT1H', inGroupTurns: 'REJECT' })).toBeUndefined();
    expect(() => approvalFields.ofTask.parse(config)).toThrow(/is needed with ABORT/);
  });

  it.each([
    [[]],
    [[{ destructive: 'deny' }]],
    [[{ else: 'ask' }, { destructive: 'deny' }]],
    [[{ destructive: 'deny', read_only: 'allow' }, { else: 'ask' }]],
    [[{}, { else: 'ask' }]],
    [[{ dangerous: 'deny' }, { else: 'ask' }]],
    [[{ destructive: 'maybe' }, { else: 'ask' }]],
    [[...Array(20).fill({ destructive: 'deny' }), { else: 'ask' }]],
  ])('refuses the list %j (W-97)', list => {
    expect(approvalFields.toolPolicy.safeParse(list).success).toBe(false);
    expect(approvalFields.toolPolicy.safeParse(POLICY).success).toBe(true);
  });
});
