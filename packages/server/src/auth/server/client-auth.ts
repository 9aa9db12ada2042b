import { randomBytes } from 'node:crypto';
import { sameBytes, sha256OfText } from '../../kernel/digest.ts';

/** How clients prove who they are, in the order in which they are told: a secret only where a client asks for one. */
export const CLIENT_AUTH_METHODS = ['none', 'client_secret_post', 'client_secret_basic'] as const;
export type ClientAuthMethod = (typeof CLIENT_AUTH_METHODS)[number];

/** What a client that asks for `said` gets: a method that is not offered, or none said, makes it a public client. */
export function clientAuthMethod(said: unknown): ClientAuthMethod {
  return CLIENT_AUTH_METHODS.find(method => method === said) ?? 'none';
}

/** 256 random bits, in base64url. */
export function newClientSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** What is kept of a secret: its SHA-256 in hex. The secret is random and long, so nothing slower is needed. */
export function hashOfClientSecret(secret: string): string {
  return sha256OfText(secret);
}

/** Whether what a client presented is the secret of that hash. Takes as long whatever is wrong with it. */
export function isClientSecret(presented: unknown, hash: unknown): boolean {
  if (typeof presented !== 'string' || typeof hash !== 'string') return false;
  return sameBytes(Buffer.from(hashOfClientSecret(presented)), Buffer.from(hash));
}

/** The client that an `Authorization: Basic` names. For one that the library has let in, so it is well formed. */
export function clientIdOfBasic(authorization: string): string {
  const [, credentials = ''] = authorization.split(' ');
  const [id = ''] = Buffer.from(credentials, 'base64').toString().split(':');
  return decodeURIComponent(id.replaceAll('+', '%20'));
}
