import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseRole, ROLES } from '@patchbay/contract/roles';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PlatformError } from '../kernel/errors.ts';
import { loadConfig } from './load-config.ts';
import { generateConfigReference, renderConfigReference } from './reference.ts';
import { SETTINGS } from './settings.ts';

/** Nobody's. */
const VAULT_KEY = 'WDbC0eNVHhYVQqnjfpZy5gr1EJmUo2s8/Lk7tRxXaIM=';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(path.join(tmpdir(), 'patchbay-config-'));
});
afterEach(() => rmSync(cwd, { recursive: true }));

const load = (env: Record<string, string | undefined> = {}) =>
  loadConfig({ env, cwd, home: path.join(cwd, 'home'), docsDir: path.join(cwd, 'docs') });

function write(content: unknown, name = 'patchbay.config.json') {
  writeFileSync(path.join(cwd, name), typeof content === 'string' ? content : JSON.stringify(content));
}

/** The sentences that stop the start. */
function problems(env: Record<string, string | undefined> = {}): string[] {
  try {
    load(env);
  } catch (error) {
    expect(error).toBeInstanceOf(PlatformError);
    return (error as PlatformError).message.split('\n');
  }
  return [];
}

describe('without any configuration', () => {
  it('the platform is complete, reaches this machine only and asks who you are (E-01)', () => {
    expect(load()).toEqual({
      config: {
        host: '127.0.0.1',
        port: 7070,
        publicUrl: undefined,
        allowedHosts: [],
        allowedOrigins: [],
        dataDir: path.join(cwd, 'home', '.patchbay'),
        database: { kind: 'sqlite' },
        auth: 'on',
        operatorDoor: { path: '/mcp' },
        agentDoor: { rate: 120 },
        signIn: { clientDocuments: true },
        keys: { operatorScope: 'allow' },
        callerIdentity: { enabled: true },
        vault: { grantEnforcement: 'enforce' },
        setup: { vaultKeyReuse: 'checksum' },
        references: { environment: [] },
        oidc: {
          issuer: undefined,
          tokenIssuer: undefined,
          audience: [],
          rolesClaim: 'realm_access.roles',
          clientId: undefined,
          roleNames: [],
        },
        resourceMetadata: { scopes: ['openid'], forceHttpsScheme: true },
        docs: { enabled: true, path: path.join(cwd, 'docs') },
        turn: { timeoutSeconds: 300 },
        conversation: { maxInputChars: 200_000, idleDays: 90, keepEndedDays: 365 },
        egress: { privateHosts: [] },
        connections: { callsPerMinute: 100, maxPrograms: 100, maxProgramMib: 2_048 },
        mcp: { hitlMutations: true },
        deployment: { env: 'development' },
        idempotency: { hours: 24 },
        files: { quotaMib: 1_024, keepDays: 0 },
        tasks: { keepDays: 30 },
        session: { days: 7 },
        http: { maxBodyBytes: 4 * 1024 * 1024 },
        log: { level: 'info', format: 'auto', keepDays: 30 },
      },
      secrets: {
        databaseUrl: undefined,
        vaultKey: undefined,
        previousVaultKey: undefined,
        oidcClientSecret: undefined,
        environment: new Map(),
      },
      servers: {},
      agents: [],
      fileSettings: new Map(),
      warnings: [],
    });
  });
});

describe('the MCP servers of a file', () => {
  it('stand beside the settings, by instance', () => {
    const a = { url: 'https://a.example/mcp' };
    write({ port: 1, servers: { a }, instances: { sales: { servers: { b: a } }, empty: {} } });
    const { servers, config, warnings } = load();
    expect(servers).toEqual({
      default: { servers: { a }, check: undefined, source: 'data' },
      sales: { servers: { b: a }, check: undefined, source: 'data' },
      empty: { servers: {}, check: undefined, source: 'data' },
    });
    expect(config.port).toBe(1);
    expect(warnings).toEqual([]);
  });
});

describe('the pages', () => {
  it('are those of this checkout unless said otherwise', () => {
    const { docs } = loadConfig({ env: {}, cwd, home: cwd }).config;
    expect(readFileSync(path.join(docs.path, 'configuration.md'), 'utf8')).toBe(renderConfigReference());
  });
});

