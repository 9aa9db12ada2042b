import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider as UntypedProvider } from 'oidc-provider';

/** Somebody else's authorization server on loopback, played by a certified provider: clients register themselves, and people say on its page who they are. */
export interface ThirdParty extends AsyncDisposable {
  readonly issuer: string;
  /** Whose an access token is, if it is one. */
  whose(token: string): Promise<string | undefined>;
}

// The package ships no types; these are the parts used here.
interface Provider {
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

interface GrantContext {
  readonly oidc: {
    readonly client: { readonly clientId: string };
    readonly session: { readonly accountId: string };
    readonly params: { readonly resource?: string };
  };
}

const Provider = UntypedProvider as unknown as new (issuer: string, setup: object) => Provider;

/** Of whatever is behind it. */
export const THIRD_PARTY_SCOPE = 'notes';

export async function startThirdParty(): Promise<ThirdParty> {
  const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const provider = new Provider(issuer, {
    clients: [],
    scopes: ['openid', 'offline_access', THIRD_PARTY_SCOPE],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kid: 'one', use: 'sig', alg: 'RS256' }] },
    cookies: { keys: [randomBytes(16).toString('hex')] },
    findAccount: (_: unknown, subject: string) => ({ accountId: subject, claims: () => ({ sub: subject }) }),
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => undefined,
        useGrantedResource: () => true,
        getResourceServerInfo: (_: unknown, audience: string) => ({
          ...{ audience, scope: THIRD_PARTY_SCOPE, accessTokenFormat: 'opaque', accessTokenTTL: 300 },
        }),
      },
    },
    issueRefreshToken: () => true,
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    ttl: {
      AccessToken: 300,
      AuthorizationCode: 60,
      Grant: 600,
      Interaction: 600,
      Session: 600,
      RefreshToken: 600,
    },
    async loadExistingGrant({ oidc }: GrantContext) {
      const grant = new provider.Grant({
        accountId: oidc.session.accountId,
        clientId: oidc.client.clientId,
      });
      grant.addOIDCScope(`openid offline_access ${THIRD_PARTY_SCOPE}`);
      if (oidc.params.resource !== undefined) grant.addResourceScope(oidc.params.resource, THIRD_PARTY_SCOPE);
      await grant.save();
      return grant;
    },
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!request.url!.startsWith('/interaction/')) return provider.callback()(request, response);
    const { prompt } = await provider.interactionDetails(request, response);
    if (prompt.name === 'consent') return provider.interactionFinished(request, response, { consent: {} });
    if (request.method !== 'POST') {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end(
        `<!doctype html><title>Third party</title><form method="post"><label>Name <input name="name"></label><button>Allow</button></form>`,
      );
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const accountId = new URLSearchParams(Buffer.concat(chunks).toString()).get('name');
    await provider.interactionFinished(request, response, { login: { accountId }, consent: {} });
  }

  return {
    issuer,
    whose: async token => (await provider.AccessToken.find(token))?.accountId,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
