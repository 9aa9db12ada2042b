import { unknownCall } from '../../../../connections/call/outcome.ts';
import { bridgeToolsOf } from '../../../../connections/call/resource-bridge.ts';
import {
  formatServerRef,
  type ServerDefinition,
  type ServerRef,
} from '../../../../connections/server/definition.ts';
import type { ServerView } from '../../../../connections/server/server-view.ts';
import { SessionError } from '../../../../connections/session/failure.ts';
import { exposeTools } from '../../../../connections/tool/exposed-name.ts';
import { governTool } from '../../../../connections/tool/govern-text.ts';
import type { RemoteTool } from '../../../../connections/tool/remote-tool.ts';
import { suspicionsInTool } from '../../../../connections/tool/suspicious.ts';
import type { ToolApprovals } from '../../../approval/tool-approvals.ts';
import type { StepTools, TurnMemory } from '../../../step/step.ts';
import type { ListedTool, ToolSource } from './callable-tool.ts';
import type { Purse } from './purse.ts';
import { remembered } from './remembered.ts';
import type { Warnings } from './warnings.ts';

/** A tool of an MCP server, as a definition offers it. */
export interface McpTool extends ListedTool {
  readonly definition: ServerDefinition;
}

/** A server that is there. */
interface Reached {
  readonly definition: ServerDefinition;
  readonly view: ServerView;
}

/** Lists the tools of servers; the same list for the same views. */
export type ListMcpTools = (servers: readonly Reached[]) => readonly McpTool[];

/** `warn` is told of tools that no name is left for, a sentence each. */
export function createListMcpTools(warn: (sentence: string) => void): ListMcpTools {
  const list = remembered((parts: readonly (ServerDefinition | ServerView)[]) => {
    const servers: Reached[] = [];
    for (let at = 0; at < parts.length; at += 2)
      servers.push({ definition: parts[at] as ServerDefinition, view: parts[at + 1] as ServerView });
    return listTools(servers, warn);
  });
  return servers => list(servers.flatMap(({ definition, view }) => [definition, view]));
}

/** Tools of one server under one prefix. */
interface Offer {
  readonly definition: ServerDefinition;
  readonly prefix: string;
  readonly tools: ReadonlyMap<string, RemoteTool>;
}

function listTools(servers: readonly Reached[], warn: (sentence: string) => void): McpTool[] {
  // Two documents may call their servers the same: a reference of its own tells each offer from the others.
  const offers = new Map<ServerRef, Offer>(
    offersOf(servers).map(offer => [{ ...offer.definition.ref }, offer]),
  );
  const { byName, setAside } = exposeTools(
    [...offers].map(([server, { prefix, tools }]) => ({ server, prefix, tools: [...tools.keys()] })),
  );
  for (const { reason } of setAside) warn(reason);
  return [...byName].map(([name, { server, tool }]) => {
    const { definition, tools } = offers.get(server)!;
    const one = listed(name, definition, tools.get(tool)!);
    if (!definition.trusted) warnOfInstructions(one, warn);
    return one;
  });
}

/** Its texts stay as they are (W-18), so people are told; no gate depends on what a model makes of them. */
function warnOfInstructions(tool: McpTool, warn: (sentence: string) => void): void {
  const suspicions = suspicionsInTool(tool);
  if (suspicions.length === 0) return;
  warn(
    `What the server ${tool.server} says of its tool ${tool.name} looks like instructions to a model (${suspicions.join(', ')}): look at it with \`npx patchbay servers tools ${tool.definition.ref.name}\`.`,
  );
}

/** What a server is named for twice, once narrowed by a document, is offered once. What the platform adds keeps its own names (E-86). */
function offersOf(servers: readonly Reached[]): Offer[] {
  const taken = new Map<ServerRef, Set<string>>();
  return servers.flatMap(({ definition, view }) => {
    const known = taken.get(definition.ref) ?? new Set();
    taken.set(definition.ref, known);
    const fresh = (tools: Iterable<RemoteTool>) => {
      const left = [...tools].filter(({ name }) => !known.has(name));
      for (const { name } of left) known.add(name);
      return new Map(left.map(tool => [tool.name, tool]));
    };
    return [
      { definition, prefix: '', tools: fresh(bridgeToolsOf(definition).map(({ tool }) => tool)) },
      { definition, prefix: definition.prefix, tools: fresh(view.offered.values()) },
    ];
  });
}

function listed(name: string, definition: ServerDefinition, remote: RemoteTool): McpTool {
  const { description = '', inputSchema } =
    definition.descriptions === 'governed' ? governTool(remote) : remote;
  return {
    ...{ name, description, inputSchema, definition },
    server: formatServerRef(definition.ref),
    tool: remote.name,
    named: { source: 'mcp', exposedName: name, name: remote.name },
    lost: unknownCall(definition, remote.name),
  };
}

/** The tools of MCP servers under the names a model calls them by: `<server>__<tool>`, or the prefix of the definition (W-16, W-17). */
export function mcpTools(
  servers: readonly ServerDefinition[],
  turn: {
    readonly memory: TurnMemory;
    readonly tools: StepTools;
    readonly approvals: ToolApprovals;
    readonly purse: Purse;
    readonly list: ListMcpTools;
    readonly warnings: Warnings;
  },
): ToolSource<McpTool> {
  const { memory, tools, approvals, purse, list, warnings } = turn;
  const { agentId, conversationId, userId, spokenBy } = tools.conversation;
  const callFor = { agentId, conversationId, userId, spokenBy, callerToken: tools.callerToken };

  async function reach(definition: ServerDefinition): Promise<Reached | undefined> {
    const name = formatServerRef(definition.ref);
    try {
      const { signal } = tools;
      const view = await tools.mcp.offered({ server: definition, callFor, turn: memory, signal });
      warnings.about(name, undefined);
      return { definition, view };
    } catch (thrown) {
      tools.signal.throwIfAborted();
      if (!(thrown instanceof SessionError)) throw thrown;
      warnings.about(name, `The model has no tools of the server ${name}: ${thrown.message}`);
      return undefined;
    }
  }

  return {
    async list() {
      const reached = await Promise.all(servers.map(reach));
      return {
        tools: list(reached.filter(one => one !== undefined)),
        away: servers
          .filter((_server, index) => !reached[index])
          .map(({ ref }) => `the server ${formatServerRef(ref)}`),
      };
    },
    call(listedTool, args, { approval, onInterrupted }) {
      const { definition: server, tool, named } = listedTool;
      return purse.pay(listedTool, server.cost !== undefined, () =>
        tools.mcp.call({
          ...{ server, tool, arguments: args, driver: 'model', callFor, turn: memory, approval },
          judge: ({ annotations }) => approvals.judge({ ...named, annotations }),
          policyVersion: approvals.policyVersion,
          budget: purse.budget(),
          signal: tools.signal,
          onInterrupted: record => onInterrupted(purse.priced(listedTool, record)),
        }),
      );
    },
  };
}
