import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider as UntypedProvider } from 'oidc-provider';

// The package ships no types; these are the parts that are used here, which are others than the platform's.
export interface Provider {
  callback(): (request: IncomingMessage, response: ServerResponse) => void;
  interactionDetails(
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<{ readonly prompt: { readonly name: string } }>;
  interactionFinished(request: IncomingMessage, response: ServerResponse, result: unknown): Promise<void>;
  readonly AccessToken: { find(value: string): Promise<{ readonly accountId: string } | undefined> };
  readonly Grant: new (who: {
    accountId: string;
    clientId: string;
  }) => {
    addOIDCScope(scope: string): void;
    addResourceScope(resource: string, scope: string): void;
    save(): Promise<string>;
  };
}

/** Of a request to authorize. */
export interface GrantContext {
  readonly oidc: {
    readonly client: { readonly clientId: string };
    readonly session: { readonly accountId: string };
    readonly params: { readonly resource?: string };
  };
}

/** A certified provider that plays authorization servers which are not ours. */
export const Provider = UntypedProvider as unknown as new (issuer: string, setup: object) => Provider;

/** Nobody is asked: the person allows the client these scopes, and those of the resource it names. */
export async function grantAll(
  provider: Provider,
  { oidc }: GrantContext,
  scopes: string,
  resourceScopes: string,
) {
  const grant = new provider.Grant({ accountId: oidc.session.accountId, clientId: oidc.client.clientId });
  grant.addOIDCScope(scopes);
  if (oidc.params.resource !== undefined) grant.addResourceScope(oidc.params.resource, resourceScopes);
  await grant.save();
  return grant;
}

/** A private key of its own name. */
export function newSigningKey(): Record<string, unknown> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const kid = randomBytes(8).toString('hex');
  return { ...privateKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'RS256' };
}

/** Answers at a free port of this machine until it is closed. */
export async function listenOnLoopback(
  answer: (request: IncomingMessage, response: ServerResponse) => unknown,
): Promise<{ readonly origin: string; close(): Promise<void> }> {
  const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
