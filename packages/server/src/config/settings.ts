// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${vault:key} are the product's own syntax
import { isAgentId } from '@patchbay/contract/ids';
import { parseRole } from '@patchbay/contract/roles';
import { z } from 'zod';
import { LOG_LEVELS } from '../kernel/logger.ts';
import { OPEN_PREFIX } from '../kernel/reference-environment.ts';
import { parseVaultKey, VAULT_KEY_RULE } from '../kernel/vault-key.ts';

/** Allowing everyone everything takes saying it (house rule 16). */
export const AUTH_OFF_SENTENCE = 'everyone-may-do-everything';

const MIB = 1024 * 1024;

/*
 * How a value is written: text in the environment, text or its JSON type in the file. Each says what it must be, which
 * reads well after "but it": the error message and the reference page use the same words.
 */

function whole(min: number, max: number) {
  const error = `must be a whole number from ${min} to ${max}`;
  const fromText = (value: unknown) =>
    typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  return z.preprocess(fromText, z.int({ error }).min(min, { error }).max(max, { error }));
}

function choice<const T extends readonly [string, ...string[]]>(values: T) {
  return z.enum(values, { error: `must be ${orList(values)}` });
}

function trueOrFalse() {
  const fromText = (value: unknown) => (value === 'true' ? true : value === 'false' ? false : value);
  return z.preprocess(fromText, z.boolean({ error: 'must be true or false' }));
}

function text(error: string, accepts: (value: string) => boolean) {
  return z.string({ error }).refine(accepts, { error });
}

function listOf(error: string, accepts: (item: string) => boolean) {
  const fromText = (value: unknown) =>
    typeof value === 'string' ? value.split(',').flatMap(item => item.trim().toLowerCase() || []) : value;
  return z.preprocess(
    fromText,
    z.array(z.string({ error }).toLowerCase().refine(accepts, { error }), { error }),
  );
}

/** Names that somebody else has given, as they are written. */
function names(error: string, accepts: (name: string) => boolean = () => true) {
  const fromText = (value: unknown) =>
    typeof value === 'string' ? value.split(/[\s,]+/).filter(Boolean) : value;
  const name = z
    .string({ error })
    .regex(/^[\x21-\x7e]{1,300}$/, { error })
    .refine(accepts, { error });
  return z.preprocess(fromText, z.array(name, { error }).max(50, { error }));
}

/** RFC 6749, appendix A.4, of a length that fits a header. */
function scopeNames(error: string) {
  return names(error, name => /^[\x21\x23-\x5b\x5d-\x7e]{1,100}$/.test(name)).refine(
    scopes => scopes.length > 0,
    { error },
  );
}

/** Names of variables of an environment, each whole or with `*` at its end. */
function variableNames(error: string) {
  const fromText = (value: unknown) =>
    typeof value === 'string' ? value.split(',').flatMap(item => item.trim() || []) : value;
  return z.preprocess(
    fromText,
    z.array(z.string({ error }).regex(/^[A-Z_][A-Z0-9_]{2,}\*?$/, { error }), { error }),
  );
}

function vaultKey() {
  return text(VAULT_KEY_RULE, value => parseVaultKey(value) !== undefined);
}

function orList(values: readonly string[]): string {
  return values.length < 2 ? values.join('') : `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`;
}

const HOST_NAME =
  /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,62}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,62}[a-z0-9_])?)*$/i;

function isHostToListenOn(value: string): boolean {
  return HOST_NAME.test(value) || URL.canParse(`http://[${value.replace(/^\[|\]$/g, '')}]`);
}

function isHostHeader(value: string): boolean {
  const [, host, port] = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(value) ?? [];
  if (host === undefined || Number(port ?? 1) > 65_535 || port === '0') return false;
  return host.startsWith('[') ? URL.canParse(`http://${host}`) : HOST_NAME.test(host);
}

function isPrivateHost(value: string): boolean {
  return value === '*' || HOST_NAME.test(value) || (value.includes(':') && URL.canParse(`http://[${value}]`));
}

function isWebOrigin(value: string): boolean {
  const url = URL.parse(value);
  return url !== null && /^https?:$/.test(url.protocol) && url.origin === value;
}

