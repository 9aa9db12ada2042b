// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${vault:key} are the product's own syntax
import { createHash } from 'node:crypto';
import { isSecretName, redactSecrets } from '../../kernel/redact.ts';
import type { HttpTransport, ServerAuth, ServerDefinition, ServerRef, StdioTransport } from './definition.ts';
import { frozen } from './frozen.ts';
import { isLongWord, looksRandom } from './server-address.ts';
import type { TextChecks } from './transport-texts.ts';

/** Shorter ones are no credentials, and could not be taken out of a text without spoiling it. */
const MIN_CREDENTIAL = 4;
const MAX_KEY = 36;
/** Headers that say what a client wants, not who it is. */
const HARMLESS_HEADERS = new Set(['accept-language', 'user-agent', 'x-mcp-toolsets', 'x-mcp-readonly']);

export interface MovedCredentials {
  /** With references in the place of the credentials. */
  readonly definition: ServerDefinition;
  /** What belongs into the vault, by name. */
  readonly secrets: ReadonlyMap<string, string>;
  /** Options with what looks like a credential where every program of the machine can read it. */
  readonly exposed: readonly string[];
}

/** How the names of a server's own secrets begin. */
export function secretPrefix({ scope, name }: ServerRef): string {
  return `servers.${scope}.${name}.`;
}

/** For whom secrets of a registered server are opened; no agent is called so. */
export function openerOf({ scope, name }: ServerRef): string {
  return `servers/${scope}/${name}`;
}

/**
 * Takes the credentials that stand in a definition out of it, so that it can be stored: values of headers, the secret of a client, variables that are in `vaulted` or
 * are named or look like a secret, and of an address the same in its query and its path. What refers to something already stays.
 */
export function moveCredentials(
  definition: ServerDefinition,
  texts: TextChecks,
  vaulted: ReadonlySet<string>,
): MovedCredentials {
  const secrets = new Map<string, string>();
  const move: Move = {
    isLiteral: value =>
      value.length >= MIN_CREDENTIAL &&
      texts.compile(value).references.every(({ kind }) => kind === 'literal'),
    take(key, value) {
      const name = secretPrefix(definition.ref) + keyFor(key, secrets.size);
      // In a text of the configuration a dollar is doubled to mean itself; in the vault it is itself.
      secrets.set(name, value.replaceAll('$${', '${'));
      return `\${vault:${name}}`;
    },
  };
  const { transport } = definition;
  const auth = withoutClientSecret(definition.auth, move);
  const moved =
    transport.kind === 'http' ? withoutHttp(transport, move) : withoutStdio(transport, move, vaulted);
  const exposed = transport.kind === 'stdio' ? exposedArguments(transport.args, move) : [];
  return { definition: frozen({ ...definition, transport: moved, auth }), secrets, exposed };
}

interface Move {
  /** Long enough to be a credential, and refers to nothing. */
  isLiteral(value: string): boolean;
  /** Answers the reference to write instead. */
  take(key: string, value: string): string;
}

function withoutHttp(transport: HttpTransport, { isLiteral, take }: Move): HttpTransport {
  const headers = mapMembers(transport.headers, (name, value) =>
    isLiteral(value) && !HARMLESS_HEADERS.has(name.toLowerCase()) ? take(name, value) : value,
  );
  return { ...transport, url: withoutInAddress(transport.url, { isLiteral, take }), headers };
}

function withoutClientSecret(auth: ServerAuth, { isLiteral, take }: Move): ServerAuth {
  const taken = (secret: string) => take('oauth.clientSecret', secret);
  if (auth.kind === 'clientCredentials' && isLiteral(auth.oauth.clientSecret))
    return { ...auth, oauth: { ...auth.oauth, clientSecret: taken(auth.oauth.clientSecret) } };
  if (auth.kind === 'principal' && auth.signIn?.clientSecret && isLiteral(auth.signIn.clientSecret))
    return { ...auth, signIn: { ...auth.signIn, clientSecret: taken(auth.signIn.clientSecret) } };
  return auth;
}

function withoutStdio(
  transport: StdioTransport,
  { isLiteral, take }: Move,
  vaulted: ReadonlySet<string>,
): StdioTransport {
  const env = mapMembers(transport.env, (name, value) =>
    isLiteral(value) && (vaulted.has(name) || isSecretName(name) || looksSecret(value))
      ? take(name, value)
      : value,
  );
  return { ...transport, env };
}

function withoutInAddress(address: string, { isLiteral, take }: Move): string {
  const [, base = '', query = '', fragment = ''] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(address) ?? [];
  const path = base.replace(/(?<=[^/]\/)[^/]+/g, segment =>
    isLiteral(segment) && isLongWord(segment) ? take('url', segment) : segment,
  );
  const members = query.replace(
    /([?&])([^=&]+)=([^&]*)/g,
    (whole, mark: string, name: string, value: string) =>
      isLiteral(value) && (isSecretName(name) || looksRandom(value))
        ? `${mark}${name}=${take(`url-${name}`, value)}`
        : whole,
  );
  return path + members + fragment;
}

/** `--token x`, `--token=x`, and what has the shape of a secret. */
function exposedArguments(args: readonly string[], { isLiteral }: Move): string[] {
  return args.flatMap((arg, index) => {
    const [, own, value = arg] = /^--?([\w-]+)=(.*)$/s.exec(arg) ?? [];
    const flag = own ?? /^--?([\w-]+)$/.exec(args[index - 1] ?? '')?.[1];
    const isSecret = flag !== undefined && namesSecret(flag) && !/^(?:-|[.~]*\/)/.test(value);
    return isLiteral(value) && (isSecret || redactSecrets(value) !== value) ? [`args[${index}]`] : [];
  });
}

/** `--token-file` says where a secret is. */
function namesSecret(flag: string): boolean {
  return isSecretName(flag) && !/[-_](?:file|path|dir|url|env)$/i.test(flag);
}

function looksSecret(value: string): boolean {
  return redactSecrets(value) !== value || looksRandom(value);
}

function mapMembers(
  members: Readonly<Record<string, string>>,
  change: (name: string, value: string) => string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, change(name, value)]));
}

/** A name the vault takes; what has to be cut or changed for that gets a tail that tells it from others. */
function keyFor(key: string, index: number): string {
  const plain = key.replace(/[^A-Za-z0-9._-]/g, '-');
  if (plain === key && plain.length <= MAX_KEY && !plain.startsWith('url')) return plain;
  const tail = createHash('sha256').update(`${index} ${key}`).digest('hex').slice(0, 8);
  return `${plain.slice(0, MAX_KEY - tail.length - 1)}-${tail}`;
}
