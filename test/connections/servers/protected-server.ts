import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { DISCOVERED } from './scripted-server.ts';

export interface TokenAnswer {
  readonly status?: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** What a test says about its server; everything else is as it should be. */
export interface ProtectedOptions {
  /** Of the authorization server, in the addresses that name it. */
  readonly host?: string;
  /** In place of what the metadata of the resource says. */
  readonly resource?: (own: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
  readonly metadata?: (own: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
  /** Answers a token request; the number counts those before it. Tokens are `token-1`, `token-2`, ... unless said otherwise. */
  readonly token?: (form: URLSearchParams, earlier: number) => TokenAnswer | undefined;
  /** Says how a request of a tool is refused; `undefined` lets it through. Unless given, tokens that were not issued are refused. */
  /** Names of its tools. */
  readonly tools?: readonly string[];
  /** What a tool says to who calls it with this `Authorization`. */
  readonly say?: (authorization: string | undefined) => string;
  readonly refuse?: (token: string | undefined) => { status: 401 | 403; challenge: string } | undefined;
}

export interface ProtectedServer extends AsyncDisposable {
  /** Of the MCP server. */
  readonly url: string;
  readonly issuer: string;
  /** Tokens that open it; a test may take them away. */
  readonly valid: Set<string>;
  /** Forms of the token requests, with their `Authorization`. */
  readonly tokenRequests: { readonly form: URLSearchParams; readonly authorization: string | undefined }[];
  /** Values of `Authorization` of the calls that were executed. */
  readonly executed: string[];
  /** What all requests came with, by method. */
  readonly heard: {
    readonly method: string;
    readonly authorization: string | undefined;
    readonly headers: IncomingHttpHeaders;
    readonly text: string;
  }[];
  /** Calls that were refused. */
  readonly refused: (string | undefined)[];
  /** Paths that were asked for at the authorization server. */
  readonly asked: string[];
  readonly registered: Readonly<Record<string, unknown>>[];
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

async function listen(listener: RequestListener) {
  const server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** An MCP server of the stateless era whose tools want a token, and its authorization server. */
export async function startProtectedServer(options: ProtectedOptions = {}): Promise<ProtectedServer> {
  const { host = '127.0.0.1', resource = own => own, metadata = own => own, say } = options;
  const tools = (options.tools ?? []).map(name => ({ name, inputSchema: { type: 'object' } }));
  const valid = new Set<string>();
  const tokenRequests: ProtectedServer['tokenRequests'] = [];
  const heard: ProtectedServer['heard'] = [];
  const executed: string[] = [];
  const refused: (string | undefined)[] = [];
  const asked: string[] = [];
  const registered: Record<string, unknown>[] = [];

  const authorization = await listen(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url!, issuer);
    asked.push(pathname);
    const json = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (pathname === '/.well-known/oauth-authorization-server') {
      return json(
        200,
        metadata({
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          registration_endpoint: `${issuer}/register`,
          response_types_supported: ['code'],
          code_challenge_methods_supported: ['S256'],
          token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
        }),
      );
    }
    if (pathname === '/authorize') {
      const back = new URL(searchParams.get('redirect_uri')!);
      back.searchParams.set('code', `code-${asked.length}`);
      back.searchParams.set('state', searchParams.get('state')!);
      return response.writeHead(302, { location: back.href }).end();
    }
    if (pathname === '/register') {
      registered.push(JSON.parse(await bodyOf(request)));
      return json(201, {
        client_id: `client-${registered.length}`,
        redirect_uris: ['http://localhost/back'],
      });
    }
    if (pathname !== '/token') return json(404, {});
    const form = new URLSearchParams(await bodyOf(request));
    const earlier = tokenRequests.push({ form, authorization: request.headers.authorization }) - 1;
    const { status = 200, body } = options.token?.(form, earlier) ?? {
      body: { access_token: `token-${earlier + 1}`, token_type: 'Bearer' },
    };
    if (typeof body.access_token === 'string') valid.add(body.access_token);
    return json(status, body);
  });
  const issuer = `http://${host}:${authorization.port}`;

  const refuse =
    options.refuse ??
    (token =>
      token !== undefined && valid.has(token)
        ? undefined
        : {
            status: 401,
            challenge: `Bearer resource_metadata="${own}/.well-known/oauth-protected-resource"`,
          });

  const mcp = await listen(async (request, response) => {
    const json = (status: number, body: unknown, headers = {}) =>
      response
        .writeHead(status, { 'content-type': 'application/json', ...headers })
        .end(JSON.stringify(body));
    if (request.url === '/.well-known/oauth-protected-resource')
      return json(200, resource({ resource: `${own}/mcp`, authorization_servers: [issuer] }));
    if (request.method !== 'POST' || request.url !== '/mcp') return json(404, {});
    const { headers } = request;
    const text = await bodyOf(request);
    const { id, method } = JSON.parse(text);
    heard.push({ method, authorization: headers.authorization, headers, text });
    if (method === 'server/discover') return json(200, { jsonrpc: '2.0', id, result: DISCOVERED });
    if (method === 'tools/list') return json(200, { jsonrpc: '2.0', id, result: { tools } });
    const header = request.headers.authorization;
    const refusal = refuse(header?.split(' ')[1]);
    if (refusal) {
      refused.push(header);
      return json(refusal.status, {}, { 'www-authenticate': refusal.challenge });
    }
    executed.push(header ?? '');
    return json(200, {
      jsonrpc: '2.0',
      id,
      result: { content: say ? [{ type: 'text', text: say(header) }] : [] },
    });
  });
  const own = `http://127.0.0.1:${mcp.port}`;

  return {
    url: `${own}/mcp`,
    ...{ issuer, valid, tokenRequests, heard, executed, refused, asked, registered },
    async [Symbol.asyncDispose]() {
      await Promise.all([mcp.close(), authorization.close()]);
    },
  };
}
