import { fileURLToPath } from 'node:url';
import { closestName } from '../kernel/closest-name.ts';
import { sha256OfJson } from '../kernel/digest.ts';
import { PlatformError } from '../kernel/errors.ts';
import { isLoopbackHost } from '../kernel/network-address.ts';
import { redactText } from '../kernel/redact.ts';
import type { AgentSection } from './agent-sections.ts';
import { type Config, toConfig } from './config.ts';
import type { ConfigScript } from './config-script.ts';
import { type RawValue, readEnv } from './env.ts';
import { readConfigFile } from './file.ts';
import { type Secrets, secretsOf } from './secrets.ts';
import type { ServerSections } from './server-sections.ts';
import {
  AUTH_OFF_SENTENCE,
  defaultText,
  SETTINGS,
  type Setting,
  type Settings,
  settingsSchema,
} from './settings.ts';

export interface ConfigSources {
  /** The environment as a plain record: `process.env`, passed in by the entry. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly home: string;
  /** Patchbay's own pages; the ones of this checkout unless given. */
  readonly docsDir?: string;
  /** What the configuration file exports, where it is a program: see `importConfigScript`. */
  readonly script?: ConfigScript | undefined;
}

const OWN_DOCS = fileURLToPath(new URL('../../../../docs', import.meta.url));

export interface LoadedConfig {
  readonly config: Config;
  readonly secrets: Secrets;
  /** The MCP servers of the file. */
  readonly servers: ServerSections;
  /** The agents of the file. */
  readonly agents: readonly AgentSection[];
  /** A digest of each setting of the file, by key, to tell whether it has changed. */
  readonly fileSettings: ReadonlyMap<string, string>;
  /** Sentences for the log, once there is one. */
  readonly warnings: readonly string[];
}

/**
 * Reads environment over file over defaults. What is unknown gives a warning and changes nothing (E-02). Throws a
 * `PlatformError` with one sentence a problem when a value or a combination is wrong: the platform does not start then.
 */
export function loadConfig(sources: ConfigSources): LoadedConfig {
  const env = readEnv(sources.env);
  const file = readConfigFile(sources.cwd, env.configFile, sources.script);
  const settings = parseSettings(new Map([...file.values, ...env.values]));
  refuseCombinations(settings);
  const warnings = [
    ...env.unrecognized.map(name => unrecognized(name, ({ variable }) => variable)),
    ...file.unrecognized.map(name => unrecognized(name, ({ key }) => key)),
    ...warningsAbout(settings),
  ];
  return {
    config: toConfig(settings, { ...sources, docsDir: sources.docsDir ?? OWN_DOCS }),
    secrets: secretsOf(settings, sources.env),
    servers: file.servers,
    agents: file.agents,
    fileSettings: new Map([...file.values].map(([key, { value }]) => [key, sha256OfJson(value)])),
    warnings,
  };
}

function parseSettings(raw: ReadonlyMap<string, RawValue>): Settings {
  const nested: Record<string, Record<string, unknown> | unknown> = {};
  for (const { key } of SETTINGS) {
    const [section, name] = key.split('.') as [string, string?];
    const value = raw.get(key)?.value;
    if (name === undefined) nested[section] = value;
    else nested[section] = { ...(nested[section] as object | undefined), [name]: value };
  }
  const parsed = settingsSchema.safeParse(nested);
  if (parsed.success) return parsed.data;
  const sentences = new Map<string, string>();
  for (const { path: place, message } of parsed.error.issues) {
    const whole = place.join('.');
    const setting = SETTINGS.find(({ key }) => whole === key || whole.startsWith(`${key}.`))!;
    if (!sentences.has(setting.key))
      sentences.set(setting.key, wrongValue(setting, raw.get(setting.key)!, message));
  }
  throw refusal([...sentences.values()]);
}

function wrongValue(setting: Setting, { name, value }: RawValue, rule: string): string {
  const is = setting.secret ? '' : ` is ${shownValue(value)} but`;
  const instead = setting.unset?.replaceAll('`', '') ?? `the default, ${defaultText(setting.defaultValue)}`;
  return `${name}${is} ${rule}; correct it, or leave it out for ${instead}.`;
}

function shownValue(value: unknown): string {
  const text =
    typeof value === 'string' ? JSON.stringify(redactText(value)) : redactText(JSON.stringify(value) ?? '');
  return text.length > 100 ? `${text.slice(0, 100)}...` : text;
}

function refusal(problems: readonly string[]): PlatformError {
  return new PlatformError('invalid', problems.join('\n'), { details: { problems } });
}

