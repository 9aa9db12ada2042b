import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  type Transport,
} from '@modelcontextprotocol/client';
import type { Clock } from '../../kernel/clock.ts';
import { SessionError } from './failure.ts';
import { HttpRefusal } from './http/http-refusal.ts';
import { requestInRounds } from './input-rounds.ts';
import { orAborted } from './time-limit.ts';
import { type Answerer, type Members, type RequestOptions, Wire } from './wire.ts';

/** With a handshake and sessions, or stateless (mcp.md 1.1). */
export type Era = 'legacy' | 'modern';

const MODERN_VERSION = '2026-07-28';
/** The newest first: that one is offered. */
const LEGACY_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'];
/** A server of the stateless era that does not take what was said: it is one all the same. */
const MODERN_ERRORS = new Set([-32020, -32021, -32022]);
const UNSUPPORTED_VERSION = -32022;

/** What a server says of itself; it is never believed for anything that matters. */
export interface ServerFacts {
  readonly era: Era;
  readonly protocolVersion: string;
  readonly name: string | undefined;
  readonly version: string | undefined;
  readonly instructions: string | undefined;
  readonly capabilities: Members;
}

/** One conversation with a server, in whichever era it speaks. Every method rejects with a `SessionError`. */
export interface Session {
  readonly facts: ServerFacts;
  request(method: string, params: Members, options: RequestOptions): Promise<Members>;
  close(): Promise<void>;
}

export interface OpenOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  /** What is known of the server from before; without it the server is asked. */
  readonly era: Era | undefined;
  readonly timeoutMs: number;
  /** How long a program may be silent before it counts as one of an older era. Over HTTP silence is an outage. */
  readonly probeTimeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly client: { readonly name: string; readonly version: string };
  /** What the server may ask of us; nothing unless somebody is there to answer. */
  readonly capabilities: Members;
  readonly answer: Answerer;
  readonly onNotification: (method: string, params: Members) => void;
  readonly onClose: (reason: SessionError | undefined) => void;
}

/**
 * Opens a session: finds out the era where it is not known, and shakes hands where that era does. The transport belongs to the session from
 * now on, also when this rejects (2026-07-28, Versioning; mcp.md 1.2 "Era detection").
 */
export async function openSession(options: OpenOptions): Promise<Session> {
  // The end of one that never opened is what this rejects with.
  let isOpen = false;
  const wire = new Wire({ ...options, onClose: reason => isOpen && options.onClose(reason) });
  try {
    const facts = await orAborted(greet(wire, options), options.signal);
    isOpen = true;
    const send: Session['request'] = (method, params, request) => wire.request(method, params, request);
    const rounds = { ...options, send };
    return {
      facts,
      request:
        facts.era === 'legacy'
          ? send
          : (method, params, request) => requestInRounds(rounds, method, params, request),
      close: () => wire.close(),
    };
  } catch (error) {
    await wire.close();
    throw error;
  }
}

async function greet(wire: Wire, options: OpenOptions): Promise<ServerFacts> {
  await wire.start();
  return options.era === 'legacy' ? shakeHands(wire, options) : discoverOrShakeHands(wire, options);
}

async function discoverOrShakeHands(wire: Wire, options: OpenOptions): Promise<ServerFacts> {
  wire.envelope = envelopeOf(options);
  try {
    const found = await discover(wire, options).catch(error => {
      // What it lists is what was said: said again it has nothing to refuse.
      if (lists(error, [MODERN_VERSION])) return discover(wire, options);
      throw error;
    });
    if (isModern(found)) return factsOf('modern', MODERN_VERSION, found);
    if (!Array.isArray(found.supportedVersions))
      throw new SessionError('PROTOCOL_ERROR', 'yes', 'it does not say which versions it speaks');
  } catch (error) {
    if (options.era === 'modern' || !speaksOlder(error, options)) throw error;
  }
  wire.envelope = undefined;
  return shakeHands(wire, options);
}

function discover(wire: Wire, { probeTimeoutMs, timeoutMs, signal }: OpenOptions): Promise<Members> {
  return wire.request('server/discover', {}, { timeoutMs: probeTimeoutMs ?? timeoutMs, signal });
}

function isModern({ supportedVersions }: Members): boolean {
  return Array.isArray(supportedVersions) && supportedVersions.includes(MODERN_VERSION);
}

/** Whether what came back from the probe is how a server of an older era answers what it does not know. */
function speaksOlder(error: unknown, { probeTimeoutMs }: OpenOptions): boolean {
  if (!(error instanceof SessionError)) return false;
  if (error.kind === 'TIMEOUT') return probeTimeoutMs !== undefined;
  if (error.code === UNSUPPORTED_VERSION) return lists(error, LEGACY_VERSIONS);
  if (isModernError(error)) return false;
  // Servers written by hand answer 500, too, when a message comes before the handshake; what stands before a server that is down has other words.
  if (error instanceof HttpRefusal) return error.kind === 'PROTOCOL_ERROR' || error.httpStatus === 500;
  return error.kind === 'PROTOCOL_ERROR' || error.kind === 'INVALID_ARGUMENTS';
}

/** An error that only servers of the stateless era have. */
export function isModernError({ code }: SessionError): boolean {
  return code !== undefined && MODERN_ERRORS.has(code);
}

/** Does a server that refused the version name one of these? */
function lists(error: unknown, versions: readonly string[]): boolean {
  if (!(error instanceof SessionError) || error.code !== UNSUPPORTED_VERSION) return false;
  const supported = (error.cause as { readonly supported?: unknown } | undefined)?.supported;
  return Array.isArray(supported) && supported.some(version => versions.includes(version));
}

async function shakeHands(wire: Wire, options: OpenOptions): Promise<ServerFacts> {
  const { timeoutMs, signal, client, capabilities } = options;
  const found = await wire.request(
    'initialize',
    { protocolVersion: LEGACY_VERSIONS[0], capabilities, clientInfo: client },
    { timeoutMs, signal },
  );
  const version = found.protocolVersion;
  if (typeof version !== 'string' || !LEGACY_VERSIONS.includes(version)) {
    throw new SessionError(
      'PROTOCOL_ERROR',
      'yes',
      `it speaks version ${JSON.stringify(version)}, which is not known here`,
      { code: UNSUPPORTED_VERSION },
    );
  }
  options.transport.setProtocolVersion?.(version);
  await wire.notify('notifications/initialized');
  return factsOf('legacy', version, found);
}

function envelopeOf({ client, capabilities }: OpenOptions): Members {
  return {
    [PROTOCOL_VERSION_META_KEY]: MODERN_VERSION,
    [CLIENT_INFO_META_KEY]: client,
    [CLIENT_CAPABILITIES_META_KEY]: capabilities,
  };
}

function factsOf(era: Era, protocolVersion: string, found: Members): ServerFacts {
  const info = (found.serverInfo ??
    (found._meta as Members | undefined)?.['io.modelcontextprotocol/serverInfo']) as Members | undefined;
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
  return {
    era,
    protocolVersion,
    name: text(info?.name),
    version: text(info?.version),
    instructions: text(found.instructions),
    capabilities:
      typeof found.capabilities === 'object' && found.capabilities !== null
        ? (found.capabilities as Members)
        : {},
  };
}
