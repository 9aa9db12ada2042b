import { isAgentId } from '@patchbay/contract/ids';
import { hostsOfListener, isLoopbackHost } from '../../kernel/network-address.ts';

/** What a token may be for (RFC 8707): the operator door, one agent, or every agent that is granted at consent (decisions.md 3). */
export type ResourceName =
  | { readonly door: 'operator' }
  | { readonly door: 'agents' }
  | { readonly door: 'agent'; readonly agentId: string };

/** The addresses of our doors as identifiers: what clients ask tokens for, and what tokens are bound to. */
export interface Resources {
  /** What canonical identifiers begin with, without a slash at the end. Throws a `Fault` before the listener is open. */
  base(): string;
  /** What follows the base in an address. */
  pathOf(name: ResourceName): string;
  /** The canonical address, the audience of tokens: `<base>/mcp`, `<base>/<agentId>/mcp` or `<base>`. */
  addressOf(name: ResourceName): string;
  /**
   * Which of our doors an address names; `undefined` when none. Only spellings that a client was told are ours: what another
   * parser might take for another host is nobody's (attack 6).
   */
  nameOf(address: string): ResourceName | undefined;
  /** What the identifiers begin with for somebody who is connected to this `Host`, which is one of ours (E-40). */
  baseFor(host: string | undefined): string;
}

const MAX_ADDRESS_CHARS = 2048;
/** Scheme and authority, then a path of plain characters: no user info, query, fragment or encoding. */
const ADDRESS = /^(https?:\/\/[a-z0-9._:[\]-]+)((?:\/[a-z0-9._~-]*)*)$/i;

export function createResources(options: {
  /** Where others reach the platform: the public address, else the one it listens at. */
  readonly address: () => string;
  readonly publicUrl: string | undefined;
  readonly boundHost: string;
  /** Further values of `Host` that are ours, with or without a port. */
  readonly allowedHosts: readonly string[];
  readonly operatorPath: string;
  /** Identifiers of hosts that are not this machine begin with https, whatever the listener speaks (E-39). */
  readonly forceHttps: boolean;
}): Resources {
  const { address, publicUrl, boundHost, allowedHosts, operatorPath, forceHttps } = options;
  const advertised = (url: string) => {
    const { protocol, hostname } = new URL(url);
    const isForced = forceHttps && protocol === 'http:' && !isLoopbackHost(hostname);
    return isForced ? url.replace(/^http:/, 'https:') : url;
  };

  const base = () => advertised(address());

  /** A public address is the only one. Without it, every name of the listener is ours, and no other port than its own. */
  const bases = () => {
    if (publicUrl !== undefined) return [advertised(publicUrl)];
    const { port } = new URL(address());
    const allowed = allowedHosts.flatMap(host =>
      /:\d+$/.test(host) ? [host] : [host, ...(port === '' ? [] : [`${host}:${port}`])],
    );
    const own = hostsOfListener(boundHost).map(host => (port === '' ? host : `${host}:${port}`));
    return [...own, ...allowed].map(host => advertised(`http://${host.toLowerCase()}`));
  };

  return {
    base,
    pathOf: name => pathOf(name, operatorPath),
    addressOf: name => base() + pathOf(name, operatorPath),

    nameOf(text) {
      if (text.length > MAX_ADDRESS_CHARS) return undefined;
      const [, authority, path = ''] = ADDRESS.exec(text) ?? [];
      if (authority === undefined) return undefined;
      const given = authority.toLowerCase() + path;
      const own = bases().find(known => given === known || given.startsWith(`${known}/`));
      return own === undefined ? undefined : nameOfPath(given.slice(own.length), own, operatorPath);
    },

    baseFor(host) {
      if (publicUrl !== undefined || host === undefined) return base();
      const asked = advertised(`http://${host.toLowerCase()}`);
      return bases().includes(asked) ? asked : base();
    },
  };
}

/** The same for who issues no tokens for the operator door: its address names nothing. */
export function withoutOperatorDoor(resources: Resources): Resources {
  return {
    ...resources,
    nameOf(address) {
      const name = resources.nameOf(address);
      return name?.door === 'operator' ? undefined : name;
    },
  };
}

function pathOf(name: ResourceName, operatorPath: string): string {
  switch (name.door) {
    case 'operator':
      return operatorPath;
    case 'agents':
      return '';
    case 'agent':
      return `/${name.agentId}/mcp`;
  }
}

function nameOfPath(path: string, base: string, operatorPath: string): ResourceName | undefined {
  if (path === '') return { door: 'agents' };
  // An origin is written with the slash as well: every parser of URLs adds it.
  if (path === '/' && new URL(base).pathname === '/') return { door: 'agents' };
  if (path === operatorPath) return { door: 'operator' };
  const agentId = /^\/([^/]+)\/mcp$/.exec(path)?.[1];
  return agentId !== undefined && isAgentId(agentId) ? { door: 'agent', agentId } : undefined;
}
