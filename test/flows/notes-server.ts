import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { THIRD_PARTY_SCOPE, type ThirdParty } from '@patchbay/testing/third-party';

/** An MCP server of the SDK's whose one tool says whose notes these are; it takes tokens of a third party and no others. */
export async function startNotesServer(thirdParty: ThirdParty) {
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const answer = await respond(
      new Request(`${origin}${incoming.url}`, {
        method: incoming.method!,
        headers: incoming.headers as Record<string, string>,
        ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
      }),
    );
    outgoing.writeHead(answer.status, Object.fromEntries(answer.headers));
    outgoing.end(Buffer.from(await answer.arrayBuffer()));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`;

  async function respond(request: Request): Promise<Response> {
    if (request.url === metadata)
      return Response.json({
        resource: `${origin}/mcp`,
        authorization_servers: [thirdParty.issuer],
        scopes_supported: [THIRD_PARTY_SCOPE],
      });
    const token = /^Bearer (.+)$/.exec(request.headers.get('authorization') ?? '')?.[1];
    const who = token === undefined ? undefined : await thirdParty.whose(token);
    if (who === undefined) {
      const challenge = `Bearer resource_metadata="${metadata}"`;
      return new Response(null, { status: 401, headers: { 'www-authenticate': challenge } });
    }
    return createMcpHandler(() => {
      const mcp = new McpServer({ name: 'notes', version: '1' });
      const text = `The notes of ${who}.`;
      mcp.registerTool('notes', { annotations: { readOnlyHint: true } }, async () => ({
        content: [{ type: 'text', text }],
      }));
      return mcp;
    }).fetch(request);
  }

  return {
    url: `${origin}/mcp`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
