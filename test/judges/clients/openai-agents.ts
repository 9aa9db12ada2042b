import { answered, bearer, load, type StockClient } from './stock-client.ts';

interface Library {
  MCPServerStreamableHttp: new (options: {
    url: string;
    name: string;
    requestInit: RequestInit;
  }) => {
    connect(): Promise<void>;
    listTools(): Promise<{ name: string }[]>;
    callToolResult(
      tool: string,
      args: Record<string, string>,
      meta: null,
      options: { signal?: AbortSignal | undefined },
    ): Promise<{ isError?: boolean; content: unknown }>;
    close(): Promise<void>;
  };
}

/** @openai/agents: the server class its agents take their tools from. No model is called. */
export const openaiAgents: StockClient = {
  name: '@openai/agents',
  doors: ['operator', 'agent'],
  speaks: '2026-07-28',
  showsProgress: false,
  cancels: true,
  async open(door) {
    const { MCPServerStreamableHttp } = await load<Library>('@openai/agents');
    const server = new MCPServerStreamableHttp({
      url: door.url,
      name: 'door',
      requestInit: { headers: bearer(door) },
    });
    await server.connect();
    return {
      listTools: async () => (await server.listTools()).map(({ name }) => name),
      callTool: async (tool, args, options) =>
        answered(await server.callToolResult(tool, args, null, { signal: options?.signal })),
      close: () => server.close(),
    };
  },
};
