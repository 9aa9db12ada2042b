import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

/** What a client was asked. */
export interface Asked {
  readonly message: string;
  readonly requestedSchema: object;
}
export interface Answered {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Record<string, string>;
}
export interface Result {
  // biome-ignore lint/suspicious/noExplicitAny: an answer may be anything, tests look into it
  readonly content: any;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly structuredContent?: any;
}
export interface Stock {
  call(args: Record<string, unknown>, onPiece?: (message: string) => void): Promise<Result>;
  close(): Promise<void>;
}

/** A stock client whose person answers as `answer` says. Without it the client shows no forms. */
export type Open = (
  url: string,
  key: string,
  answer?: (asked: Asked) => Promise<Answered> | Answered,
) => Promise<Stock>;

export const WAIT = { timeout: 20_000 };
const INFO = { name: 'stock', version: '1.0.0' };
/** The one tool of an agent door. */
const toolAt = (url: string) => new URL(url).pathname.split('/')[1]!;
const headersOf = (key: string) => ({ requestInit: { headers: { Authorization: `Bearer ${key}` } } });

function newer(mode: 'legacy' | { pin: string }): Open {
  return async (url, key, answer) => {
    const client = new Client(INFO, {
      versionNegotiation: { mode },
      capabilities: answer ? { elicitation: {} } : {},
    });
    if (answer)
      client.setRequestHandler('elicitation/create', async ({ params }) => ({
        ...(await answer(params as Asked)),
      }));
    await client.connect(new StreamableHTTPClientTransport(new URL(url), headersOf(key)));
    return {
      call: (args, onPiece) =>
        client.callTool(
          { name: toolAt(url), arguments: args },
          { ...WAIT, ...(onPiece && { onprogress: ({ message }) => onPiece(message ?? '') }) },
        ),
      close: () => client.close(),
    };
  };
}

const older: Open = async (url, key, answer) => {
  const client = new OlderClient(INFO, { capabilities: answer ? { elicitation: {} } : {} });
  if (answer)
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => ({
      ...(await answer(params as Asked)),
    }));
  await client.connect(new OlderTransport(new URL(url), headersOf(key)) as never);
  return {
    call: async (args, onPiece) =>
      (await client.callTool({ name: toolAt(url), arguments: args }, undefined, {
        ...WAIT,
        ...(onPiece && { onprogress: ({ message }) => onPiece(message ?? '') }),
      })) as Result,
    close: () => client.close(),
  };
};

export const CLIENTS: { client: string; open: Open }[] = [
  { client: 'the SDK client in the stateless era', open: newer({ pin: '2026-07-28' }) },
  { client: 'the SDK client in the older eras', open: newer('legacy') },
  { client: 'the SDK client of version 1', open: older },
];
