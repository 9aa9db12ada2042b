import {
  IssuerMismatchError,
  OAuthError,
  OAuthErrorCode,
  RegistrationRejectedError,
} from '@modelcontextprotocol/client';
import { Fault, PlatformError } from '../../kernel/errors.ts';
import { createScrubber } from '../../kernel/redact.ts';
import { SessionError } from '../session/failure.ts';

/**
 * Why signing in failed, as a failure of the session: without what was sent, and without the library's error, which may repeat a whole
 * answer. The hint is added to a refusal of the authorization server.
 */
export function oauthFailure(thrown: unknown, sent: readonly string[], hint?: string): SessionError {
  if (thrown instanceof SessionError) return thrown;
  if (thrown instanceof Fault)
    return new SessionError('AUTHENTICATION_FAILED', 'no', 'signing in failed in the platform', {
      cause: thrown,
    });
  const scrub = createScrubber(sent);
  const advice = hint !== undefined && thrown instanceof OAuthError ? `; ${hint}` : '';
  return authenticationFailure(`signing in failed: ${scrub(explained(thrown))}${advice}`);
}

/** A refusal of ours; `message` may be shown. */
export function authenticationFailure(message: string): SessionError {
  return new SessionError('AUTHENTICATION_FAILED', 'no', message);
}

function explained(thrown: unknown): string {
  if (thrown instanceof PlatformError) return thrown.message;
  // What an answer said that may be another server's is not shown (RFC 9207).
  if (thrown instanceof IssuerMismatchError)
    return 'the answer is not from the authorization server that was asked';
  if (thrown instanceof RegistrationRejectedError)
    return `it was not registered (${oauthErrorIn(thrown.body)})`;
  // The library puts an answer that it does not understand into this one.
  if (thrown instanceof OAuthError && thrown.code === OAuthErrorCode.ServerError)
    return 'the authorization server failed';
  if (thrown instanceof OAuthError)
    return `the authorization server refused (${thrown.code}: ${thrown.message})`;
  if (thrown instanceof SyntaxError || (thrown instanceof Error && thrown.name.startsWith('$Zod')))
    return 'an answer of the authorization server is not understood';
  return thrown instanceof Error ? thrown.message : 'something broke';
}

function oauthErrorIn(body: string): string {
  try {
    const { error, error_description: why } = JSON.parse(body) as Record<string, unknown>;
    return `${String(error)}: ${String(why ?? 'without a reason')}`;
  } catch {
    return 'without a reason';
  }
}
