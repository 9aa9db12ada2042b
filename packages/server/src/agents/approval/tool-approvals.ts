import type { Judgement } from '../../connections/call/outbound-call.ts';
import type { ToolAnnotations } from '../../connections/tool/annotations.ts';
import { sha256OfJson } from '../../kernel/digest.ts';
import {
  approvalFields,
  type ToolApprovalsOfAgent,
  type ToolApprovalsOfTask,
  type ToolPolicy,
} from './approval-fields.ts';
import type { HitlConfig } from './hitl-config.ts';
import { byStrictness, type Timeout, type TimeoutPolicy } from './timeout.ts';
import { compilePattern, mostPrecise, type NamedTool } from './tool-pattern.ts';

/** A tool that is about to be called. */
export interface JudgedTool extends NamedTool {
  /** As far as they are believed; empty where nobody says anything. */
  readonly annotations: ToolAnnotations;
}

/** A call that a person is to be asked about. */
export interface AskedTool extends NamedTool {
  /** See `NeedsApproval`. */
  readonly serverAsks: boolean;
}

/** How a pause for calls is, whoever decides in the end. */
export interface PauseTerms {
  readonly timeoutPolicy: TimeoutPolicy;
  /** An ISO-8601 duration; empty without one. */
  readonly approvalTimeout: string;
  /** For whoever decides, besides what is asked; `undefined` where nothing is said. */
  readonly reason: string | undefined;
  /** For the person in the conversation, where something else is to be said than usually. */
  readonly message: string | undefined;
}

/** What an agent's configuration says of calls of its tools (platform.md 5.2). Pure: the same each time, on every node. */
export interface ToolApprovals {
  /** The stricter of `toolApprovals` and `toolPolicy`: deny, then ask, then allow. */
  judge(tool: JudgedTool): Judgement;
  /** Another one for every policy that might judge otherwise; not for one that only waits otherwise. */
  readonly policyVersion: string;
  /**
   * How one pause for all of these calls is: the strictest of what holds for each. `autoApprovals` is how many pauses of the turn the clock has
   * approved. It approves none that a server asks for: what whoever runs the platform has closed, no author opens by waiting (C9).
   */
  pauseTermsFor(calls: readonly AskedTool[], autoApprovals: number): PauseTerms;
  /** Further calls that need a person are answered with an error in a turn that has paused so often. */
  readonly maxPausesPerTurn: number;
  /** The same with what a task says besides, which can only ask for more. */
  forTask(task: {
    readonly toolApprovals?: ToolApprovalsOfTask | undefined;
    readonly toolPolicy?: ToolPolicy | undefined;
  }): ToolApprovals;
}

const NOTHING: ToolApprovalsOfAgent = approvalFields.ofAgent.parse({});

/** In one text. */
const MAX_NAMES = 20;

export function createToolApprovals(agent: HitlConfig | undefined): ToolApprovals {
  return effective(agent, agent?.toolApprovals ?? NOTHING, undefined, undefined);
}

function effective(
  hitl: HitlConfig | undefined,
  agent: ToolApprovalsOfAgent,
  task: ToolApprovalsOfTask | undefined,
  policy: ToolPolicy | undefined,
): ToolApprovals {
  const requireApproval = [...agent.requireApproval, ...(task?.requireApproval ?? [])];
  const required = requireApproval.map(text => ({ pattern: compilePattern(text) }));
  const exempt = agent.exempt.map(compilePattern);
  const levels = [levelOf(agent, inherited(hitl)), ...(task ? [levelOf(withoutAutoApproval(task), {})] : [])];
  const maxAutoApprovals = Math.min(
    agent.maxAutoApprovalsPerTurn,
    task?.maxAutoApprovalsPerTurn ?? agent.maxAutoApprovalsPerTurn,
  );
  const atTheEnd = [agent.onNoProgress, task?.onNoProgress ?? agent.onNoProgress]
    .map(word => (word === 'WAIT_FOR_HUMAN' ? 'WAIT_INDEFINITELY' : word))
    .toSorted((one, other) => byStrictness({ timeoutPolicy: one }, { timeoutPolicy: other }))[0]!;

  function asked(tool: JudgedTool): Judgement {
    const line = exempt.some(pattern => pattern.fitsExposed(tool)) ? undefined : mostPrecise(required, tool);
    if (!line) return { verdict: 'allow', reason: '' };
    const { text } = line.pattern;
    return { verdict: 'ask', reason: `"${text}" in its toolApprovals asks for that`, rule: text };
  }

  return {
    judge(tool) {
      const byName = asked(tool);
      const byKind = policy ? verdictOf(policy, tool.annotations) : byName;
      return RANK[byKind.verdict] > RANK[byName.verdict] ? byKind : byName;
    },
    policyVersion: sha256OfJson({ requireApproval, exempt: agent.exempt, policy: policy ?? null }),
    pauseTermsFor(calls, autoApprovals) {
      const [first] = calls.flatMap(tool => termsOf(tool, levels)).toSorted(byStrictness);
      const {
        timeoutPolicy = 'WAIT_INDEFINITELY',
        approvalTimeout = '',
        pauseReason,
        pendingMessage,
      } = first ?? {};
      const isTooOften = timeoutPolicy === 'AUTO_APPROVE' && autoApprovals >= maxAutoApprovals;
      const isClosed = timeoutPolicy === 'AUTO_APPROVE' && calls.some(({ serverAsks }) => serverAsks);
      const names = namesOf(calls);
      return {
        timeoutPolicy: isClosed ? 'WAIT_INDEFINITELY' : isTooOften ? atTheEnd : timeoutPolicy,
        approvalTimeout,
        reason: pauseReason,
        message: pendingMessage?.replaceAll('{toolNames}', () => names),
      };
    },
    maxPausesPerTurn: Math.min(agent.maxPausesPerTurn, task?.maxPausesPerTurn ?? agent.maxPausesPerTurn),
    forTask: ({ toolApprovals, toolPolicy }) => effective(hitl, agent, toolApprovals, toolPolicy),
  };
}