describe('sources', () => {
  it('are environment over file over default, one setting at a time', () => {
    write({ port: 8001, log: { level: 'debug', format: 'json' }, 'turn.timeoutSeconds': 5 });
    const { config, warnings } = load({ PATCHBAY_PORT: '8002', PATCHBAY_LOG_LEVEL: ' warn ' });
    expect(config).toMatchObject({
      port: 8002,
      log: { level: 'warn', format: 'json' },
      turn: { timeoutSeconds: 5 },
      session: { days: 7 },
    });
    expect(warnings).toEqual([]);
  });

  it('read every setting under both of its names', () => {
    const values: Record<string, [text: string, json: unknown, expected: unknown]> = {
      host: ['localhost', 'localhost', 'localhost'],
      port: ['0', 0, 0],
      publicUrl: ['https://X.example/p/', 'https://X.example/p/', 'https://x.example/p'],
      allowedHosts: [
        'A.example, b.example:81,[::1]:82,',
        ['A.example', 'b.example:81', '[::1]:82'],
        ['a.example', 'b.example:81', '[::1]:82'],
      ],
      allowedOrigins: ['https://a.example', ['https://a.example'], ['https://a.example']],
      dataDir: ['~/elsewhere', '~/elsewhere', path.join(cwd, 'home', 'elsewhere')],
      databaseUrl: ['postgres://u@h/d', 'postgres://u@h/d', undefined],
      auth: ['on', 'on', 'on'],
      authOffOnNetwork: ['everyone-may-do-everything', 'everyone-may-do-everything', undefined],
      'operatorDoor.path': ['/operator', '/operator', '/operator'],
      'oidc.issuer': ['https://sso.example/r', 'https://sso.example/r', 'https://sso.example/r'],
      'oidc.tokenIssuer': ['https://t.example/', 'https://t.example/', 'https://t.example/'],
      'oidc.audience': ['urn:bay bay', ['urn:bay', 'bay'], ['urn:bay', 'bay']],
      'oidc.rolesClaim': ['roles', 'roles', 'roles'],
      'oidc.clientId': ['bay', 'bay', 'bay'],
      'oidc.clientSecret': ['s3cret', 's3cret', undefined],
      'oidc.roleNames': ['Staff=patchbay-user', ['Staff=patchbay-user'], ['Staff=patchbay-user']],
      'resourceMetadata.scopes': [
        'openid offline_access',
        ['openid', 'offline_access'],
        ['openid', 'offline_access'],
      ],
      'resourceMetadata.forceHttpsScheme': ['false', false, false],
      'signIn.webLoginUrl': ['https://x.example/p/', 'https://x.example/p/', 'https://x.example/p'],
      'signIn.clientDocuments': ['false', false, false],
      'agentDoor.rate': ['0', 0, 0],
      'keys.operatorScope': ['forbid', 'forbid', 'forbid'],
      'vault.key': [VAULT_KEY, VAULT_KEY, undefined],
      'vault.previousKey': [VAULT_KEY, VAULT_KEY, undefined],
      'vault.grantEnforcement': ['warn', 'warn', 'warn'],
      'setup.vaultKeyReuse': ['never', 'never', 'never'],
      'references.environment': ['CRM_URL, SHOP_*', ['CRM_URL', 'SHOP_*'], ['CRM_URL', 'SHOP_*']],
      'docs.enabled': ['false', false, false],
      'docs.path': ['pages', 'pages', path.join(cwd, 'pages')],
      'turn.timeoutSeconds': ['61', 61, 61],
      'conversation.maxInputChars': ['1000', 1000, 1000],
      'conversation.idleDays': ['30', 30, 30],
      'conversation.keepEndedDays': ['0', 0, 0],
      'deployment.env': ['production', 'production', 'production'],
      'idempotency.hours': ['1', 1, 1],
      'files.quotaMib': ['5', 5, 5],
      'files.keepDays': ['30', 30, 30],
      'callerIdentity.enabled': ['false', false, false],
      'mcp.hitlMutations': ['false', false, false],
      'tasks.keepDays': ['60', 60, 60],
      'session.days': ['1', 1, 1],
      'http.maxBodyBytes': ['1048576', 1_048_576, 1_048_576],
      'egress.privateHosts': [
        'crm.local, shop.local',
        ['crm.local', 'shop.local'],
        ['crm.local', 'shop.local'],
      ],
      'connections.callsPerMinute': ['7', 7, 7],
      'connections.maxPrograms': ['7', 7, 7],
      'connections.maxProgramMib': ['512', 512, 512],
      'log.level': ['error', 'error', 'error'],
      'log.format': ['pretty', 'pretty', 'pretty'],
      'log.keepDays': ['7', 7, 7],
    };
    expect(Object.keys(values)).toEqual(SETTINGS.map(({ key }) => key));
    /** Where one setting makes sense with another only. */
    const besides: Record<string, Record<string, string>> = {
      'signIn.webLoginUrl': { PATCHBAY_PUBLIC_URL: 'https://x.example' },
    };
    for (const { key, variable } of SETTINGS) {
      const [text, json, expected] = values[key]!;
      const beside = besides[key] ?? {};
      write({});
      const fromEnv = load({ ...beside, [variable]: text });
      write(json !== null ? { [key]: json } : {});
      const fromFile = load(beside);
      for (const { config, warnings } of [fromEnv, fromFile]) {
        const found = key
          .split('.')
          .reduce<unknown>((value, name) => (value as Record<string, unknown>)[name], config);
        expect(found, key).toEqual(expected);
        expect(warnings, key).toEqual([]);
      }
      expect(fromFile.secrets).toEqual(fromEnv.secrets);
    }
  });

  it("take the seed's MCP_WEB_LOGIN_URL at the public address, and refuse another origin (B-27, B-38)", () => {
    const at = (login: string, publicUrl?: string) =>
      load({
        MCP_WEB_LOGIN_URL: login,
        ...(publicUrl !== undefined && { PATCHBAY_PUBLIC_URL: publicUrl }),
      }).config.signIn.webLoginUrl;
    expect(at('https://bay.example/web/', 'https://bay.example')).toBe('https://bay.example/web');
    for (const [login, publicUrl] of [
      ['http://localhost:3000', 'http://localhost:8094'],
      ['https://evil.example', 'https://bay.example'],
      ['http://bay.example', 'https://bay.example'],
      ['https://bay.example', undefined],
    ] as const)
      expect(() => at(login, publicUrl)).toThrow(/^MCP_WEB_LOGIN_URL is http.* not at the public address/);
  });

  it("take the seed's MCP_PUBLIC_URL for the public address, ours winning", () => {
    expect(load({ MCP_PUBLIC_URL: 'http://localhost:8094' }).config.publicUrl).toBe('http://localhost:8094');
    const both = { PATCHBAY_PUBLIC_URL: 'https://ours.example', MCP_PUBLIC_URL: 'https://theirs.example' };
    expect(load(both).config.publicUrl).toBe('https://ours.example');
    expect(load(Object.fromEntries(Object.entries(both).reverse())).config.publicUrl).toBe(
      'https://ours.example',
    );
  });

  it('count an empty variable and a null as not set', () => {
    write({ port: null });
    expect(
      load({ PATCHBAY_HOST: '', PATCHBAY_PUBLIC_URL: '  ', PATCHBAY_PORT: undefined }).config,
    ).toMatchObject({
      host: '127.0.0.1',
      port: 7070,
      publicUrl: undefined,
    });
  });

  it('read the file that PATCHBAY_CONFIG names, and no other', () => {
    write({ port: 1 });
    write('\uFEFF{"port": 2}', 'other.json');
    expect(load({ PATCHBAY_CONFIG: 'other.json' }).config.port).toBe(2);
    expect(load({ PATCHBAY_CONFIG: path.join(cwd, 'other.json') }).config.port).toBe(2);
    expect(problems({ PATCHBAY_CONFIG: 'absent.json' })).toEqual([
      'The configuration file absent.json, named by PATCHBAY_CONFIG, cannot be read; make it readable or do not name it.',
    ]);
  });

  it('refuse a file that says two things or nothing readable', () => {
    const cases: [string, RegExp][] = [
      ['{"databaseUrl": "postgres://u:canary@h/d" "x"}', /cannot be read: it is not well-formed/],
      ['{"port": 1, "port": 2}', /it has the key "port" twice in one object; keep one/],
      ['{"log.level": "info", "log": {"level": "warn"}}', /sets log\.level twice; keep one/],
      ['{"__proto__": {"auth": "off"}}', /"__proto__"/],
      ['[]', /must hold one JSON object/],
      ['null', /must hold one JSON object/],
    ];
    for (const [content, expected] of cases) {
      write(content);
      const [sentence, ...more] = problems();
      expect(sentence).toMatch(expected);
      expect(sentence).toContain('patchbay.config.json');
      expect(sentence).not.toContain('canary');
      expect(more).toEqual([]);
    }
  });
});

