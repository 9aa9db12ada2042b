import {
  type AddClientAuthentication,
  createPrivateKeyJwtAuth,
  isHttpsUrl,
  type OAuthClientInformationMixed,
  registerClient,
} from '@modelcontextprotocol/client';
import type { Clock } from '../../kernel/clock.ts';
import { isLoopbackHost } from '../../kernel/network-address.ts';
import type { AuthorizationServer } from './authorization-server.ts';
import type { OAuthEgress } from './oauth-egress.ts';
import { authenticationFailure } from './oauth-failure.ts';
import type { KeptTokens } from './token-store.ts';

/** As who we appear at an authorization server. */
export interface ClientIdentity {
  /** Registered there beforehand, by people; with a secret or a key, or public. */
  readonly registered?:
    | {
        readonly id: string;
        readonly secret?: string | undefined;
        /** PKCS #8 in PEM. */
        readonly key?: { readonly pem: string; readonly algorithm: string } | undefined;
      }
    | undefined;
  /** Address of the document that describes us, which is the id at servers that read it. */
  readonly metadataUrl?: string | undefined;
  /** As people read it where we register ourselves. */
  readonly name: string;
}

export interface OAuthClient {
  readonly information: OAuthClientInformationMixed;
  readonly authenticate: AddClientAuthentication | undefined;
  /** Kept, so that the next time is the same client. */
  readonly byOurselves: boolean;
}

export interface ClientOptions {
  readonly identity: ClientIdentity;
  readonly server: AuthorizationServer;
  readonly kept: KeptTokens | undefined;
  readonly redirectUrl: string | undefined;
  readonly scope: string | undefined;
  readonly egress: OAuthEgress;
  readonly clock: Pick<Clock, 'now'>;
}

/** As registered beforehand, else by our document, else as we registered ourselves here, now or earlier (mcp.md 1.2). */
export async function clientAt(options: ClientOptions): Promise<OAuthClient> {
  const { identity, server, redirectUrl, scope, egress } = options;
  const { registered, metadataUrl, name } = identity;
  if (registered) return asRegistered(registered);
  if (
    metadataUrl !== undefined &&
    isHttpsUrl(metadataUrl) &&
    server.metadata?.client_id_metadata_document_supported
  )
    return { information: { client_id: metadataUrl }, authenticate: undefined, byOurselves: false };
  const known = usable(options);
  if (known) return { information: known, authenticate: undefined, byOurselves: true };
  if (redirectUrl === undefined)
    throw authenticationFailure('it needs a client that is registered beforehand');
  const { metadata, quirks } = server;
  if (quirks.registeredAt !== undefined || (metadata && metadata.registration_endpoint === undefined))
    throw authenticationFailure(
      `${quirks.name} does not let clients register themselves: register one${quirks.registeredAt === undefined ? '' : ` in ${quirks.registeredAt}`}, with the redirect address ${redirectUrl}, and give it as oauth.clientId and oauth.clientSecret`,
    );
  const information = await registerClient(server.url, {
    ...(metadata && { metadata }),
    clientMetadata: {
      client_name: name,
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      ...(!quirks.registersLittle && {
        application_type: isLoopbackHost(new URL(redirectUrl).hostname) ? 'native' : 'web',
      }),
    },
    ...(scope !== undefined && !quirks.registersLittle && { scope }),
    fetchFn: egress.fetch,
  });
  return { information, authenticate: undefined, byOurselves: true };
}

function asRegistered({ id, secret, key }: NonNullable<ClientIdentity['registered']>): OAuthClient {
  const authenticate =
    key && createPrivateKeyJwtAuth({ issuer: id, subject: id, privateKey: key.pem, alg: key.algorithm });
  const information = { client_id: id, ...(secret !== undefined && { client_secret: secret }) };
  return { information, authenticate, byOurselves: false };
}

function usable({
  kept,
  server,
  redirectUrl,
  clock,
}: ClientOptions): OAuthClientInformationMixed | undefined {
  if (kept?.issuer !== server.issuer || kept.redirectUrl !== redirectUrl) return undefined;
  const { client } = kept;
  const expires = client && 'client_secret_expires_at' in client ? client.client_secret_expires_at : 0;
  return expires && expires * 1_000 <= clock.now() ? undefined : client;
}
