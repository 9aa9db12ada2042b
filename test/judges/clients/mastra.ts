import { bearer, load, type StockClient } from './stock-client.ts';

interface Library {
  MCPClient: new (options: {
    servers: Record<string, { url: URL; requestInit: RequestInit; enableProgressTracking: boolean }>;
  }) => {
    progress: { onUpdate(server: string, handler: (update: { message?: string }) => void): Promise<void> };
    listTools(): Promise<
      Record<
        string,
        {
          execute(
            args: Record<string, string>,
            context: { abortSignal?: AbortSignal | undefined },
          ): Promise<unknown>;
        }
      >
    >;
    disconnect(): Promise<void>;
  };
}

/** It puts the name of the server in front of each tool. */
const PREFIX = 'door_';

/** @mastra/mcp: tools as Mastra agents run them. Arguments that break a tool's schema never leave it. */
export const mastra: StockClient = {
  name: '@mastra/mcp',
  doors: ['operator', 'agent'],
  speaks: '2026-07-28',
  showsProgress: true,
  cancels: true,
  async open(door) {
    const { MCPClient } = await load<Library>('@mastra/mcp');
    const client = new MCPClient({
      servers: {
        door: {
          url: new URL(door.url),
          requestInit: { headers: bearer(door) },
          enableProgressTracking: true,
        },
      },
    });
    let listener: ((message: string) => void) | undefined;
    await client.progress.onUpdate('door', ({ message = '' }) => listener?.(message));
    const tools = await client.listTools();
    return {
      listTools: async () => Object.keys(tools).map(name => name.slice(PREFIX.length)),
      async callTool(tool, args, options) {
        listener = options?.onProgress;
        const result = await tools[PREFIX + tool]!.execute(args, { abortSignal: options?.signal });
        return JSON.stringify(result);
      },
      close: () => client.disconnect(),
    };
  },
};