function isPublicUrl(value: string): boolean {
  const url = URL.parse(value);
  if (url === null || !/^https?:$/.test(url.protocol)) return false;
  return url.username === '' && url.password === '' && !/[?#\s\\]/.test(value);
}

function isDatabaseUrl(value: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(value) && URL.canParse(value);
}

/** A path of our own must not hide another one, nor the address of an agent (`/<agentId>/mcp`). */
function isDoorPath(value: string): boolean {
  if (!/^(?:\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*){1,8}$/.test(value)) return false;
  const [first = '', ...rest] = value.slice(1).split('/');
  if (first.toLowerCase() === 'mcp') return true;
  // What looks like an agent id and is none is reserved: another door, the pages, health.
  const plain = first.toLowerCase();
  const reserved = /^[a-z0-9][a-z0-9_-]{1,63}$/.test(plain) && !isAgentId(plain);
  return !reserved && !(rest.length === 1 && rest[0]?.toLowerCase() === 'mcp');
}

/**
 * Every setting, once: parsing, defaults, the names in environment and file, and the reference page are made from it.
 * A section is one level deep. Before adding one, ask who would change it.
 */
export const settingsSchema = z.object({
  host: text('must be an IP address or a host name, without scheme and port', isHostToListenOn)
    .transform(value => value.replace(/^\[|\]$/g, ''))
    .default('127.0.0.1')
    .meta({
      description:
        'Address the platform listens on. The default reaches this machine only; `0.0.0.0` or `::` is every network it is in.',
    }),
  port: whole(0, 65_535).default(7070).meta({
    description: 'Port for both doors and REST. 0 takes a free one.',
  }),
  publicUrl: text('must be an http or https URL without user name, query and fragment', isPublicUrl)
    .transform(value => {
      const url = new URL(value);
      return url.origin + url.pathname.replace(/\/+$/, '');
    })
    .optional()
    .meta({
      description:
        'Address under which people and MCP clients reach the platform, with the path prefix of a proxy if there is one. The only source of the outside address: forwarded headers are not trusted.',
      unset: '`http://<host>:<port>`',
    }),
  allowedHosts: listOf('must be host names, each with a port or without, separated by commas', isHostHeader)
    .default([])
    .meta({
      description:
        'Further values of the `Host` header that are answered, besides those of `host` and `publicUrl`. Everything else is refused, against DNS rebinding.',
    }),
  allowedOrigins: listOf('must be origins like https://app.example.com, separated by commas', isWebOrigin)
    .default([])
    .meta({ description: 'Web origins besides our own whose pages may call the platform from a browser.' }),
  dataDir: text('must be a folder', value => value !== '' && !value.includes('\0'))
    .default('~/.patchbay')
    .meta({
      description:
        'Folder of the embedded store and of what belongs to this machine. `~/` is the home folder; a relative path starts in the working directory. The command line finds the running platform through the same setting.',
    }),
  databaseUrl: text('must be a URL that starts with postgres:// or postgresql://', isDatabaseUrl)
    .optional()
    .meta({
      description: 'PostgreSQL server that holds all state, for more than one node.',
      unset: 'the embedded store in `dataDir`',
      secret: true,
    }),
  auth: choice(['on', 'off']).default('on').meta({
    description:
      'With `off`, everyone who reaches the operator door without a credential may do everything there. REST and the agent door still ask for one. Refused when others than this machine can reach the platform.',
  }),
  authOffOnNetwork: z
    .literal(AUTH_OFF_SENTENCE, { error: `must be exactly ${AUTH_OFF_SENTENCE}` })
    .optional()
    .meta({
      description: 'Lets `auth: off` start on a network too. Changes nothing while `auth` is `on`.',
      unset: 'a refused start',
    }),
  operatorDoor: z.object({
    path: text('must be a path like /mcp that no other page or agent has', isDoorPath)
      .default('/mcp')
      .meta({ description: 'Path of the operator door.' }),
  }),
  oidc: z.object({
    issuer: text('must be an http or https URL without user name, query and fragment', isPublicUrl)
      .optional()
      .meta({
        description:
          'OpenID realm whose tokens open the operator door, such as `https://sso.example.com/realms/main`; its people sign in there. Agents are still opened by tokens of this platform.',
        unset: 'the platform signs people in itself, for both doors',
      }),
    tokenIssuer: text('must be an http or https URL without user name, query and fragment', isPublicUrl)
      .optional()
      .meta({
        description:
          'What the realm calls itself in its tokens, and where clients are sent to. Changes nothing without `oidc.issuer`.',
        unset: '`oidc.issuer`',
      }),
    audience: names('must be audiences, separated by spaces or commas').default([]).meta({
      description:
        'What tokens of the realm must be for: one of these as their `aud`. When there is none, the address of the operator door.',
    }),
    rolesClaim: text('must be the name of a claim, or a path to it', value =>
      /^[\x21-\x7e]{1,200}$/.test(value),
    )
      .default('realm_access.roles')
      .meta({ description: 'Where a token of the realm lists the roles of its person.' }),
    clientId: text('must be the id of a client of the realm', value => /^[\x21-\x7e]{1,300}$/.test(value))
      .optional()
      .meta({
        description:
          'This platform as a client of the realm. With it people also sign in by the realm on the pages here, and so for agents; it may come back to `/sign-in/realm/callback` at `publicUrl`.',
        unset: 'people of the realm are known by their tokens only',
      }),
    clientSecret: text('must be the secret of that client', value => /^[\x20-\x7e]{1,1000}$/.test(value))
      .optional()
      .meta({ description: 'Secret of that client.', unset: 'a public client', secret: true }),
    roleNames: names(
      'must be pairs like staff=patchbay-user, separated by spaces or commas',
      pair => /^[^=]+=[^=]+$/.test(pair) && parseRole(pair.split('=')[1]!) !== undefined,
    )
      .default([])
      .meta({
        description:
          'What roles of the realm are called here, as `theirs=ours`. `patchbay-` and `eddi-` names need none.',
      }),
  }),
  resourceMetadata: z.object({
    scopes: scopeNames('must be scopes without quotes, separated by spaces or commas')
      .default(['openid'])
      .meta({
        description:
          'Scopes that clients of the operator door are told to ask for. With `offline_access` they ask for a refresh token; with `operator:read` in place of `openid`, to read only until they need more.',
      }),
    forceHttpsScheme: trueOrFalse().default(true).meta({
      description:
        'Clients that sign in are told addresses that begin with `https`, except for loopback hosts, whatever `publicUrl` says. `false` for an installation that is reached over plain http.',
    }),
  }),
  signIn: z.object({
    webLoginUrl: text('must be an http or https URL without user name, query and fragment', isPublicUrl)
      .transform(value => value.replace(/\/+$/, ''))
      .optional()
      .meta({
        description:
          'Address before `/mcp-login`, where people whom an MCP client has sent sign in and decide what it may. It has the origin of `publicUrl`: any other one is refused at the start.',
        unset: '`publicUrl`',
      }),
    clientDocuments: trueOrFalse().default(true).meta({
      description:
        'Lets MCP clients come whose id is the https address of a document that describes them. It is fetched from public addresses only.',
    }),
  }),
  agentDoor: z.object({
    rate: whole(0, 1_000_000).default(120).meta({
      description:
        'Calls each credential may make of each agent in a minute; 0 sets no limit. Several nodes tell each other what they let in each second, so a burst spread over them may have up to so many calls on each.',
    }),
  }),
  keys: z.object({
    operatorScope: choice(['allow', 'forbid']).default('allow').meta({
      description:
        'Whether keys may have the scope `operator`. With `forbid` none opens `/mcp` and REST, also of those that were made before, and none is made that would; people sign in instead. The command line of the machine needs no key.',
    }),
  }),
  vault: z.object({
    key: vaultKey().optional().meta({
      description:
        'Key that the secrets in the database are encrypted with. It is never in the database: who loses it loses the secrets. The same on every node.',
      unset:
        'with the embedded store a file `vault-key` in `dataDir`, made when the first secret is stored; with PostgreSQL no secret can be stored or used',
      secret: true,
    }),
    previousKey: vaultKey().optional().meta({
      description:
        'The key before `vault.key`. A start with both takes over what the previous one has encrypted; after it this setting can go.',
      unset: 'no key is taken over',
      secret: true,
    }),
    grantEnforcement: choice(['enforce', 'warn', 'off']).default('enforce').meta({
      description:
        'What the deployment of an agent makes of a secret that is for other agents only: a refusal, a warning, or nothing. Such a secret is never resolved, whatever this says.',
    }),
  }),
  setup: z.object({
    vaultKeyReuse: choice(['checksum', 'never']).default('checksum').meta({
      description:
        'What `setup_agent` does with a key that the vault has already, for all agents: `checksum` refers to that one, `never` stores it once more.',
    }),
  }),
  references: z.object({
    environment: variableNames(
      'must be names of variables in capital letters, of 3 characters or more, each whole or ending in *, separated by commas',
    )
      .default([])
      .meta({
        description: `Variables of the environment that configuration may refer to as \`\${NAME:default}\`, besides those whose names begin with \`${OPEN_PREFIX}\`. \`DATABASE_URL\` and other names that begin with \`PATCHBAY_\` are never read.`,
      }),
  }),
  docs: z.object({
    enabled: trueOrFalse()
      .default(true)
      .meta({ description: 'Serve the documentation as tools, resources and REST.' }),
    path: text('must be a folder', value => value !== '' && !value.includes('\0'))
      .optional()
      .meta({
        description: 'Folder with the pages (`*.md`) that are served.',
        unset: "Patchbay's own pages",
      }),
  }),
  turn: z.object({
    timeoutSeconds: whole(1, 3600).default(300).meta({
      description:
        'Seconds a turn may take before it is ended with an error. Waiting for a person does not count.',
    }),
  }),
  conversation: z.object({
    maxInputChars: whole(1, 10_000_000).default(200_000).meta({
      description: 'Characters one message may have. A longer one is refused before anything runs.',
    }),
    idleDays: whole(0, 36_500).default(90).meta({
      description:
        'Days after its last turn a conversation is ended; 0 ends none. One that waits for a person is never ended in this way.',
    }),
    keepEndedDays: whole(0, 36_500).default(365).meta({
      description:
        'Days after its last turn a conversation that has ended is deleted with its steps; 0 keeps all. Its audit trail stays.',
    }),
  }),
  deployment: z.object({
    env: text('must be a word, such as production', value => /^[\w.-]{1,64}$/.test(value))
      .default('development')
      .meta({
        description:
          'What kind of installation this is. Rules ask for it with `deploymentContext`; nothing else depends on it.',
      }),
  }),
  idempotency: z.object({
    hours: whole(1, 720).default(24).meta({
      description: 'Hours an idempotency key is remembered with its answer.',
    }),
  }),
  files: z.object({
    quotaMib: whole(1, 1_000_000).default(1_024).meta({
      description:
        'Mebibytes the uploaded files of one person may come to. One file has 20 MiB at the most; all are stored in the database.',
    }),
    keepDays: whole(0, 36_500).default(0).meta({
      description: 'Days an uploaded file is kept; 0 keeps it until its owner removes it.',
    }),
  }),
  callerIdentity: z.object({
    enabled: trueOrFalse().default(true).meta({
      description:
        'May agents call this platform as whoever talks to them (`${caller:token}`)? With `false` configuration that asks for it is refused.',
    }),
  }),
  mcp: z.object({
    hitlMutations: trueOrFalse().default(true).meta({
      description:
        'May approvals be decided and turns be cancelled over MCP? With `false` those tools answer DISABLED; reading goes on, as do REST and the command line.',
    }),
  }),
  tasks: z.object({
    keepDays: whole(1, 36_500).default(30).meta({
      description: 'Days a task that has ended can be read with its log.',
    }),
  }),
  session: z.object({
    days: whole(1, 90).default(7).meta({ description: 'Days the session of an MCP client stays valid.' }),
  }),
  http: z.object({
    maxBodyBytes: whole(1024, 64 * MIB)
      .default(4 * MIB)
      .meta({ description: 'Bytes the body of a request may have, on every door.' }),
  }),
  egress: z.object({
    privateHosts: listOf(
      'must be host names or addresses without port, separated by commas, or *',
      isPrivateHost,
    )
      .default([])
      .meta({
        description:
          'Hosts at private or loopback addresses that agents may call, where their configuration names the host; `*` is all of them. A host that comes out of data, and addresses of cloud metadata, are never allowed.',
      }),
  }),
  connections: z.object({
    callsPerMinute: whole(0, 1_000_000).default(100).meta({
      description:
        "Calls that an agent's rules may make of one tool of an MCP server in a minute, on one node; 0 sets no limit.",
    }),
    maxPrograms: whole(0, 10_000).default(100).meta({
      description:
        'Programs that may run at once as MCP servers on this node, with all that they start counted as one.',
    }),
    maxProgramMib: whole(16, 1_000_000).default(2_048).meta({
      description:
        'Mebibytes of memory that one program and all that it starts may use together; one that uses more is ended. Looked at on Linux only.',
    }),
  }),
  log: z.object({
    level: choice(LOG_LEVELS)
      .default('info')
      .meta({ description: 'The least important lines that are written.' }),
    format: choice(['auto', 'json', 'pretty']).default('auto').meta({
      description:
        'JSON lines, or short readable ones. `auto` is `pretty` on a terminal and `json` elsewhere.',
    }),
    keepDays: whole(1, 3650).default(30).meta({
      description:
        'Days that warnings and errors stay in the database, for `read_agent_logs`; never more than the latest 100 000 or so.',
    }),
  }),
});

export type Settings = z.infer<typeof settingsSchema>;

/** One row of the table above. */
export interface Setting {
  /** As in the file: `turn.timeoutSeconds`. */
  readonly key: string;
  /** As in the environment: `PATCHBAY_TURN_TIMEOUT_SECONDS`. */
  readonly variable: string;
  readonly description: string;
  /** `undefined` when not setting it has a meaning of its own, which `unset` tells. */
  readonly defaultValue: unknown;
  readonly unset: string | undefined;
  /** Its value is never shown. */
  readonly secret: boolean;
  /** What a value must be, as it follows "but it". */
  readonly rule: string;
}

/** Other names the environment may use: the seeds' spelling of the same setting. */
export const VARIABLE_ALIASES: ReadonlyMap<string, string> = new Map([
  ['MCP_PUBLIC_URL', 'publicUrl'],
  ['MCP_WEB_LOGIN_URL', 'signIn.webLoginUrl'],
]);

/** `PATCHBAY_` variables that are no settings of the platform, with what they are. */
export const OTHER_VARIABLES: ReadonlyMap<string, string> = new Map([
  [
    'PATCHBAY_CONFIG',
    'Configuration file to read instead of `patchbay.config.ts` or `patchbay.config.json` in the working directory.',
  ],
  [
    `${OPEN_PREFIX}*`,
    'Read by the configuration of agents, where it refers to them as `${PATCHBAY_REF_...:default}`.',
  ],
  ['PATCHBAY_URL', 'Read by the command line: the platform to talk to.'],
  ['PATCHBAY_KEY', 'Read by the command line: the key to use there.'],
]);

function variableOf(key: string): string {
  const words = key.replaceAll('.', '_').replace(/[A-Z]/g, letter => `_${letter}`);
  return `PATCHBAY_${words.toUpperCase()}`;
}

function row(key: string, schema: z.ZodType): Setting {
  const meta = schema.meta() ?? {};
  // No value is of this kind, so each schema says what it wants instead.
  const rule = schema.safeParse(Symbol(key)).error?.issues[0]?.message ?? '';
  return {
    key,
    variable: variableOf(key),
    description: meta.description ?? '',
    defaultValue: schema.safeParse(undefined).data,
    unset: typeof meta.unset === 'string' ? meta.unset : undefined,
    secret: meta.secret === true,
    rule,
  };
}

/** The table as rows, in its order. */
export const SETTINGS: readonly Setting[] = Object.entries(settingsSchema.shape).flatMap(([name, schema]) =>
  schema instanceof z.ZodObject
    ? Object.entries(schema.shape).map(([inner, leaf]) => row(`${name}.${inner}`, leaf as z.ZodType))
    : [row(name, schema)],
);

/** A default as people read it. */
export function defaultText(value: unknown): string {
  return Array.isArray(value) && value.length === 0 ? 'none' : String(value);
}
