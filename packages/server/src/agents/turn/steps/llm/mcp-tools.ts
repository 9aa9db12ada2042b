import type { ServerDefinition } from '../../../../connections/server/definition.ts';
import { formatServerRef } from '../../../../connections/server/definition.ts';
import type { ServerView } from '../../../../connections/server/server-view.ts';
import { exposeTools } from '../../../../connections/tool/exposed-name.ts';
import { governTool } from '../../../../connections/tool/govern-text.ts';
import type { RemoteTool } from '../../../../connections/tool/remote-tool.ts';
import type { ToolApprovals } from '../../../approval/tool-approvals.ts';
import type { StepTools, TurnMemory } from '../../../step/step.ts';
import type { CallableTool, ToolSource } from './callable-tool.ts';

/** How long a turn waits for a server that has never been there; later ones have its tools. */
const WAIT_MS = 5_000;

/** The tools of MCP servers under the names a model calls them by: `<server>__<tool>`, or the prefix of the definition (W-16, W-17). */
export function mcpTools(
  servers: readonly ServerDefinition[],
  turn: { readonly memory: TurnMemory; readonly tools: StepTools; readonly approvals: ToolApprovals },
): ToolSource {
  const { memory, tools, approvals } = turn;
  const { agentId, conversationId, userId } = tools.conversation;
  const callFor = { agentId, conversationId, userId };

  async function viewOf(server: ServerDefinition): Promise<ServerView | undefined> {
    const signal = AbortSignal.any([tools.signal, AbortSignal.timeout(WAIT_MS)]);
    return tools.mcp.offered({ server, callFor, turn: memory, signal }).catch(error => {
      tools.signal.throwIfAborted();
      const why = error instanceof Error ? error.message : 'it does not answer';
      tools.mcp.warn(`The model has no tools of the server ${formatServerRef(server.ref)}: ${why}`, agentId);
      return undefined;
    });
  }

  function callable(server: ServerDefinition, name: string, remote: RemoteTool): CallableTool {
    const { description = '', inputSchema } =
      server.descriptions === 'governed' ? governTool(remote) : remote;
    const named = { source: 'mcp', exposedName: name, name: remote.name } as const;
    return {
      ...{ name, description, inputSchema },
      server: formatServerRef(server.ref),
      tool: remote.name,
      named,
      call: (args, approval) =>
        tools.mcp.call({
          ...{ server, tool: remote.name, arguments: args, driver: 'model', callFor, turn: memory, approval },
          judge: ({ annotations }) => approvals.judge({ ...named, annotations }),
          policyVersion: approvals.policyVersion,
          budget:
            tools.callBudgetUsd === undefined
              ? undefined
              : { limitUsd: tools.callBudgetUsd, spentUsd: memory.counters.spentUsd ?? 0 },
          signal: tools.signal,
        }),
    };
  }

  return {
    async list() {
      const views = await Promise.all(servers.map(viewOf));
      const there = servers.flatMap((server, index) => {
        const view = views[index];
        return view ? [{ server, offered: view.offered }] : [];
      });
      const { byName, setAside } = exposeTools(
        there.map(({ server: { ref, prefix }, offered }) => ({
          ...{ server: ref, prefix },
          tools: [...offered.keys()],
        })),
      );
      for (const { reason } of setAside) tools.mcp.warn(reason, agentId);
      const serverOf = new Map(there.map(one => [formatServerRef(one.server.ref), one]));
      return [...byName].map(([name, { server, tool }]) => {
        const { server: definition, offered } = serverOf.get(formatServerRef(server))!;
        return callable(definition, name, offered.get(tool)!);
      });
    },
  };
}
