import { DO_WITHOUT } from '../../../../connections/call/budget.ts';
import {
  type ApprovalBinding,
  type CallRecord,
  type Ended,
  wordsFor,
} from '../../../../connections/call/outcome.ts';
import { sha256OfJson } from '../../../../kernel/digest.ts';
import type { ToolApprovals } from '../../../approval/tool-approvals.ts';
import { BUILT_IN_TOOLS, type BuiltInToolName } from '../../../document/built-in-tools.ts';
import type { LlmTask } from '../../../document/llm.ts';
import type { StepTools } from '../../../step/step.ts';
import { type BuiltInTool, NoResult } from './builtin/built-in-tool.ts';
import { calculator } from './builtin/calculator.ts';
import { dataformatter } from './builtin/dataformatter.ts';
import { datetime } from './builtin/datetime.ts';
import type { Approval, ListedTool, Made, ToolSource } from './callable-tool.ts';
import { whyNotApproved } from './own-approval.ts';
import { OVERSPENT, type Purse } from './purse.ts';

const TOOLS: Readonly<Record<BuiltInToolName, BuiltInTool>> = { calculator, datetime, dataformatter };

/** A tool of the platform itself. */
interface ListedBuiltIn extends ListedTool {
  readonly builtIn: BuiltInTool;
}

/** Those a task lets its model call; none unless it says so. */
export function listBuiltInTools({
  enableBuiltInTools,
  builtInToolsWhitelist,
}: LlmTask): readonly ListedBuiltIn[] {
  if (!enableBuiltInTools) return [];
  const wanted = builtInToolsWhitelist.length === 0 ? BUILT_IN_TOOLS : builtInToolsWhitelist;
  return BUILT_IN_TOOLS.filter(name => wanted.includes(name)).map(name => {
    const { description, inputSchema } = TOOLS[name];
    return {
      ...{ name, description, inputSchema, server: 'patchbay', tool: name, builtIn: TOOLS[name] },
      named: { source: 'builtin', exposedName: name, name },
    };
  });
}

const PARTS: Readonly<Record<keyof ApprovalBinding, string>> = {
  server: 'the platform',
  tool: 'the tool',
  arguments: 'its arguments',
  person: 'the person for whom it is made',
  policy: 'what the agent asks of such calls',
};
const CHARACTERS_A_STEP = 10;

/** They change nothing and reach nothing: an agent's policies may ask about them all the same. */
export function builtInTools(
  listed: readonly ListedBuiltIn[],
  turn: { readonly tools: StepTools; readonly approvals: ToolApprovals; readonly purse: Purse },
): ToolSource<ListedBuiltIn> {
  const { tools, approvals, purse } = turn;
  const { clock, conversation, budget } = tools;

  function call(
    tool: ListedBuiltIn,
    args: Readonly<Record<string, unknown>>,
    approval: Approval | undefined,
  ): Ended {
    const judged = approvals.judge({ ...tool.named, annotations: { readOnly: true, idempotent: true } });
    if (judged.verdict === 'deny') {
      const message = `this agent may not call "${tool.name}": ${judged.reason}; do without it`;
      return { kind: 'refused', code: 'DENIED', message };
    }
    const binding: ApprovalBinding = {
      server: sha256OfJson([tool.server]),
      tool: sha256OfJson([tool.name]),
      arguments: sha256OfJson(args),
      person: sha256OfJson([conversation.userId]),
      policy: sha256OfJson([approvals.policyVersion]),
    };
    if (judged.verdict === 'ask' && !approval) {
      const { reason, rule: matchedRule } = judged;
      const { inputSchema } = tool;
      return {
        kind: 'needs-approval',
        arguments: args,
        serverAsks: false,
        binding,
        inputSchema,
        reason,
        matchedRule,
      };
    }
    const refused = approval && whyNotApproved(approval, binding, clock.now(), PARTS);
    if (refused) return { kind: 'refused', ...refused };
    budget.work(JSON.stringify(args).length / CHARACTERS_A_STEP);
    try {
      return answered(tool.builtIn.run(args, clock.now()));
    } catch (thrown) {
      if (!(thrown instanceof NoResult)) throw thrown;
      return { kind: 'refused', code: 'INVALID_ARGUMENTS', message: thrown.message };
    }
  }

  /** They are under the limits of all tools (E-104). */
  async function refused({ name, server }: ListedBuiltIn): Promise<Ended | undefined> {
    if (purse.isEmpty) return { kind: 'refused', code: 'BUDGET_EXCEEDED', message: OVERSPENT };
    const { agentId } = conversation;
    const often = await tools.mcp.tooOften({ agentId, server, tool: name });
    return often === undefined
      ? undefined
      : { kind: 'refused', code: 'RATE_LIMITED', message: `${often}; ${DO_WITHOUT}` };
  }

  return {
    pure: new Set(listed.map(({ name }) => name)),
    list: async () => ({ tools: listed, away: [] }),
    async call(tool, args, { approval }): Promise<Made> {
      const ended = (await refused(tool)) ?? call(tool, args, approval);
      const { server, tool: name } = tool;
      const record: CallRecord = {
        ...{ server, tool: name, ...wordsFor(ended), durationMs: 0, costUsd: undefined },
        attempts: ended.kind === 'answered' ? 1 : 0,
      };
      return { ...ended, record };
    },
  };
}

function answered(text: string): Ended {
  return {
    kind: 'answered',
    result: { value: null, text, isError: false, cut: false, outside: false, suspicious: [] },
  };
}
