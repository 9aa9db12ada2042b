/** What a host is publicly known to send when it signs its user in; the note says where it was seen. */
export interface HostRequests {
  readonly host: string;
  /** Looked up before it registers, below the base address; `{door}` is the path of the door that refused it. */
  readonly looksUp: readonly string[];
  /** Its description, as it registers itself (RFC 7591), or as it stands where `describedAt` says. */
  readonly registers: Readonly<Record<string, unknown>>;
  /** Its id is an address, at which its maker describes it. */
  readonly describedAt?: string;
  /** Where it has the browser come back to, each in a sign-in of its own. */
  readonly comesBackTo: readonly string[];
  /** What it asks for: `challenge` and `supported` are what the refusal and the document of the server say, else as it is written here. */
  readonly scope: 'challenge' | 'supported' | 'openid' | 'offline' | 'none';
  /** Names the door it wants a token for (RFC 8707). Who names none gets one for the agents. */
  readonly namesResource: boolean;
  /** Further parameters of the address it opens. */
  readonly adds?: Readonly<Record<string, string>>;
  /** Repeats what it was granted when it renews its token. */
  readonly repeatsScope?: boolean;
}

const RESOURCE_FIRST = [
  '/.well-known/oauth-protected-resource{door}',
  '/.well-known/oauth-authorization-server',
] as const;
const PUBLIC = {
  token_endpoint_auth_method: 'none',
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
};

