import type { Registry } from '../../connections/server/registry.ts';
import type { ServersRuntime } from '../../connections/server/runtime.ts';
import { suspicionsInTool } from '../../connections/tool/suspicious.ts';
import type { OperationHandler } from '../bind.ts';
import { findUsable } from './find-server.ts';
import { toolInfo } from './server-info.ts';

export function listServerTools(
  registry: Registry,
  runtime: ServersRuntime,
): OperationHandler<'list_server_tools'> {
  return async ({ after = '', limit, ...named }) => {
    const { ref, trusted } = findUsable(registry, named);
    const all = runtime.tools(ref);
    const tools = [...all]
      .filter(({ name }) => name > after)
      .sort((one, other) => (one.name < other.name ? -1 : 1))
      .slice(0, limit)
      .map(tool => ({
        ...toolInfo(tool),
        ...(tool.title !== undefined && { title: tool.title }),
        ...(tool.description !== undefined && { description: tool.description }),
        inputSchema: { ...tool.inputSchema },
        annotations: { ...tool.annotations },
        ...(!trusted && suspicious(tool)),
      }));
    return { count: tools.length, total: all.length, tools };
  };
}

function suspicious(tool: Parameters<typeof suspicionsInTool>[0]): { suspicious?: string[] } {
  const found = suspicionsInTool(tool);
  return found.length > 0 ? { suspicious: [...found] } : {};
}
