import type { ApprovalBinding, CallOutcome } from '../../../../connections/call/outcome.ts';
import type { NamedTool } from '../../../approval/tool-pattern.ts';
import type { OfferedTool } from '../../../model/tool-schema/compile-tools.ts';

/** What a person has approved, and until when, in epoch ms. */
export type Approval = ApprovalBinding & { readonly expiresAt: number };

/** Something a model may call in a turn: a tool of an MCP server, or an HTTP call of the agent. */
export interface CallableTool extends OfferedTool {
  /** `default/github`, for people and for what is said to be from outside. */
  readonly server: string;
  /** What the server itself calls it. */
  readonly tool: string;
  /** As policies see it. */
  readonly named: NamedTool;
  /** Once: whoever calls writes it into the journal. Rejects only with the reason of the turn's signal. */
  call(args: Readonly<Record<string, unknown>>, approval: Approval | undefined): Promise<CallOutcome>;
}

/** Where tools come from. A source that cannot be reached offers none, and holds up nothing (W-11). */
export interface ToolSource {
  list(): Promise<readonly CallableTool[]>;
}

/** The tools of a turn, found when the first of them is wanted. */
export interface Toolbox {
  /** The same whenever it is asked within a turn (W-21). */
  all(): Promise<readonly CallableTool[]>;
  find(name: string): Promise<CallableTool | undefined>;
}

/** Of tools with the same name the first counts. */
export function createToolbox(sources: readonly ToolSource[]): Toolbox {
  let found: Promise<ReadonlyMap<string, CallableTool>> | undefined;
  const look = async () => {
    const lists = await Promise.all(sources.map(source => source.list()));
    return new Map(
      lists
        .flat()
        .toReversed()
        .map(tool => [tool.name, tool]),
    );
  };
  const byName = () => {
    found ??= look();
    return found;
  };
  return {
    all: async () => [...(await byName()).values()].toReversed(),
    find: async name => (await byName()).get(name),
  };
}
