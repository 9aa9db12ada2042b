/**
 * What authorization servers of the world do otherwise than MCP has it (field-reports 2.4). Known by their addresses; anybody else is taken to
 * do as the specification says.
 */
export interface ProviderQuirks {
  /** As people know it. */
  readonly name: string;
  /** It refuses requests with `resource` (RFC 8707). */
  readonly refusesResource?: true;
  /** It goes by `audience` where others go by `resource`. */
  readonly wantsAudience?: true;
  /** It protects codes (PKCE with S256), though its metadata does not say so. */
  readonly protectsCodes?: true;
  /** Nobody can register a client there without a credential of the provider: where people do it. */
  readonly registeredAt?: string;
  /** It refuses registrations with members that it does not know, and with scopes. */
  readonly registersLittle?: true;
  /** It refuses scopes that its metadata does not list. */
  readonly refusesUnknownScopes?: true;
  /** Parameters of its sign-in page: `undefined` is one that it refuses. */
  readonly signInWith?: Readonly<Record<string, string | undefined>>;
  /** What to look at when it refuses, a phrase. */
  readonly hint?: string;
}

interface Row extends ProviderQuirks {
  /** An issuer, or an endpoint for tokens. */
  readonly isAt: (url: URL) => boolean;
  /** Where it was seen. */
  readonly source: string;
}

const PROVIDERS: readonly Row[] = [
  {
    name: 'Microsoft Entra',
    isAt: ({ hostname }) =>
      /^(?:login\.microsoftonline\.(?:com|us)|login\.partner\.microsoftonline\.cn|sts\.windows\.net)$/.test(
        hostname,
      ) || hostname.endsWith('.ciamlogin.com'),
    source:
      'github.com/microsoft/powerbi-modeling-mcp/issues/68, agentgateway/agentgateway#2064, modelcontextprotocol/typescript-sdk#832',
    refusesResource: true,
    protectsCodes: true,
    signInWith: { prompt: undefined },
    registeredAt: 'its app registrations',
    hint: 'it takes scopes such as api://<application>/.default',
  },
  {
    name: 'Okta',
    isAt: ({ hostname }) => /\.(?:okta|oktapreview|okta-emea)\.com$/.test(hostname),
    source: 'github.com/modelcontextprotocol/modelcontextprotocol/issues/695',
    registeredAt: 'its applications',
  },
  {
    name: 'Keycloak',
    // It is at an address of everybody's own.
    isAt: ({ pathname }) => /\/realms\/[^/]+(?:\/|$)/.test(pathname),
    source: 'github.com/turnstonelabs/turnstone/issues/1082, github.com/keycloak/keycloak/issues/50807',
    registersLittle: true,
    refusesUnknownScopes: true,
  },
  {
    name: 'Google',
    isAt: ({ hostname }) => hostname === 'accounts.google.com' || hostname === 'oauth2.googleapis.com',
    source: 'cloud.google.com/nodejs/docs/reference/google-auth-library (GenerateAuthUrlOpts)',
    signInWith: { access_type: 'offline', prompt: 'consent' },
    registeredAt: 'its cloud console',
  },
  {
    name: 'GitHub',
    isAt: ({ hostname, pathname }) => hostname === 'github.com' && pathname.startsWith('/login/oauth'),
    source: 'github.com/anomalyco/opencode/issues/5716, github.com/netclaw-dev/netclaw/issues/2141',
    registeredAt: 'its developer settings',
  },
  {
    name: 'Auth0',
    isAt: ({ hostname }) => hostname.endsWith('.auth0.com'),
    source: 'github.com/danny-avila/LibreChat/issues/13401',
    wantsAudience: true,
  },
];

const NONE: ProviderQuirks = { name: 'the authorization server' };

/** What is known of the provider that is at this issuer or endpoint. */
export function quirksOf(address: string): ProviderQuirks {
  const url = URL.parse(address);
  return (url && PROVIDERS.find(({ isAt }) => isAt(url))) ?? NONE;
}
