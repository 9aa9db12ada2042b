import { type Client, createClient } from '@patchbay/contract/client';
import type { TestNode, TestPlatform } from '@patchbay/testing/platform';
import { expect } from 'vitest';
import { conversationWith, heardOf } from '../mcpcalls/talk.ts';

/** What tests of registered servers need of a platform, and of one of its nodes. */
export function rigOn(platform: TestPlatform, node: TestNode = platform) {
  const { registry, servers } = node.platform;
  const client: Client = createClient({ baseUrl: node.url, token: platform.operatorKey, fetch });
  const refOf = (name: string, scope = 'default') => ({ scope, name });
  const rig = {
    client,
    refOf,
    add: (name: string, options: object, { instance = 'default', replace = false } = {}) =>
      registry.add({ instance, name, options: { gated: false, ...options }, replace, by: 'test' }),
    remove: (name: string, instance?: string) => registry.remove(refOf(name, instance)),
    health: (name: string, instance?: string) => servers.health(refOf(name, instance)),
    tools: (name: string, instance?: string) => servers.tools(refOf(name, instance)),
    /** Names of the tools that agents get, as the server calls them. */
    offered: (name: string, instance?: string) =>
      servers.tools(refOf(name, instance)).flatMap(tool => (tool.standing === 'offered' ? tool.name : [])),
    settle: (name: string) => servers.settle(refOf(name), new AbortController().signal),
    /** Resolves when the server is in this state on this node. */
    becomes: (name: string, state: string, instance?: string) =>
      expect.poll(() => servers.health(refOf(name, instance)).state).toBe(state),
    accept: (name: string, tools?: string[]) => servers.accept(refOf(name), { tools, by: 'ann' }),
    /** A call by hand. */
    call: (name: string, tool: string, args: Record<string, unknown> = {}, by = 'ann') =>
      servers.call(refOf(name), { tool, arguments: args, by, signal: new AbortController().signal }),
    /** An agent whose rules call these tools of the server, by the words of the message; talked to on this node. */
    async talker(server: string, calls: Readonly<Record<string, object>>) {
      const conversation = await conversationWith(client, {
        mcpServerUrl: `patchbay:servers/${server}`,
        mcpCalls: Object.entries(calls).map(([name, call]) => ({ name, responseObjectName: name, ...call })),
      });
      return (message: string) => heardOf(client, conversation, message);
    },
    /** The gauge of this node; `undefined` where there is none. */
    async gauge(name: string, instance = 'default') {
      const response = await fetch(`${node.url}/metrics`, {
        headers: { authorization: `Bearer ${platform.operatorKey}` },
      });
      const text = await response.text();
      const found = new RegExp(
        `^patchbay_mcp_tools\\{mcp="${instance}",server="${name}"\\} (\\d+)$`,
        'm',
      ).exec(text);
      return found ? Number(found[1]) : undefined;
    },
    /** How many tools the server was said to offer, in order. */
    counts: (name: string) =>
      node
        .logLines()
        .filter(line => line.message === 'The tools of an MCP server changed' && line.server === name)
        .map(({ count }) => count),
    warnings: (message: string) => node.logLines().filter(line => line.message === message),
  };
  return rig;
}

export type Rig = ReturnType<typeof rigOn>;

/** A rig on each node. */
export function rigsOn(platform: TestPlatform & { readonly nodes?: readonly TestNode[] }): readonly Rig[] {
  return (platform.nodes ?? [platform]).map(node => rigOn(platform, node));
}