describe('an unknown key', () => {
  it('gives a warning with the nearest known one and changes nothing (E-02)', () => {
    write({
      quarkus: { 'mcp-server': { http: { 'root-path': '/elsewhere' } } },
      operatordoor: { path: '/elsewhere' },
      turn: { timeoutSecond: 1 },
      log: 'debug',
    });
    const { config, warnings } = load({
      PATCHBAY_PROT: '1',
      PATCHBAY_SOMETHING: '1',
      PATCHBAY_MCP_PATH: '/x',
    });
    expect(warnings).toEqual([
      'Unrecognized configuration key PATCHBAY_PROT: it changes nothing. Did you mean PATCHBAY_PORT?',
      'Unrecognized configuration key PATCHBAY_SOMETHING: it changes nothing.',
      expect.stringMatching(/^Unrecognized configuration key PATCHBAY_MCP_PATH: it changes nothing\./),
      'Unrecognized configuration key quarkus.mcp-server.http.root-path: it changes nothing.',
      'Unrecognized configuration key operatordoor.path: it changes nothing. Did you mean operatorDoor.path?',
      'Unrecognized configuration key turn.timeoutSecond: it changes nothing. Did you mean turn.timeoutSeconds?',
      'Unrecognized configuration key log: it changes nothing.',
    ]);
    rmSync(path.join(cwd, 'patchbay.config.json'));
    expect(config).toEqual(load().config);
  });

  it("that is the command line's, another product's or a seed's is left alone", () => {
    const env = {
      PATCHBAY_URL: 'x',
      PATCHBAY_KEY: 'x',
      EDDI_DOCS_ENABLED: 'false',
      QUARKUS_HTTP_PORT: '1',
      PORT: '2',
      HOST: 'x',
    };
    expect(load(env)).toEqual(load());
  });
});

