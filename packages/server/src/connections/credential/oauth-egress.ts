import { normalizeHost } from '../../kernel/network-address.ts';
import { isSecretName } from '../../kernel/redact.ts';
import type { SafeFetch } from '../../kernel/safe-fetch.ts';

const LIMITS = { totalMs: 20_000, maxBytes: 1024 * 1024 };

/** The way out of one sign-in. */
export interface OAuthEgress {
  readonly fetch: (url: string | URL, init?: RequestInit) => Promise<Response>;
  /** Secrets that were sent so far: an answer may repeat them. */
  readonly sent: readonly string[];
}

/**
 * The one safe fetch, for addresses that servers name: their metadata, endpoints for tokens and registration. Such an address may be private
 * only where an operator named that very host (attack 33).
 */
export function createOAuthEgress(fetch: SafeFetch, operatorHosts: ReadonlySet<string>): OAuthEgress {
  const sent: string[] = [];
  return {
    sent,
    async fetch(url, init = {}) {
      sent.push(...secretsIn(init));
      const host = normalizeHost(new URL(url).hostname);
      const hostFrom = operatorHosts.has(host) ? 'operator' : 'outside';
      const answer = await fetch(url, { ...init, hostFrom, limits: LIMITS });
      // Whole, as the library leaves some answers unread, and each of them holds a connection.
      const body = await answer.arrayBuffer();
      const { status, headers } = answer;
      return new Response(body.byteLength > 0 ? body : null, { status, headers });
    },
  };
}

/** The hosts of addresses that an operator wrote down. */
export function hostsOf(urls: readonly (string | undefined)[]): ReadonlySet<string> {
  return new Set(
    urls.flatMap(url => {
      const parsed = url === undefined ? undefined : URL.parse(url);
      return parsed ? [normalizeHost(parsed.hostname)] : [];
    }),
  );
}

function secretsIn({ body, headers }: RequestInit): string[] {
  const form = body instanceof URLSearchParams || typeof body === 'string' ? new URLSearchParams(body) : [];
  const secrets = [...form].flatMap(([name, value]) =>
    name === 'code' || isSecretName(name) ? [value] : [],
  );
  const [scheme, encoded] = new Headers(headers).get('authorization')?.split(' ') ?? [];
  if (scheme !== 'Basic' || encoded === undefined) return secrets;
  const pair = Buffer.from(encoded, 'base64').toString('latin1');
  return [...secrets, pair.slice(pair.indexOf(':') + 1)];
}
