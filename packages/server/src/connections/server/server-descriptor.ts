// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${NAME:default} are the product's own syntax
import { inspect } from 'node:util';
import type { z } from 'zod';
import { closestName } from '../../kernel/closest-name.ts';
import { PlatformError } from '../../kernel/errors.ts';
import type { ExpectedTool, RegisteredClient, ServerDefinition } from './definition.ts';
import { frozen } from './frozen.ts';
import { checkOAuthOptions, type OAuthOptions } from './oauth-options.ts';
import { shownName } from './option-values.ts';
import { checkAddress, checkText, type TextChecks } from './transport-texts.ts';

/** Where a plugin finds what an installation tells it. */
export interface PluginEnvironment {
  /** What the plugin's properties say, by key: `mcp.grafana.url`. */
  readonly properties: Readonly<Record<string, string>>;
  /** Variables of the environment, which properties refer to as `${NAME:default}`. */
  readonly variables: Readonly<Record<string, string | undefined>>;
}

/** OAuth 2.0 client credentials of a plugin (A-179). `scope` and `audience` may be left out. */
export interface McpOAuthClientCredentials {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope?: string;
  readonly audience?: string;
}

const DEFAULT_CONNECT_MS = 5_000;
const DEFAULT_CALL_MS = 60_000;
const MAX_MS = 3_600_000;
const ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
const OAUTH_NAMES = ['tokenUrl', 'clientId', 'clientSecret', 'scope', 'audience'] as const;
/** Behind `mcp.{id}.`, besides `headers.{Name}`. A program has no place among them (A-09). */
const KEYS: readonly string[] = [
  ...['url', 'external', 'timeout.connect-ms', 'timeout.call-ms', 'insecure-tls', 'elicitation'],
  ...OAUTH_NAMES.map(oauthKey),
];
/** Upper case, as variables are written: `${vault:name}` is another reference. */
const VARIABLE = /\$\{([A-Z_][A-Z0-9_]*)(?::([^}]*))?\}/g;

interface Parts {
  readonly id: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly external: boolean;
  readonly connectTimeoutMs: number;
  readonly callTimeoutMs: number;
  readonly insecureTls: boolean;
  readonly oauth: McpOAuthClientCredentials | undefined;
  /** `undefined` where nobody said. */
  readonly elicitation: boolean | undefined;
  readonly expected: readonly ExpectedTool[];
}

/**
 * How a plugin names an MCP server (A-30 to A-55): where it is, how to authenticate, how long to wait, and whether it belongs to the
 * platform's own infrastructure. Immutable: each method that changes something answers another descriptor. Neither values of headers
 * nor the client secret are in its text forms (A-55).
 */
export class McpServerDescriptor {
  readonly #parts: Parts;

  private constructor(parts: Parts) {
    this.#parts = parts;
    Object.freeze(this);
  }

  /** Begins with an alias, which holds within one tool (A-31), and the address of the server. */
  static builder(id: string, url: string): McpServerDescriptor {
    if (!ID.test(id)) throw wrong('The id of a server must have 1 to 64 letters, digits, "-" and "_".');
    if (url.trim() === '') throw wrong(`mcp.${id}.url is missing: give the address of the server.`);
    return new McpServerDescriptor({
      id,
      url: url.trim(),
      headers: {},
      external: true,
      connectTimeoutMs: DEFAULT_CONNECT_MS,
      callTimeoutMs: DEFAULT_CALL_MS,
      insecureTls: false,
      oauth: undefined,
      elicitation: undefined,
      expected: [],
    });
  }

  /**
   * Reads the keys `mcp.{id}.*` of a plugin's properties (A-33 to A-43). Throws a `PlatformError` of kind `invalid` that names the key
   * where the URL is missing or blank, a value is not what it must be, or there is no such key (A-45).
   */
  static fromEnvironment(id: string, environment: PluginEnvironment): McpServerDescriptor {
    const read = propertyReader(id, environment);
    const descriptor = McpServerDescriptor.builder(id, read.text('url') ?? '');
    refuseUnknownKeys(id, Object.keys(environment.properties));
    return new McpServerDescriptor({
      ...descriptor.#parts,
      headers: read.headers(),
      external: read.flag('external') ?? true,
      connectTimeoutMs: read.milliseconds('timeout.connect-ms') ?? DEFAULT_CONNECT_MS,
      callTimeoutMs: read.milliseconds('timeout.call-ms') ?? DEFAULT_CALL_MS,
      insecureTls: read.flag('insecure-tls') ?? false,
      oauth: read.oauth(),
      elicitation: read.flag('elicitation'),
    });
  }