describe('the environment that configuration may read', () => {
  it("begins with PATCHBAY_REF_ or is allowed by name, and is never the platform's own", () => {
    const env = {
      PATCHBAY_REF_SHOP: 'a',
      CRM_URL: 'b',
      CRM_TOKEN: 'c',
      HOME: 'd',
      DATABASE_URL: 'postgres://x',
      PATCHBAY_VAULT_KEY: VAULT_KEY,
    };
    expect(load(env)).toMatchObject({
      warnings: [],
      secrets: { environment: new Map([['PATCHBAY_REF_SHOP', 'a']]) },
    });
    const allowed = load({
      ...env,
      PATCHBAY_REFERENCES_ENVIRONMENT: 'CRM_*,DATABASE_URL,PATCHBAY_VAULT_KEY,PATCH*',
    });
    expect([...allowed.secrets.environment.keys()]).toEqual(['PATCHBAY_REF_SHOP', 'CRM_URL', 'CRM_TOKEN']);
  });
});

describe('a wrong value', () => {
  it.each([
    [
      'PATCHBAY_PORT',
      'abc',
      'PATCHBAY_PORT is "abc" but must be a whole number from 0 to 65535; correct it, or leave it out for the default, 7070.',
    ],
    ['PATCHBAY_PORT', '65536', /must be a whole number/],
    ['PATCHBAY_PORT', '-1', /must be a whole number/],
    ['PATCHBAY_PORT', '70.5', /must be a whole number/],
    ['PATCHBAY_PORT', '0x50', /must be a whole number/],
    ['PATCHBAY_HOST', 'http://127.0.0.1', /must be an IP address or a host name/],
    ['PATCHBAY_HOST', '127.0.0.1:7070', /must be an IP address or a host name/],
    ['PATCHBAY_PUBLIC_URL', 'patchbay.example', /must be an http or https URL/],
    ['PATCHBAY_PUBLIC_URL', 'ftp://patchbay.example', /must be an http or https URL/],
    ['PATCHBAY_PUBLIC_URL', 'https://patchbay.example/?a=1', /must be an http or https URL/],
    ['PATCHBAY_PUBLIC_URL', 'https://patchbay.example/#a', /must be an http or https URL/],
    ['MCP_PUBLIC_URL', 'nonsense', /^MCP_PUBLIC_URL is "nonsense" but must be/],
    ['PATCHBAY_ALLOWED_HOSTS', 'a.example,https://b.example', /must be host names/],
    ['PATCHBAY_ALLOWED_HOSTS', '*', /must be host names/],
    ['PATCHBAY_ALLOWED_HOSTS', 'a.example:99999', /must be host names/],
    ['PATCHBAY_ALLOWED_HOSTS', '[::1', /must be host names/],
    ['PATCHBAY_ALLOWED_ORIGINS', 'https://a.example/path', /must be origins/],
    ['PATCHBAY_ALLOWED_ORIGINS', 'null', /must be origins/],
    ['PATCHBAY_ALLOWED_ORIGINS', '*', /must be origins/],
    [
      'PATCHBAY_DATABASE_URL',
      'mysql://u:p@h/d',
      /^PATCHBAY_DATABASE_URL must be a URL that starts with postgres/,
    ],
    [
      'PATCHBAY_AUTH',
      'false',
      'PATCHBAY_AUTH is "false" but must be on or off; correct it, or leave it out for the default, on.',
    ],
    ['PATCHBAY_AUTH_OFF_ON_NETWORK', 'true', /must be exactly everyone-may-do-everything/],
    ['PATCHBAY_AUTH_OFF_ON_NETWORK', 'Everyone-may-do-everything', /must be exactly/],
    ['PATCHBAY_DOCS_ENABLED', 'yes', /must be true or false/],
    ['PATCHBAY_OPERATOR_DOOR_PATH', 'mcp', /must be a path like \/mcp/],
    ['PATCHBAY_OPERATOR_DOOR_PATH', '/', /must be a path like \/mcp/],
    ['PATCHBAY_OPERATOR_DOOR_PATH', '/mcp/', /must be a path like \/mcp/],
    ['PATCHBAY_OPERATOR_DOOR_PATH', '/a/../mcp', /must be a path like \/mcp/],
    ['PATCHBAY_OPERATOR_DOOR_PATH', '/api/v1', /must be a path like \/mcp/],
    ['PATCHBAY_OPERATOR_DOOR_PATH', '/.well-known/x', /must be a path like \/mcp/],
    ['PATCHBAY_OPERATOR_DOOR_PATH', '/demo/mcp', /must be a path like \/mcp/],
    ['PATCHBAY_TURN_TIMEOUT_SECONDS', '0', /from 1 to 3600/],
    [
      'PATCHBAY_VAULT_KEY',
      'changeme',
      /must be 32 random bytes in base64 or hex, as `npx patchbay secrets new-key`/,
    ],
    ['PATCHBAY_VAULT_KEY', VAULT_KEY.slice(0, 40), /must be 32 random bytes/],
    ['PATCHBAY_VAULT_KEY', '0'.repeat(64), /must be 32 random bytes/],
    [
      'PATCHBAY_VAULT_KEY',
      Buffer.from('correct horse battery staple 123').toString('base64'),
      /must be 32 random/,
    ],
    [
      'PATCHBAY_VAULT_KEY',
      Buffer.from(Array.from({ length: 32 }, (_, at) => at)).toString('hex'),
      /must be 32/,
    ],
    ['PATCHBAY_VAULT_PREVIOUS_KEY', 'changeme', /must be 32 random bytes/],
    ['PATCHBAY_REFERENCES_ENVIRONMENT', '*', /must be names of variables in capital letters/],
    ['PATCHBAY_LOG_LEVEL', 'trace', /must be debug, info, warn or error/],
  ])('of %s stops the start: %s', (name, value, expected) => {
    const [sentence, ...more] = problems({ [name]: value });
    expect(sentence).toMatch(expected);
    expect(sentence!.startsWith(name)).toBe(true);
    expect(more).toEqual([]);
  });

  it('in the file is named by its place, and all wrong values are told at once', () => {
    write({ port: { number: 1 }, docs: { enabled: 'maybe' }, allowedHosts: ['ok.example', 7], host: '::1' });
    expect(problems({ PATCHBAY_LOG_LEVEL: 'loud' })).toEqual([
      expect.stringMatching(/^port in patchbay\.config\.json is \{"number":1\} but must be/),
      expect.stringMatching(
        /^allowedHosts in patchbay\.config\.json is \["ok\.example",7\] but must be .* default, none\.$/,
      ),
      expect.stringMatching(/^docs\.enabled in patchbay\.config\.json is "maybe" but must be true or false/),
      expect.stringMatching(/^PATCHBAY_LOG_LEVEL is "loud" but must be/),
    ]);
  });

  it('does not show what may be a secret', () => {
    for (const env of [
      { PATCHBAY_DATABASE_URL: 'mysql://patchbay:canary-pass@db/patchbay' },
      { PATCHBAY_PUBLIC_URL: 'https://user:canary-pass@patchbay.example' },
      { PATCHBAY_HOST: 'oag_canary-pass' + '/x' },
      { PATCHBAY_VAULT_KEY: 'canary-pass' },
    ]) {
      expect(problems(env).join()).toContain('must be');
      expect(problems(env).join()).not.toContain('canary-pass');
    }
  });

  it('is found in a combination too', () => {
    const env = { PATCHBAY_CONVERSATION_MAX_INPUT_CHARS: '5000000' };
    expect(problems(env)).toEqual([
      'A message of 5000000 characters (PATCHBAY_CONVERSATION_MAX_INPUT_CHARS) never fits a body of 4194304 bytes ' +
        '(PATCHBAY_HTTP_MAX_BODY_BYTES); lower the first or raise the second.',
    ]);
    expect(load({ ...env, PATCHBAY_HTTP_MAX_BODY_BYTES: '8000000' }).config.conversation.maxInputChars).toBe(
      5_000_000,
    );
  });
});

