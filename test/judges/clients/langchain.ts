import { bearer, load, type StockClient } from './stock-client.ts';

interface Library {
  MultiServerMCPClient: new (options: {
    mcpServers: Record<string, { transport: 'http'; url: string; headers: Record<string, string> }>;
    onProgress: (update: { message?: string }) => void;
  }) => {
    getTools(): Promise<
      {
        name: string;
        invoke(args: Record<string, string>, config: { signal?: AbortSignal | undefined }): Promise<unknown>;
      }[]
    >;
    close(): Promise<void>;
  };
}

/** @langchain/mcp-adapters: tools as LangChain agents run them. */
export const langchain: StockClient = {
  name: '@langchain/mcp-adapters',
  doors: ['operator', 'agent'],
  speaks: '2025-11-25',
  showsProgress: true,
  cancels: true,
  async open(door) {
    const { MultiServerMCPClient } = await load<Library>('@langchain/mcp-adapters');
    let listener: ((message: string) => void) | undefined;
    const client = new MultiServerMCPClient({
      mcpServers: { door: { transport: 'http', url: door.url, headers: { ...bearer(door) } } },
      onProgress: ({ message = '' }) => listener?.(message),
    });
    const tools = await client.getTools();
    return {
      listTools: async () => tools.map(({ name }) => name),
      async callTool(name, args, options) {
        listener = options?.onProgress;
        const tool = tools.find(each => each.name === name)!;
        return JSON.stringify(await tool.invoke(args, { signal: options?.signal }));
      },
      close: () => client.close(),
    };
  },
};
