import { classifyInboundRequest, isJsonContentType } from '@modelcontextprotocol/server';
import { readJsonBody } from '../http/body.ts';
import { Cancellations } from './cancellations.ts';
import type { Caller, McpDoor } from './door.ts';
import { createFastPath, type FastPath } from './fast-path.ts';
import { metaOf, withKnownVersion } from './headers.ts';
import { idOf, jsonRpcErrorResponse } from './json-rpc.ts';
import { createOlderEras, type SessionOptions } from './older-eras.ts';
import { createStatelessEra } from './stateless-era.ts';

const DEFAULT_KEEP_ALIVE_MS = 15_000;
/** Ids are kept while a call runs; a number is short by itself. */
const MAX_ID_LENGTH = 256;

export interface McpEndpoint<C extends Caller> {
  /** Serves one HTTP request of an authenticated caller, in whichever era it speaks. */
  serve(request: Request, caller: C): Promise<Response>;
  close(): Promise<void>;
}

/**
 * One MCP endpoint for all revisions (decisions.md 4). The SDK carries the protocol; what stands in this folder are the
 * corrections in front of it (mcp.md 2.2), the sessions of the older eras, and the rule that a call is refused before the
 * first byte or answered on its stream.
 */
export function createMcpEndpoint<C extends Caller>(
  door: McpDoor<C>,
  options: {
    readonly sessions: SessionOptions;
    readonly maxBodyBytes: number;
    /** Where calls of the older eras are cancelled; of its own, reaching no other node, unless given. */
    readonly cancellations?: Cancellations;
    /** How often a silent stream gets a comment, so that no proxy takes it for dead. Default 15 s. */
    readonly keepAliveMs?: number;
    /** Answers the usual messages; what it leaves is the SDK's. */
    readonly fastPath?: FastPath<C>;
  },
): McpEndpoint<C> {
  const { maxBodyBytes, keepAliveMs = DEFAULT_KEEP_ALIVE_MS } = options;
  const fastPath = options.fastPath ?? createFastPath(door, keepAliveMs);
  const stateless = createStatelessEra(door, fastPath, keepAliveMs);
  const older = createOlderEras(
    door,
    fastPath,
    options.sessions,
    options.cancellations ?? new Cancellations(),
    keepAliveMs,
  );

  return {
    async serve(received, caller) {
      if (received.method !== 'POST') {
        const message = 'Method not allowed: this endpoint takes POST.';
        return jsonRpcErrorResponse(null, { code: -32000, message }, 405, { Allow: 'POST' });
      }
      if (!isJsonContentType(received.headers.get('content-type'))) {
        return jsonRpcErrorResponse(
          null,
          { code: -32600, message: 'Content-Type must be application/json.' },
          415,
        );
      }
      const read = await readJsonBody(received, maxBodyBytes);
      if (!read.ok) {
        const [code, status] = read.refusal.reason === 'too_large' ? [-32600, 413] : [-32700, 400];
        return jsonRpcErrorResponse(null, { code, message: read.refusal.message }, status);
      }
      const body = read.value;
      if ([body].flat().some(hasLongId)) {
        const message = `An id or a progress token takes ${MAX_ID_LENGTH} characters at the most.`;
        return jsonRpcErrorResponse(null, { code: -32600, message }, 400);
      }
      const request = withKnownVersion(received, body, caller.log);
      const { kind } = classifyInboundRequest({
        httpMethod: 'POST',
        ...header('protocolVersionHeader', request.headers.get('mcp-protocol-version')),
        ...header('mcpMethodHeader', request.headers.get('mcp-method')),
        ...header('mcpNameHeader', request.headers.get('mcp-name')),
        body,
      });
      // What the classification rejects is refused by the stateless handler, which knows the wording of each rejection.
      return kind === 'legacy' ? older.serve(request, body, caller) : stateless.serve(request, body, caller);
    },
    close: () => stateless.close(),
  };
}

/** A progress token goes out again with every piece of an answer. */
function hasLongId(message: unknown): boolean {
  return [idOf(message), metaOf(message)?.progressToken].some(
    name => typeof name === 'string' && name.length > MAX_ID_LENGTH,
  );
}

function header<K extends string>(name: K, value: string | null): { [P in K]?: string } {
  return value === null ? {} : ({ [name]: value } as { [P in K]?: string });
}