describe('authentication off', () => {
  const sentence = { PATCHBAY_AUTH_OFF_ON_NETWORK: 'everyone-may-do-everything' };

  it.each([
    { PATCHBAY_HOST: '0.0.0.0' },
    { PATCHBAY_HOST: '::' },
    { PATCHBAY_HOST: '192.168.1.5' },
    { PATCHBAY_HOST: 'patchbay.internal' },
    { PATCHBAY_PUBLIC_URL: 'https://patchbay.example' },
    { PATCHBAY_ALLOWED_HOSTS: 'localhost:7070,patchbay.example' },
  ])(
    'does not start where others can reach the platform, unless that is said in full: %o (E-50)',
    network => {
      const env = { PATCHBAY_AUTH: 'off', ...network };
      const [problem, ...more] = problems(env);
      expect(problem).toMatch(
        /^Authentication is off and others can reach the platform at .*, so it does not start; set PATCHBAY_AUTH=on/,
      );
      expect(problem).toContain('PATCHBAY_AUTH_OFF_ON_NETWORK=everyone-may-do-everything');
      expect(more).toEqual([]);
      const { config, warnings } = load({ ...env, ...sentence });
      expect(config.auth).toBe('off');
      expect(warnings[0]).toMatch(/^AUTHENTICATION IS OFF: everyone who reaches \S+ may do everything/);
    },
  );

  it.each(['127.0.0.1', '127.0.0.2', 'localhost', '::1', '[::1]'])(
    'starts on this machine, and says so loudly: %s',
    host => {
      const { config, warnings } = load({
        PATCHBAY_AUTH: 'off',
        PATCHBAY_HOST: host,
        PATCHBAY_PUBLIC_URL: 'http://localhost:7070',
      });
      expect(config.auth).toBe('off');
      expect(warnings).toEqual([
        expect.stringMatching(/^AUTHENTICATION IS OFF: every program on this machine may do everything/),
      ]);
    },
  );

  it('is not what the sentence does: with authentication on it changes nothing (E-51)', () => {
    for (const network of [
      {},
      { PATCHBAY_HOST: '0.0.0.0', PATCHBAY_PUBLIC_URL: 'https://patchbay.example' },
    ]) {
      expect(load({ ...network, ...sentence })).toEqual(load(network));
      expect(load({ ...network, ...sentence }).config.auth).toBe('on');
    }
  });
});

