import {
  clientCredentials,
  type Grant,
  jwtBearer,
} from '../../../packages/server/src/connections/credential/grant.ts';
import { enterpriseManaged } from '../../../packages/server/src/connections/credential/id-jag.ts';
import type { ClientIdentity } from '../../../packages/server/src/connections/credential/oauth-client.ts';
import { createOAuthCredential } from '../../../packages/server/src/connections/credential/oauth-credential.ts';
import { type Redirect, signIn } from '../../../packages/server/src/connections/credential/sign-in.ts';
import { newTokenKey } from '../../../packages/server/src/connections/credential/token-key.ts';
import { createMemoryTokenStore } from '../../../packages/server/src/connections/credential/token-store.ts';
import type { Connection } from '../../../packages/server/src/connections/session/connection.ts';
import { createPool } from '../../../packages/server/src/connections/session/pool.ts';
import {
  type Answerer,
  answerPingOnly,
  type Members,
} from '../../../packages/server/src/connections/session/wire.ts';
import { type RemoteTool, readTools } from '../../../packages/server/src/connections/tool/remote-tool.ts';
import { systemClock } from '../../../packages/server/src/kernel/clock.ts';
import type { Logger } from '../../../packages/server/src/kernel/logger.ts';
import { isLoopbackHost } from '../../../packages/server/src/kernel/network-address.ts';
import { createSafeFetch } from '../../../packages/server/src/kernel/safe-fetch.ts';

// The client that the conformance suite judges: a pool as the platform has it, driven as the scenario in the environment asks. The server's
// address is the last argument; exit code 0 when everything that was asked for came about.

const TIME_MS = 20_000;

/** What the suite hands to the scenarios that need something. */
interface Context {
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly private_key_pem?: string;
  readonly signing_algorithm?: string;
  readonly issuer?: string;
  readonly idp_client_id?: string;
  readonly idp_id_token?: string;
  readonly idp_token_endpoint?: string;
  readonly valid_jwt?: string;
  readonly toolCalls?: readonly Members[];
}

const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? '';
const context: Context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}');
const url = process.argv.at(-1)!;

const quiet: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => quiet,
};

/** The suite's sign-in page asks nothing: it sends the browser back at once. */
const redirect: Redirect = {
  url: 'http://localhost:3000/callback',
  async visit(address) {
    const answer = await fetch(address, { redirect: 'manual' });
    return new URL(answer.headers.get('location')!).searchParams;
  },
};

function grantOf(): Grant {
  if (scenario.startsWith('auth/client-credentials-')) return clientCredentials;
  if (scenario === 'auth/wif-jwt-bearer') return jwtBearer(async () => context.valid_jwt!);
  if (scenario !== 'auth/enterprise-managed-authorization') return signIn(redirect);
  return enterpriseManaged({
    tokenEndpoint: context.idp_token_endpoint!,
    clientId: context.idp_client_id!,
    idToken: async () => context.idp_id_token!,
  });
}

function identityOf(): ClientIdentity {
  const {
    client_id: id,
    client_secret: secret,
    private_key_pem: pem,
    signing_algorithm: algorithm,
  } = context;
  return {
    name: 'Patchbay',
    metadataUrl: 'https://conformance-test.local/client-metadata.json',
    registered:
      id === undefined
        ? undefined
        : { id, secret, key: pem === undefined ? undefined : { pem, algorithm: algorithm! } },
  };
}

const answer: Answerer = async (method, params) =>
  method === 'elicitation/create' ? { action: 'accept', content: {} } : answerPingOnly(method, params);

/** Everything the server has is used once. */
async function drive(connection: Connection): Promise<void> {
  const ask = (method: string, params: Members = {}) =>
    connection.request({ method, params, timeoutMs: TIME_MS });
  await connection.ready();
  const { tools } = readTools(connection.listed!, { mirrorsArguments: connection.mirrorsArguments });
  // Its tools are only there to be looked at.
  if (scenario === 'json-schema-ref-no-deref') return;
  for (const call of context.toolCalls ?? tools.map(tool => callOf(tool, tools)))
    await ask('tools/call', call);
  const { capabilities } = connection.facts!;
  if (capabilities.resources) {
    const { resources } = await ask('resources/list');
    for (const { uri } of resources as Members[]) await ask('resources/read', { uri });
  }
  if (capabilities.prompts) {
    const { prompts } = await ask('prompts/list');
    for (const { name } of prompts as Members[]) await ask('prompts/get', { name });
  }
}

const ARGUMENTS: Readonly<Record<string, Members>> = {
  add_numbers: { a: 5, b: 3 },
  valid_tool: { region: 'eu' },
};

function callOf({ name }: RemoteTool, tools: readonly RemoteTool[]): Members {
  if (name !== 'json_schema_echo') return { name, arguments: ARGUMENTS[name] ?? {} };
  return { name, arguments: { schema: tools.find(tool => tool.name !== name)!.inputSchema } };
}

const safeFetch = createSafeFetch({ allowPrivate: isLoopbackHost });
const pool = createPool({
  fetch: safeFetch,
  clock: systemClock,
  random: Math.random,
  logger: quiet,
  version: '0.0.0',
  startProgram: () => Promise.reject(new Error('no program runs here')),
  asked: { capabilities: { elicitation: {} }, answer },
});
const credential = createOAuthCredential({
  url,
  hostFrom: 'operator',
  grant: grantOf(),
  identity: identityOf(),
  issuer: context.issuer,
  key: scenario.startsWith('auth/dpop') ? await newTokenKey() : undefined,
  store: createMemoryTokenStore(),
  fetch: safeFetch,
  clock: systemClock,
});
const connection = pool.connection({
  endpoint: { kind: 'http', url, headers: {}, hostFrom: 'operator', insecureTls: false },
  scope: 'conformance',
  connectTimeoutMs: TIME_MS,
  credential,
});
try {
  await drive(connection);
} finally {
  await pool.close();
  await safeFetch.close();
}
