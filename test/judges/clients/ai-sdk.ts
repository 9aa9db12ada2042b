import { answered, bearer, load, type StockClient } from './stock-client.ts';

interface Library {
  createMCPClient(options: {
    transport: { type: 'http'; url: string; headers: Record<string, string> };
  }): Promise<{
    tools(): Promise<
      Record<
        string,
        {
          execute(
            args: Record<string, string>,
            options: { toolCallId: string; messages: []; abortSignal?: AbortSignal | undefined },
          ): Promise<{ isError?: boolean; content: unknown }>;
        }
      >
    >;
    close(): Promise<void>;
  }>;
}

/** Both lines of @ai-sdk/mcp have one interface. */
const open =
  (line: string): StockClient['open'] =>
  async door => {
    const { createMCPClient } = await load<Library>(line);
    const client = await createMCPClient({
      transport: { type: 'http', url: door.url, headers: { ...bearer(door) } },
    });
    const tools = await client.tools();
    return {
      listTools: async () => Object.keys(tools),
      callTool: async (tool, args, options) =>
        answered(
          await tools[tool]!.execute(args, {
            toolCallId: 'call',
            messages: [],
            abortSignal: options?.signal,
          }),
        ),
      close: () => client.close(),
    };
  };

export const aiSdk2: StockClient = {
  name: '@ai-sdk/mcp 2',
  doors: ['operator', 'agent'],
  speaks: '2026-07-28',
  showsProgress: false,
  cancels: true,
  open: open('ai-sdk-mcp-2'),
};

export const aiSdk1: StockClient = {
  name: '@ai-sdk/mcp 1',
  doors: ['operator', 'agent'],
  speaks: '2025-11-25',
  showsProgress: false,
  // It breaks the connection off and sends nothing, which in its revision does not cancel.
  cancels: false,
  open: open('ai-sdk-mcp-1'),
};