describe('a weak place', () => {
  it('is warned of: keys in the clear, an address nobody can use', () => {
    expect(load({ PATCHBAY_PUBLIC_URL: 'http://patchbay.example' }).warnings).toEqual([
      expect.stringMatching(/http:\/\/patchbay\.example: keys and conversations travel unencrypted/),
      expect.stringMatching(/told https:\/\/patchbay\.example\. Set PATCHBAY_RESOURCE_METADATA_FORCE_HTTPS/),
    ]);
    expect(load({ PATCHBAY_HOST: '0.0.0.0' }).warnings).toEqual([
      expect.stringMatching(/listens on 0\.0\.0\.0, but answers only requests .* Set PATCHBAY_PUBLIC_URL/),
    ]);
    expect(load({ PATCHBAY_PUBLIC_URL: 'http://localhost:8094' }).warnings).toEqual([]);
  });
});

describe('secrets', () => {
  it('are apart from the configuration', () => {
    const databaseUrl =
      'postgresql://patchbay:canary-pass@db.internal:5433/patchbay?password=canary-pass&sslmode=require';
    const { config, secrets, warnings } = load({ PATCHBAY_DATABASE_URL: databaseUrl });
    expect(secrets.databaseUrl).toBe(databaseUrl);
    expect(config.database).toEqual({
      kind: 'postgres',
      address: 'postgresql://patchbay@db.internal:5433/patchbay',
    });
    expect(JSON.stringify([config, warnings])).not.toContain('canary-pass');
  });
});

