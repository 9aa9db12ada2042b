import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** One request that the platform answered. */
export interface Seen {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly status: number;
  /** MCP-Protocol-Version as the client sent it. */
  readonly revision: string | undefined;
}

interface Finished {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Notes each request that a server of this process answers at a port, in the order of the answers. */
export function watchPort(port: number): { readonly seen: Seen[]; stop(): void } {
  const seen: Seen[] = [];
  const note = (message: unknown) => {
    const { request, response } = message as Finished;
    if (request.socket.localPort !== port) return;
    seen.push({
      method: request.method!,
      path: request.url!.split('?', 1)[0]!,
      status: response.statusCode,
      revision: request.headersDistinct['mcp-protocol-version']?.[0],
    });
  };
  subscribe('http.server.response.finish', note);
  return { seen, stop: () => unsubscribe('http.server.response.finish', note) };
}

/** A request that must be on the way. */
export interface Step {
  readonly name: string;
  readonly path: string;
  readonly status: number;
  /** Any without it. */
  readonly method?: string;
}

/** The name of the first step that was not taken after those before it. */
export function firstMissing(seen: readonly Seen[], steps: readonly Step[]): string | undefined {
  let from = 0;
  for (const { name, path, status, method } of steps) {
    const found = seen.findIndex(
      (each, index) =>
        index >= from &&
        each.path === path &&
        each.status === status &&
        (method === undefined || each.method === method),
    );
    if (found < 0) return name;
    from = found + 1;
  }
  return undefined;
}