const RANK = { allow: 0, ask: 1, deny: 2 } as const;

/** The first line whose word about the tool is true decides (W-97, W-99). */
function verdictOf(policy: ToolPolicy, annotations: ToolAnnotations): Judgement {
  const { readOnly, destructive, idempotent, openWorld } = annotations;
  const said: Readonly<Record<string, boolean | undefined>> = {
    ...{ read_only: readOnly, destructive, idempotent, open_world: openWorld, else: true },
  };
  for (const line of policy) {
    const [kind, verdict] = Object.entries(line)[0]!;
    if (said[kind]) return { verdict, reason: `"${kind}": "${verdict}" in its toolPolicy says so` };
  }
  return { verdict: 'ask', reason: 'its toolPolicy says nothing of such tools' };
}

interface Friction extends Timeout {
  readonly pauseReason?: string | undefined;
  readonly pendingMessage?: string | undefined;
}

type Level = (tool: NamedTool) => Friction;

/** What one place of the configuration says of a pause: its most precise rule, itself, and what stands above it. */
function levelOf(config: ToolApprovalsOfAgent | ToolApprovalsOfTask, above: Friction): Level {
  const rules = config.rules.map(rule => ({ rule, pattern: compilePattern(rule.match) }));
  return tool => {
    const said: readonly Friction[] = [mostPrecise(rules, tool)?.rule ?? {}, config, above];
    const first = <K extends keyof Friction>(key: K) => said.find(one => one[key] !== undefined)?.[key];
    return {
      timeoutPolicy: first('timeoutPolicy'),
      approvalTimeout: first('approvalTimeout'),
      pauseReason: first('pauseReason'),
      pendingMessage: first('pendingMessage'),
    };
  };
}

/** That the clock approves the pauses of rules does not say that it approves calls with arguments nobody has seen. */
function inherited(hitl: HitlConfig | undefined): Friction {
  return hitl ? withoutAutoApproval(hitl) : {};
}

function withoutAutoApproval<T extends Timeout & { readonly rules?: readonly Timeout[] }>(config: T): T {
  const demoted = (timeout: Timeout) =>
    timeout.timeoutPolicy === 'AUTO_APPROVE' ? { timeoutPolicy: 'WAIT_INDEFINITELY' as const } : {};
  const rules = config.rules?.map(rule => ({ ...rule, ...demoted(rule) }));
  return { ...config, ...demoted(config), ...(rules && { rules }) };
}

/** The stricter of the places that say how long, in the words of the last that has any. */
function termsOf(tool: NamedTool, levels: readonly Level[]): Friction {
  const said = levels.map(level => level(tool));
  const [strictest] = said.filter(one => one.timeoutPolicy !== undefined).toSorted(byStrictness);
  const last = (key: 'pauseReason' | 'pendingMessage') => said.findLast(one => one[key] !== undefined)?.[key];
  return {
    timeoutPolicy: strictest?.timeoutPolicy,
    approvalTimeout: strictest?.approvalTimeout,
    pauseReason: last('pauseReason'),
    pendingMessage: last('pendingMessage'),
  };
}

function namesOf(calls: readonly NamedTool[]): string {
  const names = [...new Set(calls.map(({ exposedName }) => exposedName))];
  const more = names.length > MAX_NAMES ? [`and ${names.length - MAX_NAMES} more`] : [];
  return [...names.slice(0, MAX_NAMES), ...more].join(', ');
}
