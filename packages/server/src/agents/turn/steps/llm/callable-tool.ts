import type { ApprovalBinding, CallOutcome, CallRecord } from '../../../../connections/call/outcome.ts';
import type { NamedTool } from '../../../approval/tool-pattern.ts';
import type { ModelTool } from '../../../model/model.ts';
import type { SchemaDialect } from '../../../model/providers.ts';
import {
  type CompiledTools,
  compileTools,
  type OfferedTool,
} from '../../../model/tool-schema/compile-tools.ts';
import { describeLosses } from '../../../model/tool-schema/describe-losses.ts';
import { remembered } from './remembered.ts';

/** What a person has approved, and until when, in epoch ms. */
export type Approval = ApprovalBinding & {
  readonly expiresAt: number;
  /** The arguments that were shown, where whoever approved the call wrote others. */
  readonly shown?: Arguments | undefined;
};

/** Something a model may call, as it is listed: nothing of a turn is in it. */
export interface ListedTool extends OfferedTool {
  /** `default/github`, for people and for what is said to be from outside. */
  readonly server: string;
  /** What the server itself calls it. */
  readonly tool: string;
  /** As the agent's policies see it. */
  readonly named: NamedTool;
  /** What is known of a call of it whose node went down: what that costs, it costs. */
  readonly lost?: CallRecord;
}

/** What a call came to, as the journal keeps it: plain JSON. */
export type Made = CallOutcome | OwnOutcome;

/** In a form of the source's own, which `settle` reads. */
export interface OwnOutcome {
  readonly kind: 'own';
  readonly own: unknown;
  readonly record: CallRecord;
}

/** What a call came to that asks nobody any more. */
export type Settled = Exclude<CallOutcome, { kind: 'needs-approval' | 'needs-sign-in' }>;

type Arguments = Readonly<Record<string, unknown>>;

/** One call of a tool. */
export interface ToolRequest {
  readonly approval: Approval | undefined;
  /** Told when the turn's signal ends the call, before it rejects. */
  readonly onInterrupted: (record: CallRecord) => void;
}

/** The same in a turn. */
export interface CallableTool extends ListedTool {
  /** Once: whoever calls writes it into the journal. Rejects only with the reason of the turn's signal. */
  call(args: Arguments, request: ToolRequest): Promise<Made>;
  /** See `ToolSource`. */
  settle(args: Arguments, made: OwnOutcome): Promise<Settled>;
}

/** What a source has now. */
export interface ListedTools<T extends ListedTool = ListedTool> {
  /** The same list as long as it has the same tools: what is made of a list is made once. */
  readonly tools: readonly T[];
  /** Servers that cannot be reached, for whoever misses a tool. */
  readonly away: readonly string[];
}

/** Where tools come from. A server that cannot be reached offers none, and holds up nothing (W-11). */
export interface ToolSource<T extends ListedTool = ListedTool> {
  list(): Promise<ListedTools<T>>;
  /** Names of tools that change nothing: what they found is kept, and no intent need be written down before they are called. */
  readonly pure?: ReadonlySet<string>;
  call(tool: T, args: Arguments, request: ToolRequest): Promise<Made>;
  /**
   * Of a source whose calls change the turn: does that, each time the turn runs, one call behind the other in their order. A call itself is made
   * beside others, and changes nothing.
   */
  settle?(tool: T, args: Arguments, made: OwnOutcome): Promise<Settled>;
}

/** The tools of a turn, found when the first of them is wanted. */
export interface Toolbox {
  /** As the provider takes them; the same whenever it is asked within a turn (W-21). */
  offered(): Promise<readonly ModelTool[]>;
  find(name: string): Promise<CallableTool | undefined>;
  /** See `ToolSource`. */
  isPure(name: string): boolean;
  /** Why there is no such tool, as a phrase. */
  whyNot(name: string): Promise<string>;
}

/** What is made of the lists of one agent: the same for the same lists, as thousands of tools take a tenth of a second. */
export interface ToolLists {
  join(lists: readonly (readonly ListedTool[])[]): JoinedTools;
  compile(dialect: SchemaDialect, joined: JoinedTools): CompiledTools;
}

interface JoinedTools {
  readonly tools: readonly ListedTool[];
  /** With the number of the list it is from. */
  readonly byName: ReadonlyMap<string, { readonly tool: ListedTool; readonly from: number }>;
}

/** `warn` is told of tools that no model gets, a sentence each. */
export function createToolLists(warn: (sentence: string) => void): ToolLists {
  const compilers = new Map<SchemaDialect, (parts: readonly JoinedTools[]) => CompiledTools>();
  return {
    join: remembered(lists => join(lists, warn)),
    compile(dialect, joined) {
      const compiler =
        compilers.get(dialect) ??
        remembered((parts: readonly JoinedTools[]) => compile(dialect, parts[0]!.tools, warn));
      compilers.set(dialect, compiler);
      return compiler([joined]);
    },
  };
}

/** Of tools with the same name the first counts. */
function join(lists: readonly (readonly ListedTool[])[], warn: (sentence: string) => void): JoinedTools {
  const byName = new Map<string, { readonly tool: ListedTool; readonly from: number }>();
  for (const [from, list] of lists.entries()) {
    for (const tool of list) {
      const first = byName.get(tool.name)?.tool;
      if (!first) byName.set(tool.name, { tool, from });
      else warn(`The model does not get ${tool.name} of ${tool.server}: ${first.server} has the same name.`);
    }
  }
  return { byName, tools: [...byName.values()].map(({ tool }) => tool) };
}

function compile(
  dialect: SchemaDialect,
  tools: readonly ListedTool[],
  warn: (sentence: string) => void,
): CompiledTools {
  const compiled = compileTools(dialect, tools);
  const lines = describeLosses(compiled);
  if (lines.length > 0) warn(`The model's provider does not take all tools as they are. ${lines.join(' ')}`);
  return compiled;
}

/** `sources` in the order in which their tools keep a name. */
export function createToolbox(
  sources: readonly ToolSource[],
  { dialect, lists }: { readonly dialect: SchemaDialect; readonly lists: ToolLists },
): Toolbox {
  const look = async () => {
    const found = await Promise.all(sources.map(source => source.list()));
    return {
      joined: lists.join(found.map(({ tools }) => tools)),
      away: found.flatMap(one => one.away),
    };
  };
  let looked: ReturnType<typeof look> | undefined;
  const all = () => {
    looked ??= look();
    return looked;
  };
  const compiled = async () => lists.compile(dialect, (await all()).joined);
  return {
    offered: async () => (await compiled()).tools,
    isPure: name => sources.some(({ pure }) => pure?.has(name)),
    async find(name) {
      const entry = (await all()).joined.byName.get(name);
      if (!entry) return undefined;
      const { tool, from } = entry;
      const source = sources[from]!;
      const { argumentsOf } = await compiled();
      // Not every provider takes the names of all arguments.
      return {
        ...tool,
        call: (args, request) => source.call(tool, argumentsOf(name, args), request),
        settle: (args, made) => source.settle!(tool, argumentsOf(name, args), made),
      };
    },
    async whyNot(name) {
      const { away } = await all();
      const those = away.length === 0 ? '' : `; ${away.join(', ')} cannot be reached now`;
      return `there is no tool "${name}" here${those}`;
    },
  };
}
