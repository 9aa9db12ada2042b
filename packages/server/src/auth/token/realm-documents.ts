import { createLocalJWKSet, type JSONWebKeySet } from 'jose';
import { z } from 'zod';
import type { Clock } from '../../kernel/clock.ts';
import { PlatformError } from '../../kernel/errors.ts';
import { isLoopbackHost } from '../../kernel/network-address.ts';
import type { SafeFetch } from '../../kernel/safe-fetch.ts';

/** What a realm says of itself (OpenID Connect Discovery). */
export type RealmMetadata = z.infer<typeof metadataSchema>;

export type RealmKeys = ReturnType<typeof createLocalJWKSet>;

/** The documents of a realm, remembered. What cannot be had rejects with a `PlatformError` of kind `unavailable`. */
export interface RealmDocuments {
  metadata(): Promise<RealmMetadata>;
  keys(): Promise<RealmKeys>;
  /** As `keys`, for a token that none of them fits: asked of the realm again, once a minute at most. */
  newerKeys(): Promise<RealmKeys>;
  /** Asks an address that the documents have named. */
  fetch(url: string, init?: RequestInit): Promise<Response>;
}

const MINUTE_MS = 60_000;
/** A key that the realm has taken back is trusted no longer than this. */
const KEYS_FRESH_MS = 10 * MINUTE_MS;
const METADATA_FRESH_MS = 60 * MINUTE_MS;
/** How soon a realm that did not answer is asked again. */
const TRY_AGAIN_MS = 5_000;
const LIMITS = { totalMs: 10_000, maxBytes: 256 * 1024 };
const MAX_KEYS = 100;
const CANNOT_BE_ASKED = 'The OpenID realm of this platform cannot be asked at the moment.';

const address = z.string().max(2048).refine(isSafeAddress);
const metadataSchema = z.object({
  issuer: z.string(),
  jwks_uri: address,
  authorization_endpoint: address.optional(),
  token_endpoint: address.optional(),
  token_endpoint_auth_methods_supported: z.array(z.string()).optional(),
  authorization_response_iss_parameter_supported: z.boolean().optional(),
});
const keysSchema = z.object({ keys: z.array(z.looseObject({ kty: z.string() })).max(MAX_KEYS) });

export function createRealmDocuments(deps: {
  /** Where the realm is reached. */
  readonly issuer: string;
  /** What it may call itself there. */
  readonly issuers: readonly string[];
  readonly fetch: SafeFetch;
  readonly clock: Pick<Clock, 'now'>;
}): RealmDocuments {
  const { issuer, issuers, fetch, clock } = deps;
  const ownHosts = new Set(issuers.map(url => new URL(url).hostname));

  /** Only the hosts that an operator has named may be private. */
  async function ask(url: string, init: RequestInit = {}): Promise<Response> {
    const hostFrom = ownHosts.has(new URL(url).hostname) ? 'operator' : 'outside';
    const answer = await fetch(url, { ...init, hostFrom, redirect: 'error', limits: LIMITS });
    if (answer.status < 500) return answer;
    await answer.body?.cancel();
    throw new PlatformError('unavailable', CANNOT_BE_ASKED);
  }

  async function read<T>(url: string, schema: z.ZodType<T>): Promise<T> {
    try {
      const answer = await ask(url, { headers: { accept: 'application/json' } });
      if (answer.status !== 200) throw new Error(`${url} answered ${answer.status}`);
      return schema.parse(await answer.json());
    } catch (cause) {
      throw new PlatformError('unavailable', CANNOT_BE_ASKED, { cause });
    }
  }

  const metadata = keepFresh(clock, METADATA_FRESH_MS, async () => {
    const read_ = await read(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, metadataSchema);
    if (issuers.includes(read_.issuer)) return read_;
    throw new PlatformError(
      'unavailable',
      'The OpenID realm calls itself by another name than the one that is set.',
    );
  });
  const keys = keepFresh(clock, KEYS_FRESH_MS, async () => {
    const { jwks_uri } = await metadata();
    return createLocalJWKSet((await read(jwks_uri, keysSchema)) as JSONWebKeySet);
  });

  return { metadata: () => metadata(), keys: () => keys(), newerKeys: () => keys(MINUTE_MS), fetch: ask };
}

/** A token that is asked for in the clear, or keys that come so, are anybody's. */
function isSafeAddress(text: string): boolean {
  const url = URL.parse(text);
  return url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopbackHost(url.hostname));
}

/** One request at a time, whoever waits for it; a value that is too old is asked for again, and a failure is not repeated at once. */
function keepFresh<T>(
  clock: Pick<Clock, 'now'>,
  freshMs: number,
  load: () => Promise<T>,
): (youngerThanMs?: number) => Promise<T> {
  let kept: { readonly value: T; readonly at: number } | undefined;
  let failed: { readonly error: unknown; readonly at: number } | undefined;
  let loading: Promise<T> | undefined;
  return async (youngerThanMs = freshMs) => {
    const now = clock.now();
    if (kept && now - kept.at < youngerThanMs) return kept.value;
    if (failed && now - failed.at < TRY_AGAIN_MS) throw failed.error;
    loading ??= load().then(
      value => {
        kept = { value, at: now };
        failed = undefined;
        loading = undefined;
        return value;
      },
      error => {
        failed = { error, at: now };
        loading = undefined;
        throw error;
      },
    );
    return loading;
  };
}
