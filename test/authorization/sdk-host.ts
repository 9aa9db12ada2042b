import {
  Client,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  StreamableHTTPClientTransport,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client';
import { CALLBACK } from './rig.ts';

/** An MCP host as the official SDK makes one: it finds out, registers, asks for a browser and keeps its tokens. */
export interface SdkHost {
  /** Rejects with `UnauthorizedError` while a person has to be asked. */
  connect(mode: VersionNegotiationMode): Promise<Client>;
  /** Where it wants the browser. */
  readonly browserUrl: () => string;
  /** The browser came back. */
  finish(location: URL): Promise<void>;
  tokens: StoredOAuthTokens | undefined;
  client: StoredOAuthClientInformation | undefined;
}

export function createSdkHost(url: string, callback = CALLBACK): SdkHost {
  let browserUrl: URL | undefined;
  let verifier = '';
  let discovered: OAuthDiscoveryState | undefined;
  const host: SdkHost = {
    tokens: undefined,
    client: undefined,
    browserUrl: () => browserUrl!.href,
    async connect(mode) {
      const client = new Client({ name: 'test host', version: '1' }, { versionNegotiation: { mode } });
      await client.connect(transport());
      return client;
    },
    finish: location => transport().finishAuth(location.searchParams),
  };
  const authProvider: OAuthClientProvider = {
    redirectUrl: callback,
    clientMetadata: {
      client_name: 'SDK host',
      redirect_uris: [callback],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'client_secret_post',
    },
    state: () => 'its own',
    clientInformation: () => host.client,
    saveClientInformation: client => {
      host.client = client;
    },
    tokens: () => host.tokens,
    saveTokens: tokens => {
      host.tokens = tokens;
    },
    redirectToAuthorization: to => {
      browserUrl = to;
    },
    saveCodeVerifier: code => {
      verifier = code;
    },
    codeVerifier: () => verifier,
    saveDiscoveryState: state => {
      discovered = state;
    },
    discoveryState: () => discovered,
  };
  const transport = () => new StreamableHTTPClientTransport(new URL(url), { authProvider });
  return host;
}