  get id(): string {
    return this.#parts.id;
  }

  /** Outside the platform's own infrastructure, which holds unless it is said otherwise (A-54). */
  external(external: boolean): McpServerDescriptor {
    return this.#with({ external });
  }

  header(name: string, value: string): McpServerDescriptor {
    return this.headers({ [name]: value });
  }

  headers(headers: Readonly<Record<string, string>>): McpServerDescriptor {
    return this.#with({ headers: { ...this.#parts.headers, ...headers } });
  }

  connectTimeoutMs(connectTimeoutMs: number): McpServerDescriptor {
    return this.#with({ connectTimeoutMs: checkedMs('connectTimeoutMs', connectTimeoutMs) });
  }

  callTimeoutMs(callTimeoutMs: number): McpServerDescriptor {
    return this.#with({ callTimeoutMs: checkedMs('callTimeoutMs', callTimeoutMs) });
  }

  insecureTls(insecureTls: boolean): McpServerDescriptor {
    return this.#with({ insecureTls });
  }

  oauth(oauth: McpOAuthClientCredentials): McpServerDescriptor {
    return this.#with({ oauth: { ...oauth } });
  }

  elicitation(elicitation: boolean): McpServerDescriptor {
    return this.#with({ elicitation });
  }

  /** Names of tools that are expected on the server: without one of them it is degraded (A-46). */
  expectTools(...names: readonly string[]): McpServerDescriptor {
    return names.reduce<McpServerDescriptor>((descriptor, name) => descriptor.expectTool(name), this);
  }

  /** A tool that is expected, and what it is given, which is compared with its schema (A-48). */
  expectTool(name: string, given?: readonly string[] | z.ZodObject): McpServerDescriptor {
    const names = given === undefined || isList(given) ? given : Object.keys(given.shape);
    const others = this.#parts.expected.filter(tool => tool.name !== name);
    return this.#with({ expected: [...others, { name, arguments: names }] });
  }

  build(): McpServerDescriptor {
    return this;
  }

