import type { Transport } from '@modelcontextprotocol/client';
import type { Clock } from '../../kernel/clock.ts';
import type { SafeFetch } from '../../kernel/safe-fetch.ts';
import type { Credential } from '../credential/credential.ts';
import type { Endpoint, HttpEndpoint, StdioEndpoint } from './endpoint.ts';
import type { EraMemory } from './era-memory.ts';
import { SessionError } from './failure.ts';
import { HttpLink } from './http/http-link.ts';
import { SseLink } from './http/sse-link.ts';
import { isModernError, type OpenOptions, openSession, type Session } from './session.ts';

/** What a program gets to say that it speaks the stateless era before the older handshake is tried. */
const STDIO_PROBE_MS = 5_000;
/** Statuses with which a server of the oldest revision refuses a POST to where its stream is (2025-03-26, Backwards Compatibility). */
const ASKS_FOR_SSE = new Set([400, 404, 405]);

export interface OpenerOptions {
  readonly fetch: SafeFetch;
  readonly clock: Clock;
  readonly eras: EraMemory;
  /** Runs a program; rejects with a `SessionError`. */
  readonly startProgram: (endpoint: StdioEndpoint, key: string) => Promise<Transport>;
}

export type OpenRequest = Omit<OpenOptions, 'transport' | 'clock' | 'era' | 'probeTimeoutMs'> & {
  readonly endpoint: Endpoint;
  readonly credential: Credential | undefined;
  /** Of the endpoint: what is remembered is remembered by it. */
  readonly key: string;
};

/**
 * Opens sessions to endpoints, each in the newest era its server speaks, over Streamable HTTP, the older HTTP+SSE where there is nothing
 * else, or to a program. What was found out is remembered, and asked again when it turns out wrong.
 */
export function createOpener({
  fetch,
  clock,
  eras,
  startProgram,
}: OpenerOptions): (request: OpenRequest) => Promise<Session> {
  async function withKnown(
    request: OpenRequest,
    make: () => Promise<Transport>,
    probeTimeoutMs?: number,
  ): Promise<Session> {
    const known = eras.older(request.key) !== undefined;
    const open = async (era: 'legacy' | undefined) =>
      openSession({ ...request, clock, era, probeTimeoutMs, transport: await make() });
    try {
      const session = await open(known ? 'legacy' : undefined);
      if (session.facts.era === 'legacy') eras.remember(request.key, 'initialize');
      return session;
    } catch (error) {
      eras.forget(request.key);
      if (known && mayBeNewer(error)) return open(undefined);
      // A program that ends when it hears what it does not know is one of an older era: another copy of it is greeted as such.
      if (!known && probeTimeoutMs !== undefined && isLost(error)) return open('legacy');
      throw error;
    }
  }

  async function overHttp(request: OpenRequest, endpoint: HttpEndpoint): Promise<Session> {
    const { credential, key } = request;
    if (eras.older(key) === 'sse') {
      try {
        return await overSse(request, endpoint);
      } catch {
        eras.forget(key);
      }
    }
    try {
      return await withKnown(request, async () => new HttpLink({ endpoint, credential, fetch, clock }));
    } catch (error) {
      if (!asksForSse(error)) throw error;
      return await overSse(request, endpoint).catch(() => {
        throw error;
      });
    }
  }

  async function overSse(request: OpenRequest, endpoint: HttpEndpoint): Promise<Session> {
    const transport = new SseLink({ endpoint, credential: request.credential, fetch });
    const session = await openSession({ ...request, clock, era: 'legacy', transport });
    eras.remember(request.key, 'sse');
    return session;
  }

  return request => {
    const { endpoint } = request;
    return endpoint.kind === 'http'
      ? overHttp(request, endpoint)
      : withKnown(
          request,
          () => startProgram(endpoint, request.key),
          Math.min(STDIO_PROBE_MS, request.timeoutMs / 2),
        );
  };
}

function asksForSse(error: unknown): boolean {
  return (
    error instanceof SessionError &&
    error.status !== undefined &&
    ASKS_FOR_SSE.has(error.status) &&
    !isModernError(error)
  );
}

function isLost(error: unknown): boolean {
  return error instanceof SessionError && error.kind === 'TRANSPORT_ERROR';
}

/** A server that answered, and did not know the older handshake. */
function mayBeNewer(error: unknown): boolean {
  return error instanceof SessionError && error.reached === 'yes';
}
