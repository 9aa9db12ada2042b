import type { ClientMetadata } from 'oidc-provider';
import { granted, type Outcome, refused } from '../../kernel/result.ts';
import { clientAuthMethod } from './client-auth.ts';
import { kindOfRedirect } from './redirect-uri.ts';

/** Why a client is not registered: `error` as RFC 7591 has it, and a sentence that names the member. */
export interface RegistrationRefusal {
  readonly reason: 'invalid_redirect_uri' | 'invalid_client_metadata';
  readonly message: string;
}

/** What a client may say of itself. */
export type DescribedClient = Omit<ClientMetadata, 'client_id'>;

const MAX_REDIRECTS = 10;
const MAX_NAME_CHARS = 100;
/** Control characters, marks that turn the direction of writing, and characters that nobody sees. */
const UNSHOWABLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/u;

/**
 * What is kept of a client's description, whoever sent it: its name, its addresses to come back to, its own address, which is shown and never
 * fetched, and whether it proves itself with a secret. Everything else is dropped (attack 12). Whatever it asked for, it uses codes with PKCE
 * and refresh tokens, and is a public client unless it asked for a secret; RFC 7591 lets the answer say so.
 */
export function readClient(said: unknown): Outcome<DescribedClient, RegistrationRefusal> {
  if (typeof said !== 'object' || said === null || Array.isArray(said)) {
    return invalid('The registration must be a JSON object.');
  }
  const {
    redirect_uris: uris,
    client_name: name,
    client_uri: uri,
    token_endpoint_auth_method: method,
  } = said as Record<string, unknown>;
  if (!Array.isArray(uris) || uris.length === 0 || uris.length > MAX_REDIRECTS) {
    return badRedirect(`redirect_uris must be 1 to ${MAX_REDIRECTS} addresses.`);
  }
  const kinds = uris.map(each => (typeof each === 'string' ? kindOfRedirect(each) : undefined));
  if (kinds.includes(undefined)) {
    return badRedirect(
      'redirect_uris may be https, http on this machine (localhost, 127.0.0.1, [::1]), or a scheme of an app; without user information and fragment, in plain ASCII.',
    );
  }
  if (name !== undefined && !isShowable(name)) {
    return invalid(
      `client_name must be 1 to ${MAX_NAME_CHARS} characters without control characters and marks that turn the direction of writing.`,
    );
  }
  return granted({
    ...(typeof name === 'string' && { client_name: name.trim() }),
    ...(isWebAddress(uri) && { client_uri: uri }),
    redirect_uris: [...new Set(uris as string[])],
    application_type: kinds.every(kind => kind === 'web') ? 'web' : 'native',
    token_endpoint_auth_method: clientAuthMethod(method),
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  });
}

function isShowable(name: unknown): boolean {
  return (
    typeof name === 'string' && name.trim() !== '' && name.length <= MAX_NAME_CHARS && !UNSHOWABLE.test(name)
  );
}

function isWebAddress(uri: unknown): uri is string {
  if (typeof uri !== 'string' || uri.length > 300 || !/^[\x21-\x7e]+$/.test(uri)) return false;
  return /^https:\/\/[^/@\\]+(?:[/?]|$)/.test(uri) && URL.canParse(uri);
}

const invalid = (message: string) => refused({ reason: 'invalid_client_metadata', message } as const);
const badRedirect = (message: string) => refused({ reason: 'invalid_redirect_uri', message } as const);