describe('the reference', () => {
  it('is what docs/configuration.md says', async () => {
    expect(await generateConfigReference({ check: true })).toMatchObject({ upToDate: true });
  });

  it('tells every setting with its variable, its rule and what holds without it', () => {
    const page = renderConfigReference();
    for (const { key, variable, description, rule } of SETTINGS) {
      const section = page.split(`\n## ${key}\n`)[1]?.split('\n## ')[0];
      expect(section, key).toContain(`\`${variable}\``);
      expect(section, key).toMatch(/- (Default|Not set): \S/);
      expect(description, key).toMatch(/^[A-Z].*\.$/);
      expect(rule, key).toMatch(/^must be /);
    }
    expect(page).not.toMatch(/undefined|null|\[object/);
  });

  it('and the page of seed names know each other', () => {
    const page = readFileSync(new URL('../../../../docs/seed-names.md', import.meta.url), 'utf8');
    const links = [...page.matchAll(/\[`([^`]+)`\]\(configuration\.md#([^)]+)\)/g)];
    expect(links.length).toBeGreaterThan(8);
    for (const [, key, anchor] of links) {
      expect(SETTINGS.map(setting => setting.key)).toContain(key);
      expect(anchor).toBe(key!.replaceAll('.', '').toLowerCase());
    }
    const roles = [...page.matchAll(/\| `(eddi-[a-z]+)` \| `([a-z-]+)` \|/g)];
    expect(roles.map(([, , ours]) => ours)).toEqual([...ROLES]);
    for (const [, seed, ours] of roles) expect(parseRole(seed!)).toBe(ours);
  });
});
