import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OPERATIONS, type OperationName } from '@patchbay/contract/operations';
import type { KeyScope } from '@patchbay/contract/operations/keys';
import manifest from '../../package.json' with { type: 'json' };

type Arguments = Record<string, unknown>;

/** Thrown by a handler: the status and the error a platform would answer with. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/**
 * What a platform shows to a command line, on a real port: REST routes from the definitions, error envelopes, keys, the
 * owner's file, and whatever a test puts behind the MCP doors.
 */
export interface FakePlatform {
  readonly url: string;
  readonly token: string;
  readonly home: string;
  readonly dataDir: string;
  readonly calls: { readonly name: OperationName; readonly args: Arguments; readonly token: string }[];
  readonly keys: Map<string, { id: string; scopes: KeyScope[]; agentId?: string }>;
  readonly handlers: Partial<Record<OperationName, (args: Arguments) => unknown>>;
  /** As its description says. */
  version: string;
  /** Its database answers. */
  ready: boolean;
  /** Serves `/mcp` and `/{agentId}/mcp`. */
  door?: (request: IncomingMessage, response: ServerResponse, body: string) => void | Promise<void>;
  /** Another start: a new owner token. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export async function startFakePlatform(): Promise<FakePlatform> {
  const home = await mkdtemp(join(tmpdir(), 'patchbay-cli-'));
  const dataDir = join(home, '.patchbay');
  await mkdir(dataDir);
  let token = '';
  let starts = 0;
  let minted = 0;
  const calls: FakePlatform['calls'] = [];
  const keys: FakePlatform['keys'] = new Map();

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString('utf8');
    const url = new URL(request.url!, 'http://local');
    if (url.pathname === '/api/v1/openapi.json' || url.pathname === '/readyz') {
      response.writeHead(platform.ready ? 200 : 503, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ info: { title: 'Patchbay', version: platform.version } }));
      return;
    }
    if (!url.pathname.startsWith('/api/v1/')) {
      if (platform.door) return platform.door(request, response, body);
      response.writeHead(404).end();
      return;
    }
    const send = (status: number, value: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    };
    try {
      const { name, args } = route(request.method!, url, body);
      const bearer = request.headers.authorization?.replace('Bearer ', '') ?? '';
      if (bearer !== token && !keys.get(bearer)?.scopes.includes('operator')) {
        throw new Refusal(401, 'unauthorized', 'A key with the operator scope is needed.');
      }
      calls.push({ name, args, token: bearer });
      const handler = platform.handlers[name];
      if (!handler) throw new Refusal(500, 'internal_error', `${name} is not part of this test.`);
      send(200, handler(args));
    } catch (thrown) {
      const { status, code, message } = thrown as Refusal;
      send(status, { success: false, error: { type: 'api_error', code, message } });
    }
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const platform: FakePlatform = {
    url,
    get token() {
      return token;
    },
    home,
    dataDir,
    version: manifest.version,
    ready: true,
    calls,
    keys,
    handlers: {
      create_key: ({ name = 'key', scopes = ['agents'] }) => mint('oag_', { name, scopes }),
      create_agent_key: ({ name = 'key', agentId }) => mint('bak_', { name, scopes: ['agents'], agentId }),
      list_keys: () => ({ count: keys.size, keys: [...keys].map(([key, info]) => describe(key, info)) }),
      revoke_key: ({ keyId }) => {
        const found = [...keys].find(([, info]) => info.id === keyId);
        if (!found) throw new Refusal(404, 'not_found', `There is no key ${keyId}.`);
        keys.delete(found[0]);
        return { id: keyId, revoked: true };
      },
      discover_agents: () => ({ count: 1, agents: [demoAgent] }),
      list_own_agents: () => ({ count: 0, agents: [] }),
    },
    async restart() {
      starts += 1;
      token = `owner-${starts}`;
      await writeFile(
        join(dataDir, 'local-owner'),
        JSON.stringify({ url, operatorUrl: `${url}/mcp`, token }),
        { mode: 0o600 },
      );
    },
    async stop() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
      await rm(home, { recursive: true, force: true });
    },
  };

  function mint(prefix: string, info: Arguments): unknown {
    minted += 1;
    const key = `${prefix}${String(minted).padEnd(64, 'f')}`;
    keys.set(key, { id: `key_${minted}`, ...info } as never);
    return { ...describe(key, keys.get(key)!), key };
  }

  function describe(key: string, info: { id: string }): Arguments {
    const isOperator = (info as { scopes?: string[] }).scopes?.includes('operator');
    return {
      kind: 'user',
      name: 'key',
      ...info,
      prefix: key.slice(0, 12),
      createdOn: Date.UTC(2026, 10, 30),
      ...(isOperator ? { expiresOn: Date.UTC(2027, 1, 28) } : {}),
    };
  }

  await platform.restart();
  return platform;
}

export const demoAgent = {
  agentId: 'demo',
  name: 'Demo',
  description: 'Answers greetings',
  version: 1,
  status: 'READY',
  environment: 'production',
};

/** Which operation an address means, by the definitions themselves. */
function route(method: string, url: URL, body: string): { name: OperationName; args: Arguments } {
  for (const { name, rest } of OPERATIONS) {
    const pattern = `^/api/v1${rest.path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`;
    const match = rest.method === method ? new RegExp(pattern).exec(url.pathname) : null;
    if (!match) continue;
    const inPath = Object.entries(match.groups ?? {}).map(([key, value]) => [key, decodeURIComponent(value)]);
    const others =
      method === 'POST' || method === 'PUT' || method === 'PATCH'
        ? JSON.parse(body)
        : Object.fromEntries(url.searchParams);
    return { name, args: { ...others, ...Object.fromEntries(inPath) } };
  }
  throw new Refusal(404, 'not_found', `There is no ${method} ${url.pathname}.`);
}
