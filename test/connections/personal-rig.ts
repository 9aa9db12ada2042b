import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { type Client, createClient } from '@patchbay/contract/client';
import type { Role } from '@patchbay/contract/roles';
import type { TestNode, TestPlatform } from '@patchbay/testing/platform';
import type { FaultServer, Received } from './servers/fault-server.ts';

export const PERSONAL_ENV = {
  PATCHBAY_EGRESS_PRIVATE_HOSTS: '127.0.0.1',
  PATCHBAY_VAULT_KEY: randomBytes(32).toString('hex'),
};

/** A token that is nobody's and exists nowhere else. */
export const newToken = () => `token-${randomBytes(12).toString('hex')}`;

/** Has the server know people by their tokens: `whoami` says whose the request is, and whoever it does not know is refused. */
export function guard(server: FaultServer, header = 'authorization', scheme = 'Bearer ') {
  const people = new Map<string, string>();
  /** Statuses with which the next calls are refused, whoever makes them. */
  const refusals: number[] = [];
  server.instead = (request: Received, response: ServerResponse) => {
    const shown = String(request.headers[header] ?? '');
    const who = shown.startsWith(scheme) ? people.get(shown.slice(scheme.length)) : undefined;
    const refusal = request.method === 'tools/call' ? refusals.shift() : undefined;
    if (who === undefined || refusal !== undefined) {
      response.writeHead(refusal ?? 401).end();
      return true;
    }
    if (request.method !== 'tools/call' || request.params.name !== 'whoami') return false;
    const result = { resultType: 'complete', content: [{ type: 'text', text: who }] };
    const body = JSON.stringify({ jsonrpc: '2.0', id: request.id, result });
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
    return true;
  };
  return {
    refusals,
    knows(who: string, token = newToken()): string {
      people.set(token, who);
      return token;
    },
    forgets: (token: string) => people.delete(token),
    /** What the requests so far have shown, in order. */
    shown: (fits: (request: Received) => boolean = () => true) =>
      server.received.filter(fits).map(({ headers }) => headers[header]),
  };
}

export const isToolCall = ({ method }: Received) => method === 'tools/call';

/** A person who may call tools by hand, with their own key. */
export async function personAt(
  platform: TestPlatform,
  nodes: readonly TestNode[] = [platform],
  role: Role = 'patchbay-admin',
) {
  const { userId, key } = await platform.addPerson([role]);
  const clients: readonly Client[] = nodes.map(({ url }) =>
    createClient({ baseUrl: url, token: key, fetch }),
  );
  const client = clients[0]!;
  return {
    userId,
    key,
    client,
    /** One a node. */
    clients,
    give: (name: string, token: string) => client.call('put_credential', { name, token }),
    take: (name: string) => client.call('delete_credential', { name }),
    call: (server: string, tool = 'whoami', node = 0) =>
      clients[node]!.call('call_server_tool', { name: server, tool, arguments: {} }),
  };
}