/** Hosts by which others than this machine reach the platform. */
function networkHosts(settings: Settings): string[] {
  const hosts = [settings.host, ...settings.allowedHosts.map(host => new URL(`http://${host}`).hostname)];
  if (settings.publicUrl !== undefined) hosts.push(new URL(settings.publicUrl).hostname);
  return hosts.filter(host => !isLoopbackHost(host));
}

function refuseCombinations(settings: Settings): void {
  const problems: string[] = [];
  const [networkHost] = networkHosts(settings);
  if (settings.auth === 'off' && networkHost !== undefined && settings.authOffOnNetwork === undefined) {
    problems.push(
      `Authentication is off and others can reach the platform at ${networkHost}, so it does not start; ` +
        'set PATCHBAY_AUTH=on, or keep PATCHBAY_HOST, PATCHBAY_PUBLIC_URL and PATCHBAY_ALLOWED_HOSTS to this machine, ' +
        `or say PATCHBAY_AUTH_OFF_ON_NETWORK=${AUTH_OFF_SENTENCE}.`,
    );
  }
  const { webLoginUrl } = settings.signIn;
  if (
    webLoginUrl !== undefined &&
    new URL(webLoginUrl).origin !== URL.parse(settings.publicUrl ?? '')?.origin
  ) {
    problems.push(
      `MCP_WEB_LOGIN_URL is ${webLoginUrl}, which is not at the public address: people would sign in for clients where this platform knows nobody. ` +
        'Leave it out to use the page of the platform, or set PATCHBAY_PUBLIC_URL to the same origin.',
    );
  }
  problems.push(...problemsOfRealm(settings));
  const { maxInputChars } = settings.conversation;
  const { maxBodyBytes } = settings.http;
  if (maxInputChars > maxBodyBytes) {
    problems.push(
      `A message of ${maxInputChars} characters (PATCHBAY_CONVERSATION_MAX_INPUT_CHARS) never fits a body of ` +
        `${maxBodyBytes} bytes (PATCHBAY_HTTP_MAX_BODY_BYTES); lower the first or raise the second.`,
    );
  }
  if (problems.length > 0) throw refusal(problems);
}

function problemsOfRealm({ oidc }: Settings): string[] {
  const problems: string[] = [];
  for (const [variable, url] of [
    ['PATCHBAY_OIDC_ISSUER', oidc.issuer],
    ['PATCHBAY_OIDC_TOKEN_ISSUER', oidc.tokenIssuer],
  ] as const) {
    if (url?.startsWith('http:') && !isLoopbackHost(new URL(url).hostname))
      problems.push(
        `${variable} is ${url}: whoever is on the way there could make keys of their own and come in as anybody; use an https address.`,
      );
  }
  return problems;
}

function warningsAbout(settings: Settings): string[] {
  const warnings: string[] = [];
  const network = networkHosts(settings);
  if (settings.auth === 'off') {
    const who = network.length > 0 ? `everyone who reaches ${network[0]}` : 'every program on this machine';
    warnings.push(
      `AUTHENTICATION IS OFF: ${who} may do everything, as an administrator. Agents still ask for a key. ` +
        'Set PATCHBAY_AUTH=on for anything but a try-out.',
    );
  }
  if (settings.publicUrl?.startsWith('http:') && !isLoopbackHost(new URL(settings.publicUrl).hostname)) {
    warnings.push(
      `PATCHBAY_PUBLIC_URL is ${settings.publicUrl}: keys and conversations travel unencrypted. Use an https address.`,
    );
  }
  if (
    settings.publicUrl?.startsWith('http:') &&
    settings.resourceMetadata.forceHttpsScheme &&
    !isLoopbackHost(new URL(settings.publicUrl).hostname)
  ) {
    warnings.push(
      `MCP clients that sign in are told ${settings.publicUrl.replace('http:', 'https:')}. ` +
        'Set PATCHBAY_RESOURCE_METADATA_FORCE_HTTPS_SCHEME=false if only http is served there.',
    );
  }
  if (
    !isLoopbackHost(settings.host) &&
    settings.publicUrl === undefined &&
    settings.allowedHosts.length === 0
  ) {
    warnings.push(
      `The platform listens on ${settings.host}, but answers only requests to this machine's own names. ` +
        'Set PATCHBAY_PUBLIC_URL to the address others use.',
    );
  }
  return warnings;
}

function unrecognized(name: string, spelling: (setting: Setting) => string): string {
  const near = closestName(name, SETTINGS.map(spelling));
  return `Unrecognized configuration key ${redactText(name)}: it changes nothing.${near ? ` Did you mean ${near}?` : ''}`;
}
