import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type GrantContext, grantAll, listenOnLoopback, newSigningKey, Provider } from './openid-provider.ts';

/** Somebody else's authorization server on loopback, played by a certified provider: clients register themselves, and people say on its page who they are. */
export interface ThirdParty extends AsyncDisposable {
  readonly issuer: string;
  /** Whose an access token is, if it is one. */
  whose(token: string): Promise<string | undefined>;
}

/** Of whatever is behind it. */
export const THIRD_PARTY_SCOPE = 'notes';

export async function startThirdParty(): Promise<ThirdParty> {
  const site = await listenOnLoopback((request, response) => answer(request, response));
  const issuer = site.origin;
  const provider: Provider = new Provider(issuer, {
    clients: [],
    scopes: ['openid', 'offline_access', THIRD_PARTY_SCOPE],
    jwks: { keys: [newSigningKey()] },
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
    loadExistingGrant: (context: GrantContext) =>
      grantAll(provider, context, `openid offline_access ${THIRD_PARTY_SCOPE}`, THIRD_PARTY_SCOPE),
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
    [Symbol.asyncDispose]: site.close,
  };
}
