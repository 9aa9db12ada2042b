import { join } from 'node:path';
import type { Io } from '../io.ts';

/**
 * What an MCP host needs to reach one of our doors: an address, at which its person signs in unless it has a key, or a command
 * that bridges stdio to it.
 */
export type Access =
  | { readonly kind: 'http'; readonly url: string; readonly key: string | undefined }
  | {
      readonly kind: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
    };

export type HostEntry = Readonly<Record<string, unknown>>;

/** One MCP host: what it speaks and where it keeps its list of servers. */
export interface Host {
  readonly title: string;
  readonly speaks: Access['kind'];
  /** The member of its configuration that holds the servers by name. */
  readonly member: 'mcpServers' | 'servers';
  /** Its configuration for this person. */
  configFile(io: Io): string;
  /** Members it wants beside `url` and `headers`. */
  readonly httpExtras: HostEntry;
  /** What makes it read a changed file. */
  readonly afterWrite: string;
  /** How its person signs in to a server without a key; absent where it cannot. */
  readonly signIn?: string;
}

export const HOSTS = {
  'claude-code': {
    title: 'Claude Code',
    speaks: 'http',
    member: 'mcpServers',
    // Not the project's .mcp.json: that one is made to be committed, and the entry holds a key.
    configFile: io => join(io.env.CLAUDE_CONFIG_DIR || io.home, '.claude.json'),
    httpExtras: { type: 'http' },
    afterWrite: 'Start a new Claude Code session to use it.',
    signIn: 'In Claude Code, type /mcp, choose it and sign in.',
  },
  'claude-desktop': {
    title: 'Claude Desktop',
    speaks: 'stdio',
    member: 'mcpServers',
    configFile: io => join(appData(io), 'Claude', 'claude_desktop_config.json'),
    httpExtras: {},
    afterWrite: 'Quit and reopen Claude Desktop to use it.',
  },
  cursor: {
    title: 'Cursor',
    speaks: 'http',
    member: 'mcpServers',
    configFile: io => join(io.home, '.cursor', 'mcp.json'),
    httpExtras: {},
    afterWrite: 'Cursor picks it up by itself; see Settings, MCP.',
    signIn: 'In Cursor, open Settings, MCP and press Connect beside it.',
  },
  vscode: {
    title: 'VS Code',
    speaks: 'http',
    member: 'servers',
    configFile: io => join(appData(io), 'Code', 'User', 'mcp.json'),
    httpExtras: { type: 'http' },
    afterWrite: 'Start it in VS Code with the command MCP: List Servers.',
    signIn: 'VS Code asks whether you want to sign in when it starts it.',
  },
} as const satisfies Record<string, Host>;

export type HostName = keyof typeof HOSTS;

export function hostEntry(access: Access, extras: HostEntry = {}): HostEntry {
  if (access.kind === 'stdio') {
    const { command, args, env } = access;
    return { command, args, ...(Object.keys(env).length > 0 ? { env } : {}) };
  }
  const { url, key } = access;
  return { ...extras, url, ...(key === undefined ? {} : { headers: { Authorization: `Bearer ${key}` } }) };
}

/** Does whoever reads the entry get a key? */
export function holdsKey({ headers, env }: HostEntry): boolean {
  return headers !== undefined || (env !== undefined && Object.hasOwn(env as object, 'PATCHBAY_KEY'));
}

/** The command a host runs instead of an address. Without `env` it finds the platform of this machine by itself. */
export function stdioAccess(
  io: Io,
  agentId: string | undefined,
  env: Readonly<Record<string, string>> = {},
): Access {
  const args = [...io.self.args, 'stdio', ...(agentId === undefined ? [] : [agentId])];
  return { kind: 'stdio', command: io.self.command, args, env };
}

/** The name under which a host lists a door. */
export function entryName(agentId: string | undefined): string {
  return agentId === undefined ? 'patchbay' : `patchbay-${agentId}`;
}

/** Where desktop programs keep their settings. */
function appData(io: Io): string {
  if (io.osPlatform === 'darwin') return join(io.home, 'Library', 'Application Support');
  if (io.osPlatform === 'win32') return io.env.APPDATA || join(io.home, 'AppData', 'Roaming');
  return io.env.XDG_CONFIG_HOME || join(io.home, '.config');
}
