import type { DiscoverTools } from '../../connections/server/discover-tools.ts';
import type { OperationHandler } from '../bind.ts';

export function discoverMcpTools(discoverTools: DiscoverTools): OperationHandler<'discover_mcp_tools'> {
  return async ({ limit, ...server }, { signal }) => {
    const { tools, quarantined } = await discoverTools(server, signal);
    return {
      count: tools.length,
      tools: tools.slice(0, limit).map(({ name, description, inputSchema }) => ({
        name,
        ...(description !== undefined && { description }),
        inputSchema: { ...inputSchema },
      })),
      quarantined: quarantined.slice(0, limit).map(({ name, reason }) => ({ name, reason })),
    };
  };
}