  /**
   * The definition it means. Throws a `PlatformError` of kind `invalid` for what asks for a feature that is not here, naming it, and for an
   * address that cannot be one.
   */
  toDefinition(context: { readonly scope: string; readonly texts: TextChecks }): ServerDefinition {
    return definitionOf(this.#parts, context);
  }

  toJSON(): Readonly<Record<string, unknown>> {
    const { url, headers, oauth, ...rest } = this.#parts;
    return {
      ...rest,
      url: url.replace(/[?#].*$/s, ''),
      headers: Object.keys(headers),
      oauth: oauth !== undefined,
    };
  }

  toString(): string {
    return `McpServerDescriptor ${JSON.stringify(this)}`;
  }

  [inspect.custom](): string {
    return this.toString();
  }

  #with(change: Partial<Parts>): McpServerDescriptor {
    return new McpServerDescriptor({ ...this.#parts, ...change });
  }
}

function definitionOf(
  parts: Parts,
  { scope, texts }: { readonly scope: string; readonly texts: TextChecks },
): ServerDefinition {
  const problems: string[] = [];
  const say = (option: string, problem: string) => problems.push(`mcp.${parts.id}.${option} ${problem}.`);
  if (parts.external) {
    say(
      'external',
      'is true, as it is unless it is set: data for such a server has to be checked for leaks, which is not done here; set it to false for a server of your own',
    );
  }
  const oauth = parts.oauth && oauthOptionsOf(parts.oauth);
  if (oauth) checkOAuthOptions(oauth, oauthKey, texts, say);
  if (parts.elicitation === true)
    say('elicitation', 'lets the server ask people, which is not done here; leave it out');
  checkAddress(parts.url, 'url', texts, say);
  for (const [name, value] of Object.entries(parts.headers)) {
    checkText(value, `headers.${name}`, 'hidden', texts, say);
  }
  if (problems.length > 0) throw wrong(problems.join(' '), { problems });
  return frozen({
    ref: { scope, name: parts.id },
    transport: {
      kind: 'http',
      url: parts.url,
      headers: { ...parts.headers },
      hostFrom: 'operator',
      insecureTls: parts.insecureTls,
    },
    auth: oauth ? { kind: 'clientCredentials', oauth } : { kind: 'none' },
    connectTimeoutMs: parts.connectTimeoutMs,
    callTimeoutMs: parts.callTimeoutMs,
    only: undefined,
    except: [],
    prefix: '',
    maxResultBytes: undefined,
    gated: 'none',
    trusted: false,
    descriptions: 'governed',
    cost: undefined,
    expect: parts.expected.map(tool => ({ ...tool })),
    exposeResources: false,
    changedTools: 'report',
  });
}

/** As properties spell it: `oauth.token-url`. */
function oauthKey(name: keyof OAuthOptions): string {
  return `oauth.${name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`;
}

function oauthOptionsOf({
  tokenUrl,
  clientId,
  clientSecret,
  scope,
  audience,
}: McpOAuthClientCredentials): RegisteredClient {
  return { tokenUrl, clientId, clientSecret, scope, audience, issuer: undefined, sendResource: undefined };
}

function propertyReader(id: string, { properties, variables }: PluginEnvironment) {
  const prefix = `mcp.${id}.`;
  /** The value with its variables in place; blank is none. What a variable holds is no reference, whatever it looks like. */
  const text = (name: string): string | undefined => {
    const filled = properties[`${prefix}${name}`]?.replace(
      VARIABLE,
      (_, variable: string, fallback?: string) =>
        (variables[variable] ?? fallback ?? '').replaceAll('${', () => '$${'),
    );
    return filled?.trim() || undefined;
  };
  const flag = (name: string): boolean | undefined => {
    const value = text(name)?.toLowerCase();
    if (value === undefined) return undefined;
    if (value === 'true' || value === 'false') return value === 'true';
    throw wrong(`${prefix}${name} must be true or false.`);
  };
  const milliseconds = (name: string): number | undefined => {
    const value = text(name);
    return value === undefined
      ? undefined
      : checkedMs(`${prefix}${name}`, /^\d+$/.test(value) ? Number(value) : Number.NaN);
  };
  const headers = (): Record<string, string> => {
    const names = Object.keys(properties).filter(key => key.startsWith(`${prefix}headers.`));
    return Object.fromEntries(
      names.flatMap(key => {
        const value = text(key.slice(prefix.length));
        return value === undefined ? [] : [[key.slice(`${prefix}headers.`.length), value]];
      }),
    );
  };
  const oauth = (): McpOAuthClientCredentials | undefined => {
    if (!Object.keys(properties).some(key => key.startsWith(`${prefix}oauth.`))) return undefined;
    const needed = (name: string) => {
      const value = text(`oauth.${name}`);
      if (value === undefined) throw wrong(`${prefix}oauth.${name} is missing.`);
      return value;
    };
    const [scope, audience] = [text('oauth.scope'), text('oauth.audience')];
    return {
      tokenUrl: needed('token-url'),
      clientId: needed('client-id'),
      clientSecret: needed('client-secret'),
      ...(scope !== undefined && { scope }),
      ...(audience !== undefined && { audience }),
    };
  };
  return { text, flag, milliseconds, headers, oauth };
}

function refuseUnknownKeys(id: string, keys: readonly string[]): void {
  const prefix = `mcp.${id}.`;
  const unknown = keys
    .flatMap(key => (key.startsWith(prefix) ? [key.slice(prefix.length)] : []))
    .find(key => !KEYS.includes(key) && !/^headers\../.test(key));
  if (unknown === undefined) return;
  const near = closestName(unknown, KEYS);
  const remedy = near === undefined ? `there are ${KEYS.join(', ')}, headers.{Name}` : `did you mean ${near}`;
  throw wrong(`${shownName(`${prefix}${unknown}`)} is no key; ${remedy}.`);
}

function checkedMs(name: string, value: number): number {
  if (Number.isInteger(value) && value >= 1 && value <= MAX_MS) return value;
  throw wrong(`${name} must be a whole number of milliseconds from 1 to ${MAX_MS}.`);
}

function isList(given: readonly string[] | z.ZodObject): given is readonly string[] {
  return Array.isArray(given);
}

function wrong(message: string, details?: Record<string, unknown>): PlatformError {
  return new PlatformError('invalid', message, details && { details });
}
