import { CliError, EXIT } from '../cli-error.ts';
import { parseJsonWithComments } from './json-with-comments.ts';

type Members = Readonly<Record<string, unknown>>;

/** What a host asks its person for before it starts a server (VS Code). */
export interface HostInput {
  readonly id: string;
  readonly description: string;
  readonly isSecret: boolean;
  readonly usual: string | undefined;
}

/** The servers of a host's file, as they are written there. */
export interface HostFile {
  readonly servers: Readonly<Record<string, Members>>;
  readonly inputs: readonly HostInput[];
}

const WHERE = 'mcpServers (Claude Desktop, Claude Code, Cursor, Antigravity) or servers (VS Code)';

/**
 * Reads the text of a host's file, whichever host it is: servers under `mcpServers`, `servers` or `mcp.servers`, or alone. Throws a `CliError`
 * that quotes nothing of it.
 */
export function readHostFile(text: string, name: string): HostFile {
  let value: unknown;
  try {
    // As READMEs show it, without the braces around.
    value = parseJsonWithComments(/^\s*"/.test(text) ? `{${text}}` : text);
  } catch (cause) {
    throw new CliError(EXIT.failed, `${name} ${(cause as Error).message}; mend it first.`);
  }
  if (!isObject(value)) throw new CliError(EXIT.failed, `${name} holds no JSON object with servers in it.`);
  const settings = isObject(value.mcp) ? value.mcp : value;
  const found = settings.mcpServers ?? settings.servers ?? (areServers(settings) ? settings : undefined);
  if (!isObject(found)) throw new CliError(EXIT.failed, `${name} has no servers under ${WHERE}.`);
  const servers = Object.entries(found).filter((entry): entry is [string, Members] => isObject(entry[1]));
  return { servers: Object.fromEntries(servers), inputs: inputsOf(settings.inputs) };
}

/** Some files are only the inside. */
function areServers(value: Members): boolean {
  const members = Object.values(value);
  return (
    members.length > 0 && members.every(member => isObject(member) && (reaches(member) || 'type' in member))
  );
}

function reaches(member: Members): boolean {
  return ['command', 'url', 'serverUrl', 'httpUrl'].some(name => typeof member[name] === 'string');
}

function inputsOf(value: unknown): HostInput[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isObject).flatMap(input => {
    if (typeof input.id !== 'string') return [];
    const { id, description, default: usual, password } = input;
    return [
      {
        id,
        description: typeof description === 'string' ? description : id,
        isSecret: password === true,
        usual: typeof usual === 'string' ? usual : undefined,
      },
    ];
  });
}

export function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
