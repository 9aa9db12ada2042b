import { isObject } from './host-file.ts';

type Members = Readonly<Record<string, unknown>>;

/** A server of a host's file in the words of `add_server`, not yet filled in. */
export interface ServerEntry {
  readonly command: string | undefined;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
  readonly url: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** The tools to offer, and to leave out, by the server's own names. */
  readonly only: readonly string[] | undefined;
  readonly except: readonly string[];
  /** The host does not start it. */
  readonly isDisabled: boolean;
  /** Members that mean nothing here. */
  readonly ignored: readonly string[];
}

const KNOWN = new Set([
  ...[
    'type',
    'transport',
    'command',
    'args',
    'env',
    'cwd',
    'url',
    'serverUrl',
    'httpUrl',
    'headers',
    'disabled',
  ],
  ...['includeTools', 'excludeTools', 'disabledTools', 'enabled'],
]);

/** Answers a sentence instead where the entry cannot be read. */
export function readEntry(entry: Members): ServerEntry | string {
  const url = entry.url ?? entry.serverUrl ?? entry.httpUrl;
  const { command, cwd } = entry;
  if (command !== undefined && typeof command !== 'string') return 'its command is no text';
  if (url !== undefined && typeof url !== 'string') return 'its url is no text';
  if (command === undefined && url === undefined) return 'it has neither a command nor a url';
  if (command !== undefined && url !== undefined) return 'it has a command and a url';
  if (entry.envFile !== undefined) return 'its envFile is not read; write the variables into env';
  if (cwd !== undefined && typeof cwd !== 'string') return 'its cwd is no text';
  const args = listOfTexts(entry.args);
  if (args === undefined) return 'its args are no list of texts';
  const [env, headers] = [texts(entry.env), texts(entry.headers)];
  if (env === undefined) return 'its env holds more than texts';
  if (headers === undefined) return 'its headers hold more than texts';
  const only = listOfTexts(entry.includeTools) ?? [];
  return {
    ...{ command, args, env, cwd, url, headers },
    only: only.length === 0 ? undefined : only,
    except: [...(listOfTexts(entry.excludeTools) ?? []), ...(listOfTexts(entry.disabledTools) ?? [])],
    isDisabled: entry.disabled === true || entry.enabled === false,
    ignored: Object.keys(entry).filter(name => !KNOWN.has(name)),
  };
}

function listOfTexts(value: unknown): string[] | undefined {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) return undefined;
  return value.every(item => ['string', 'number', 'boolean'].includes(typeof item))
    ? value.map(String)
    : undefined;
}

function texts(value: unknown): Record<string, string> | undefined {
  if (value === undefined || value === null) return {};
  if (!isObject(value)) return undefined;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  if (!members.every(([, member]) => ['string', 'number', 'boolean'].includes(typeof member)))
    return undefined;
  return Object.fromEntries(members.map(([name, member]) => [name, String(member)]));
}

/** A name that a server may have here, near the one it has there. */
export function nameFor(name: string): string {
  const plain = name
    .replace(/[^A-Za-z0-9_-]+/g, '-')
    .replace(/_{2,}/g, '_')
    .replace(/^[-_]+|[-_]+$/g, '')
    .slice(0, 40)
    .replace(/_+$/, '');
  return plain === '' ? 'server' : plain;
}
