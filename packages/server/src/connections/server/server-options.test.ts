// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${vault:key} are the product's own syntax
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PlatformError } from '../../kernel/errors.ts';
import { compileText } from '../../secrets/reference-text.ts';
import { optionsOf } from './options-of.ts';
import { nameProblem, readServerOptions } from './server-options.ts';

const texts = { compile: (text: string) => compileText(text, name => name.startsWith('PATCHBAY_REF_')) };

function read(options: unknown, source: 'code' | 'data' = 'data', name = 'github') {
  return readServerOptions(options, { ref: { scope: 'default', name }, source, texts });
}

function refusalOf(options: unknown, source: 'code' | 'data' = 'data'): string {
  try {
    read(options, source);
  } catch (thrown) {
    if (thrown instanceof PlatformError && thrown.kind === 'invalid') return thrown.message;
    throw thrown;
  }
  throw new Error('it was taken');
}

const URL_ONLY = { url: 'https://mcp.example.com/mcp' };

describe('the options of a server', () => {
  it('are a command or an address, flat or under `transport`, in either spelling (W-03)', () => {
    const stdio = { command: 'npx', args: ['-y', 'a-server'], env: { TOKEN: 'x' } };
    const command = read(stdio).transport;
    expect(command).toEqual({ kind: 'stdio', ...stdio, cwd: undefined, isolation: 'shared' });
    expect(read({ transport: { stdio } }).transport).toEqual(command);
    expect(read({ type: 'stdio', ...stdio }).transport).toEqual(command);

    const http = { ...URL_ONLY, headers: { authorization: 'Bearer ${vault:linear}' } };
    const address = read(http).transport;
    expect(address).toEqual({ kind: 'http', ...http, hostFrom: 'operator', insecureTls: false });
    expect(read({ transport: { streamableHttp: http } }).transport).toEqual(address);
    expect(read({ transport: { streamable_http: http } }).transport).toEqual(address);
    expect(read({ type: 'http', ...http }).transport).toEqual(address);
  });

  it('keep the address exactly as it is written', () => {
    const url = 'https://MCP.example.com/v1/sse/?a=b%20c#d';
    expect(read({ url }).transport).toMatchObject({ url });
  });

  it.each([
    [{}, 'transport is required: give { "command"'],
    [{ transport: {} }, 'transport must have one member, stdio or streamableHttp.'],
    [
      { transport: { websocket: {} } },
      'transport.websocket is no kind of transport; use stdio or streamableHttp.',
    ],
    [{ transport: 'stdio' }, 'transport must be an object'],
    [
      { command: 'npx', url: 'https://x.example' },
      'command and url both say how the server is reached; keep one.',
    ],
    [{ transport: { stdio: { command: 'x' } }, args: [] }, 'transport and args both say'],
    [{ type: 'http', command: 'x' }, 'type must be "stdio" for a server with a command.'],
    [{ args: ['x'] }, 'transport is required'],
  ])('are refused without a transport that there is: %j (W-04)', (options, sentence) => {
    expect(refusalOf(options)).toContain(sentence);
  });

  it('have the defaults of the capability front-end (W-26) (W-28) (W-29)', () => {
    expect(read(URL_ONLY)).toEqual({
      ref: { scope: 'default', name: 'github' },
      transport: expect.anything(),
      auth: { kind: 'none' },
      connectTimeoutMs: 30_000,
      callTimeoutMs: 60_000,
      only: undefined,
      except: [],
      prefix: 'github',
      maxResultBytes: 131_072,
      gated: 'not-read-only',
      trusted: false,
      descriptions: 'verbatim',
      cost: undefined,
      expect: [],
      exposeResources: false,
      changedTools: 'report',
    });
  });

  it('are taken in camelCase and in snake_case', () => {
    const expected = read({ ...URL_ONLY, maxResultBytes: 5, connectTimeout: 7, changedTools: 'hold' });
    expect(read({ ...URL_ONLY, max_result_bytes: 5, connect_timeout: 7, changed_tools: 'hold' })).toEqual(
      expected,
    );
    expect(expected).toMatchObject({ maxResultBytes: 5, connectTimeoutMs: 7, changedTools: 'hold' });
    expect(refusalOf({ ...URL_ONLY, max_result_bytes: 5, maxResultBytes: 5 })).toContain(
      'max_result_bytes and maxResultBytes are the same option; keep one.',
    );
  });

  it('let all tools through with `gated: false`, and an empty prefix is none', () => {
    expect(read({ ...URL_ONLY, gated: false, prefix: '' })).toMatchObject({ gated: 'none', prefix: '' });
  });

  it('gate every tool, or the named ones', () => {
    expect(read({ ...URL_ONLY, gated: true }).gated).toBe('all');
    expect(read({ ...URL_ONLY, gated: ['create_*', 'drop'] }).gated).toEqual(['create_*', 'drop']);
  });

  it('name tools that are expected, with what they are given', () => {
    const { expect: expected } = read({ ...URL_ONLY, expect: ['a', { name: 'b', arguments: ['q'] }] });
    expect(expected).toEqual([
      { name: 'a', arguments: undefined },
      { name: 'b', arguments: ['q'] },
    ]);
  });

  it.each([
    [{ onyl: ['a'] }, 'onyl is no option; did you mean only.'],
    [{ colour: 1 }, 'colour is no option; there are only, except'],
    [{ timeout: '60' }, 'timeout must be a whole number from 1 to 3600000.'],
    [{ timeout: 0 }, 'timeout must be a whole number'],
    [{ max_result_bytes: 1e9 }, 'maxResultBytes must be a whole number from 1 to 16777216.'],
    [{ only: 'a' }, 'only must be a list of names of tools.'],
    [{ only: [] }, 'only must name a tool; leave it out for every tool.'],
    [{ except: [1] }, 'except[0] must be a text.'],
    [{ prefix: 'a__b' }, 'prefix must be empty, or have 1 to 40'],
    [{ trusted: 'yes' }, 'trusted must be true or false.'],
    [{ cost: 0.1 }, 'cost must be an object such as { "usd": 0.001 }.'],
    [{ cost: { usd: -1 } }, 'cost.usd must not be negative.'],
    [{ cost: {} }, 'cost.usd is required.'],
    [{ cost: { usd: 1, eur: 1 } }, 'cost.eur is no option.'],
    [{ descriptions: 'short' }, 'descriptions must be "verbatim" or "governed".'],
    [{ gated: 'create_*' }, 'gated must be true, false, or a list that names tools'],
    [{ gated: [] }, 'gated must name a tool; give false for none.'],
    [{ gated: [''] }, 'gated[0] must not be empty.'],
    [{ changedTools: 'x' }, 'changedTools must be "report" or "hold".'],
    [{ expect: [1] }, 'expect[0] must be the name of a tool'],
    [{ headers: { 'a b': 'c' } }, 'headers."a b" is not the name of an HTTP header.'],
    [{ headers: { host: 'c' } }, 'headers.host is a header that the connection sets itself.'],
    [
      { headers: { 'Mcp-Session-Id': 'c' } },
      'headers.Mcp-Session-Id is a header that the connection sets itself.',
    ],
    [{ headers: { a: 'b\r\nc: d' } }, 'headers.a must not hold control characters.'],
    [{ headers: { a: 1 } }, 'headers.a must be a text.'],
    [{ env: {} }, 'env is no option'],
  ])('name what is wrong or unknown: %j (W-42)', (options, sentence) => {
    expect(refusalOf({ ...URL_ONLY, ...options })).toContain(sentence);
  });

  it.each([
    [{ command: '' }, 'command must not be empty.'],
    [{ command: 'a', args: 'b' }, 'args must be a list of texts.'],
    [{ command: 'a', env: { '1': 'b' } }, 'env.1 is no name of a variable.'],
    [{ command: 'a', env: { A: 1 } }, 'env.A must be a text.'],
    [{ command: 'a', cwd: 'here' }, 'cwd must be an absolute path.'],
    [{ command: 'a', isolation: 'none' }, 'isolation must be "shared" or "person" or "conversation".'],
    [{ transport: { stdio: { comand: 'a' } } }, 'transport.stdio.comand is no option; did you mean command.'],
    [{ transport: { stdio: { command: 'a', args: [1] } } }, 'transport.stdio.args[0] must be a text.'],
  ])('name what is wrong with a command: %j (W-42)', (options, sentence) => {
    expect(refusalOf(options)).toContain(sentence);
  });

  it.each([
    [
      'a server with a url',
      { ...URL_ONLY, credential_name: 'linear' },
      ['authorization', 'Bearer', undefined],
    ],
    [
      'a header of its own',
      { ...URL_ONLY, credentialName: 'linear', credentialHeader: 'X-Api-Key', credentialScheme: '' },
      ['x-api-key', '', undefined],
    ],
    ['a command', { command: 'a', credentialName: 'linear', credentialEnv: 'TOKEN' }, ['', '', 'TOKEN']],
  ])(
    'have each person reach %s with their own credential (W-30) (W-31) (W-32) (W-33)',
    (_, options, expected) => {
      const { auth } = read(options);
      const [header, scheme, env] = expected;
      expect(auth).toEqual({ kind: 'principal', credentialName: 'linear', header, scheme, env });
      expect(read(optionsOf(read(options))).auth).toEqual(auth);
    },
  );

  it.each([
    [{ ...URL_ONLY, credentialName: 'a b' }, 'credentialName must have letters, digits'],
    [
      { ...URL_ONLY, credentialName: 'a', credentialHeader: 'Mcp-Session-Id' },
      'credentialHeader is a header that the connection sets',
    ],
    [
      { ...URL_ONLY, credentialName: 'a', credentialScheme: 'Bearer: ' },
      'credentialScheme must be the word of a scheme',
    ],
    [{ ...URL_ONLY, credentialName: 'a', credentialEnv: 'A' }, 'credentialEnv is for a command'],
    [{ command: 'a', credentialName: 'a', credentialEnv: '1' }, 'credentialEnv is no name of a variable'],
    [{ command: 'a', credentialName: 'a' }, 'credentialName on a command needs credentialEnv'],
    [
      { command: 'a', credentialEnv: 'A' },
      'credentialEnv says where a credential goes, and credentialName is missing',
    ],
    [
      { command: 'a', credentialName: 'a', credentialEnv: 'A', credentialHeader: 'x' },
      'credentialHeader is for a server with a url',
    ],
  ])('say what is wrong with whose credential it is: %j (W-74)', (options, sentence) => {
    expect(refusalOf(options)).toContain(sentence);
  });

  it('name every problem at once, the first five in words', () => {
    const message = refusalOf({ ...URL_ONLY, a1: 1, b2: 1, c3: 1, d4: 1, e5: 1, f6: 1, g7: 1 });
    expect(message).toMatch(/^Server github: a1 is no option/);
    expect(message).toContain('There are 2 more.');
  });

  it.each([['external', true]])(
    'are refused by name where they ask for what is not here: %s',
    (option, value) => {
      expect(refusalOf({ ...URL_ONLY, [option]: value })).toContain(`Server github: ${option} `);
    },
  );

  it('name a client of the authorization server, in either spelling (A-179, A-184)', () => {
    const oauth = { clientId: 'us', clientSecret: '${vault:crm}' };
    const nothing = { tokenUrl: undefined, issuer: undefined, scope: undefined, audience: undefined };
    expect(read({ ...URL_ONLY, oauth }).auth).toEqual({
      kind: 'clientCredentials',
      oauth: { ...nothing, ...oauth, sendResource: undefined },
    });
    const everything = {
      ...{ token_url: 'https://login.example/token', issuer: 'https://login.example', scope: 'read' },
      ...{ client_id: 'us', client_secret: 's', audience: 'crm', send_resource: false },
    };
    expect(read({ ...URL_ONLY, oauth: everything }).auth).toMatchObject({
      oauth: {
        tokenUrl: 'https://login.example/token',
        clientId: 'us',
        audience: 'crm',
        sendResource: false,
      },
    });
  });

  it.each([
    [{ oauth: 'us' }, 'oauth must be an object such as'],
    [{ oauth: {} }, 'oauth needs clientId and clientSecret'],
    [{ oauth: { client_id: 'us' } }, 'oauth needs clientId and clientSecret'],
    [{ oauth: { clientld: 'us' } }, 'oauth.clientld is no option; did you mean clientId.'],
    [{ oauth: { clientId: 1, clientSecret: 's' } }, 'oauth.clientId must be a text.'],
    [
      { oauth: { clientId: 'us', clientSecret: 'canary ${VAULT:x}' } },
      'oauth.clientSecret has a reference that cannot be',
    ],
    [
      { oauth: { clientId: 'us', clientSecret: '${caller:token}' } },
      'oauth.clientSecret asks for the identity of the caller',
    ],
    [{ oauth: { clientId: '${vault:x}', clientSecret: 's' } }, 'oauth.clientId holds a secret'],
    [
      { oauth: { clientId: 'us', clientSecret: 's', tokenUrl: 'http://login.example' } },
      'oauth.tokenUrl must be an https address.',
    ],
    [
      { oauth: { clientId: 'us', clientSecret: 's', issuer: 'login.example' } },
      'oauth.issuer must be an http or https address',
    ],
  ])('name what is wrong with a client: %j (W-42)', (options, sentence) => {
    const message = refusalOf({ ...URL_ONLY, ...options });
    expect(message).toContain(sentence);
    expect(message).not.toContain('canary');
  });

  it('name no client of a program', () => {
    expect(refusalOf({ command: 'a', oauth: { clientId: 'us', clientSecret: 's' } })).toContain(
      'oauth is for a server behind an address',
    );
  });

  it.each([
    ['ftp://files.example.com', 'url must be an http or https address'],
    ['mcp.example.com', 'url must be an http or https address'],
    [
      'https://me:pw@mcp.example.com',
      'url must have no user name or password in it; put the credential into `headers`',
    ],
    ['https://mcp.example.com/${caller:token}', 'url asks for the identity of the caller'],
    ['https://mcp.example.com/${VAULT:x}', 'url has a reference that cannot be'],
    ['https://mcp.example.com/${HOME:}', 'url has a reference that cannot be'],
  ])('are refused with an address that cannot be one: %s', (url, sentence) => {
    const message = refusalOf({ url });
    expect(message).toContain(sentence);
    expect(message).not.toContain('pw@');
  });

  it('may refer to secrets and variables, but to no secret where others can read it (attack 49)', () => {
    expect(read({ url: '${vars:crm}/mcp' }).transport).toMatchObject({ url: '${vars:crm}/mcp' });
    expect(read({ command: 'a', env: { A: '${vault:a}', B: '${PATCHBAY_REF_B:}' } }).transport.kind).toBe(
      'stdio',
    );
    expect(read({ command: 'a', args: ['--region', '${PATCHBAY_REF_REGION:eu}'] }).transport.kind).toBe(
      'stdio',
    );
    expect(refusalOf({ command: 'a', args: ['${PATCHBAY_REF_API_TOKEN:}'] })).toContain(
      'args[0] holds a secret',
    );
    expect(refusalOf({ command: 'a', args: ['--key', '${vault:a}'] })).toContain(
      'args[1] holds a secret, which every program of the machine can read there; put it into `env`',
    );
  });

  it('are data, but for functions in code (W-54)', () => {
    const cost = () => ({ usd: 1 });
    expect(read({ ...URL_ONLY, cost }, 'code').cost).toBe(cost);
    expect(refusalOf({ ...URL_ONLY, cost })).toContain('cost is a function, and this takes data only');
    expect(refusalOf({ ...URL_ONLY, only: () => [] }, 'code')).toContain('only is a function');
  });

  it('never repeat a value in a refusal (attack 46)', () => {
    const value = 'canary1 "+/&=é%';
    const wrong = [
      { url: value },
      { url: `https://a:${value}@b.example` },
      { ...URL_ONLY, headers: { authorization: `${value}\n` } },
      { ...URL_ONLY, headers: value },
      { ...URL_ONLY, timeout: value, prefix: value, descriptions: value, gated: value, cost: value },
      { command: 'a', env: { A: `${value}\0` }, cwd: value, isolation: value },
      { command: 'a', args: value },
    ];
    for (const options of wrong) expect(refusalOf(options)).not.toContain('canary1');
    expect(read({ ...URL_ONLY, headers: { a: value } }).transport).toMatchObject({ headers: { a: value } });
  });

  it('of any kind are taken or refused, and a refusal is short', () => {
    const names = [
      'url',
      'command',
      'args',
      'env',
      'headers',
      'transport',
      'only',
      'gated',
      'cost',
      'expect',
      'prefix',
    ];
    const key = fc.oneof(
      fc.constantFrom(...names, 'stdio', 'streamableHttp', '__proto__', 'max_result_bytes'),
      fc.string(),
    );
    const { value } = fc.letrec<{ value: unknown }>(tie => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.string({ unit: 'binary', maxLength: 40 }),
        fc.constantFrom('https://a.example', '${vault:a}', '${', '$${', '${A:', null, true, 0, -1, 1e308),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(key, tie('value'), { maxKeys: 5 }),
      ),
    }));
    fc.assert(
      fc.property(value, fc.constantFrom('code' as const, 'data' as const), (options, source) => {
        try {
          expect(read(options, source).callTimeoutMs).toBeGreaterThan(0);
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(PlatformError);
          expect((thrown as Error).message.length).toBeLessThan(3_000);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('make a definition that nobody changes', () => {
    const options = { ...URL_ONLY, only: ['a'], headers: { a: 'b' } };
    const definition = read(options);
    options.only.push('b');
    expect(definition.only).toEqual(['a']);
    expect(() => (definition.only as string[]).push('c')).toThrow(TypeError);
    expect(() => Object.assign(definition.transport, { url: 'x' })).toThrow(TypeError);
  });

  it('belong to a name that can begin the name of a tool (attack 25)', () => {
    for (const name of ['github', 'GitHub-2', 'a_b', 'x']) expect(nameProblem(name)).toBeUndefined();
    for (const name of [
      '',
      'a__b',
      'a_',
      '_a',
      'a.b',
      'a b',
      'ä',
      `a${'b'.repeat(40)}`,
      '__proto__',
      'a\0',
    ]) {
      expect(nameProblem(name)).toContain('must have 1 to 40');
    }
    expect(() => read(URL_ONLY, 'data', 'a__b')).toThrow('the name of the server must have 1 to 40');
  });
});