export const HOSTS: readonly HostRequests[] = [
  {
    // anthropics/claude-ai-mcp issues 96 and 518.
    host: 'Claude, described by its maker',
    looksUp: RESOURCE_FIRST,
    describedAt: 'https://claude.ai/oauth/mcp-oauth-client-metadata',
    registers: {
      ...PUBLIC,
      client_name: 'Claude',
      redirect_uris: ['https://claude.ai/api/mcp/auth_callback'],
    },
    comesBackTo: ['https://claude.ai/api/mcp/auth_callback'],
    scope: 'offline',
    namesResource: true,
    adds: { prompt: 'consent' },
  },
  {
    // anthropics/claude-code issues 42301 and 37747: no port there, and no kind of application.
    host: 'Claude Code, described by its maker',
    looksUp: RESOURCE_FIRST,
    describedAt: 'https://claude.ai/oauth/claude-code-client-metadata',
    registers: {
      ...PUBLIC,
      client_name: 'Claude Code',
      redirect_uris: ['http://localhost/callback', 'http://127.0.0.1/callback'],
    },
    comesBackTo: ['http://localhost:55611/callback'],
    scope: 'none',
    namesResource: true,
  },
  {
    // stacklok/toolhive issue 6290: it names a grant that few have.
    host: 'VS Code, described by its maker',
    looksUp: RESOURCE_FIRST,
    describedAt: 'https://vscode.dev/oauth/client-metadata.json',
    registers: {
      ...PUBLIC,
      client_name: 'Visual Studio Code',
      grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
      redirect_uris: ['http://127.0.0.1/', 'http://127.0.0.1:33418/', 'https://vscode.dev/redirect'],
      application_type: 'native',
    },
    comesBackTo: ['http://127.0.0.1:33418/', 'http://127.0.0.1:59656/', 'https://vscode.dev/redirect'],
    scope: 'challenge',
    namesResource: true,
  },
  {
    // django-oauth/django-oauth-toolkit issue 1857: it would rather sign, and goes without where that is not offered.
    host: 'ChatGPT, described by its maker',
    looksUp: RESOURCE_FIRST,
    describedAt: 'https://chatgpt.com/oauth/client.json',
    registers: {
      ...PUBLIC,
      client_name: 'ChatGPT',
      client_uri: 'https://chatgpt.com/',
      redirect_uris: ['https://chatgpt.com/connector_platform_oauth_redirect'],
      token_endpoint_auth_method: 'private_key_jwt',
      token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
      token_endpoint_auth_signing_alg: 'RS256',
      jwks_uri: 'https://chatgpt.com/oauth/jwks.json',
    },
    comesBackTo: ['https://chatgpt.com/connector_platform_oauth_redirect'],
    scope: 'supported',
    namesResource: true,
  },
  {
    // PostHog/posthog PR 48397; the same from Desktop, the web and phones, as all call from the maker's cloud.
    host: 'Claude',
    looksUp: RESOURCE_FIRST,
    registers: {
      ...PUBLIC,
      client_name: 'Claude',
      redirect_uris: ['https://claude.ai/api/mcp/auth_callback'],
      token_endpoint_auth_method: 'client_secret_post',
    },
    comesBackTo: ['https://claude.ai/api/mcp/auth_callback'],
    scope: 'challenge',
    namesResource: true,
  },
  {
    // elmohq/elmo PR 684; anthropics/claude-code issue 7744 on what it asks for.
    host: 'Claude Code',
    looksUp: RESOURCE_FIRST,
    registers: {
      ...PUBLIC,
      client_name: 'Claude Code (patchbay)',
      redirect_uris: ['http://localhost:3118/callback'],
      application_type: 'native',
    },
    comesBackTo: ['http://localhost:3118/callback'],
    scope: 'none',
    namesResource: true,
  },
  {
    // better-auth issue 10946 and PR 10956; erp-mafia/accounted PR 2225.
    host: 'Cursor',
    looksUp: RESOURCE_FIRST,
    registers: {
      ...PUBLIC,
      client_name: 'Cursor',
      application_type: 'web',
      redirect_uris: [
        'cursor://anysphere.cursor-mcp/oauth/callback',
        'https://www.cursor.com/agents/mcp/oauth/callback',
        'http://localhost:8787/callback',
      ],
    },
    comesBackTo: [
      'cursor://anysphere.cursor-mcp/oauth/callback',
      'https://www.cursor.com/agents/mcp/oauth/callback',
      'http://localhost:8787/callback',
    ],
    scope: 'none',
    namesResource: true,
  },
  {
    // microsoft/vscode src/vs/base/common/oauth.ts; issue 278512 on the port it comes back to.
    host: 'VS Code',
    looksUp: RESOURCE_FIRST,
    registers: {
      client_name: 'Visual Studio Code',
      client_uri: 'https://code.visualstudio.com',
      grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
      response_types: ['code'],
      redirect_uris: [
        'https://insiders.vscode.dev/redirect',
        'https://vscode.dev/redirect',
        'http://127.0.0.1/',
        'http://127.0.0.1:33418/',
      ],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
    },
    comesBackTo: ['https://vscode.dev/redirect', 'http://127.0.0.1:59656/'],
    scope: 'challenge',
    namesResource: true,
  },
  {
    // kunickiaj/codemem PR 1286; developers.openai.com/apps-sdk/build/auth.
    host: 'ChatGPT',
    looksUp: [
      ...RESOURCE_FIRST,
      '/.well-known/oauth-authorization-server{door}',
      '/.well-known/openid-configuration',
    ],
    registers: {
      ...PUBLIC,
      client_name: 'ChatGPT',
      redirect_uris: ['https://chatgpt.com/connector/oauth/OUbdUMlL15Ct'],
    },
    comesBackTo: ['https://chatgpt.com/connector/oauth/OUbdUMlL15Ct'],
    scope: 'supported',
    namesResource: true,
  },
  {
    // n8n-io/n8n packages/cli/src/oauth/oauth.service.ts.
    host: 'n8n',
    looksUp: RESOURCE_FIRST,
    registers: {
      ...PUBLIC,
      client_name: 'n8n',
      client_uri: 'https://n8n.io/',
      redirect_uris: ['https://n8n.example/rest/oauth2-credential/callback'],
      scope: 'openid operator agents',
    },
    comesBackTo: ['https://n8n.example/rest/oauth2-credential/callback'],
    scope: 'supported',
    namesResource: true,
  },
  {
    // n8n-io/n8n issues 23712 and 21791: the cloud's, and before it read the document of the door.
    host: 'n8n of last year',
    looksUp: ['/.well-known/oauth-authorization-server'],
    registers: {
      ...PUBLIC,
      client_name: 'n8n',
      client_uri: 'https://n8n.io/',
      redirect_uris: ['https://oauth.n8n.cloud/oauth2/callback'],
    },
    comesBackTo: ['https://oauth.n8n.cloud/oauth2/callback'],
    scope: 'openid',
    namesResource: false,
  },
  {
    // anomalyco/opencode issue 50510, elmohq/elmo PR 684.
    host: 'OpenCode',
    looksUp: RESOURCE_FIRST,
    registers: {
      ...PUBLIC,
      client_name: 'OpenCode',
      client_uri: 'https://opencode.ai',
      redirect_uris: ['http://127.0.0.1:19876/mcp/oauth/callback'],
    },
    comesBackTo: ['http://127.0.0.1:19876/mcp/oauth/callback'],
    scope: 'challenge',
    namesResource: true,
  },
  {
    // elmohq/elmo PR 684.
    host: 'Codex',
    looksUp: RESOURCE_FIRST,
    registers: {
      ...PUBLIC,
      client_name: 'Codex',
      redirect_uris: ['http://127.0.0.1:37819/callback/patchbay'],
      application_type: 'native',
    },
    comesBackTo: ['http://127.0.0.1:37819/callback/patchbay'],
    scope: 'challenge',
    namesResource: true,
  },
  {
    // Seen from version 0.15.1 at a server whose documents say nothing of scopes.
    host: 'mcp-remote',
    looksUp: RESOURCE_FIRST,
    registers: {
      ...PUBLIC,
      client_name: 'MCP CLI Proxy',
      client_uri: 'https://github.com/modelcontextprotocol/mcp-cli',
      redirect_uris: ['http://localhost:44641/oauth/callback'],
      software_id: '2e6dc280-f3c3-4e01-99a7-8181dbd1d23d',
      software_version: '0.15.1',
      scope: 'openid email profile',
      application_type: 'native',
    },
    comesBackTo: ['http://localhost:44641/oauth/callback'],
    scope: 'openid',
    namesResource: true,
    repeatsScope: true,
  },
  {
    // Seen from version 2.12.0; the web form registers what it has, an empty scope.
    host: 'MCP Inspector',
    looksUp: RESOURCE_FIRST,
    registers: {
      ...PUBLIC,
      client_name: 'MCP Inspector',
      client_uri: 'https://github.com/modelcontextprotocol/inspector',
      redirect_uris: ['http://localhost:6274/oauth/callback'],
      scope: '',
      application_type: 'native',
    },
    comesBackTo: ['http://localhost:6274/oauth/callback'],
    scope: 'challenge',
    namesResource: true,
    adds: { prompt: 'consent' },
  },
  {
    // A client of the revision 2025-03-26, before doors had documents of their own.
    host: 'a client of the first revision with OAuth',
    looksUp: ['/.well-known/oauth-authorization-server'],
    registers: { client_name: 'Old client', redirect_uris: ['http://localhost:5000/cb'] },
    comesBackTo: ['http://localhost:5000/cb'],
    scope: 'none',
    namesResource: false,
  },
];
