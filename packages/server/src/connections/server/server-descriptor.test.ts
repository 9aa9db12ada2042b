// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${NAME:default} are the product's own syntax
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createLogger } from '../../kernel/logger.ts';
import { compileText } from '../../secrets/reference-text.ts';
import { McpServerDescriptor } from './server-descriptor.ts';

const context = { scope: 'showcase', texts: { compile: (text: string) => compileText(text, () => false) } };
const URL = 'https://grafana.internal.example/mcp';

function fromProperties(properties: Record<string, string>, variables: Record<string, string> = {}) {
  const keyed = Object.entries(properties).map(([key, value]) => [`mcp.grafana.${key}`, value]);
  return McpServerDescriptor.fromEnvironment('grafana', { properties: Object.fromEntries(keyed), variables });
}

const definitionOf = (descriptor: McpServerDescriptor) => descriptor.external(false).toDefinition(context);

describe('McpServerDescriptor', () => {
  it('says where a server is, how to authenticate, how long to wait, and where it belongs (A-30) (A-53)', () => {
    const descriptor = McpServerDescriptor.builder('grafana', URL)
      .external(false)
      .header('Authorization', 'Bearer t')
      .headers({ 'X-Org': '1' })
      .connectTimeoutMs(1_000)
      .callTimeoutMs(2_000)
      .insecureTls(true)
      .elicitation(false)
      .expectTool('search_dashboards')
      .build();
    expect(descriptor.toDefinition(context)).toEqual({
      ref: { scope: 'showcase', name: 'grafana' },
      transport: {
        kind: 'http',
        url: URL,
        headers: { Authorization: 'Bearer t', 'X-Org': '1' },
        hostFrom: 'operator',
        insecureTls: true,
      },
      auth: { kind: 'none' },
      connectTimeoutMs: 1_000,
      callTimeoutMs: 2_000,
      only: undefined,
      except: [],
      prefix: '',
      maxResultBytes: undefined,
      gated: 'none',
      trusted: false,
      descriptions: 'governed',
      cost: undefined,
      expect: [{ name: 'search_dashboards', arguments: undefined }],
      exposeResources: false,
      changedTools: 'report',
    });
  });

  it('is immutable: each change is another descriptor (A-32)', () => {
    const first = McpServerDescriptor.builder('grafana', URL).external(false).build();
    const second = first.header('A', 'b').callTimeoutMs(5).expectTools('x');
    expect(second).not.toBe(first);
    expect(definitionOf(first)).toMatchObject({
      transport: { headers: {} },
      callTimeoutMs: 60_000,
      expect: [],
    });
    expect(() => Object.assign(first, { id: 'other' })).toThrow(TypeError);
  });

  it('has an alias (A-31)', () => {
    expect(McpServerDescriptor.builder('grafana', URL).id).toBe('grafana');
    expect(() => McpServerDescriptor.builder('a b', URL)).toThrow('The id of a server');
  });

  it('is read from the properties of a plugin (A-33) (A-36) (A-37) (A-38) (A-39) (A-40) (A-41) (A-42) (A-43)', () => {
    const descriptor = fromProperties(
      {
        url: URL,
        external: 'false',
        'headers.Authorization': 'Bearer ${TOKEN:}',
        'headers.X-Org': '1',
        'timeout.connect-ms': '1500',
        'timeout.call-ms': '2500',
        'insecure-tls': 'true',
      },
      { TOKEN: 't1' },
    );
    expect(descriptor.toDefinition(context)).toMatchObject({
      transport: { url: URL, headers: { Authorization: 'Bearer t1', 'X-Org': '1' }, insecureTls: true },
      auth: { kind: 'none' },
      connectTimeoutMs: 1_500,
      callTimeoutMs: 2_500,
    });
    const oauth = {
      'oauth.token-url': 'https://a.example',
      'oauth.client-id': 'b',
      'oauth.client-secret': 'c',
      'oauth.scope': 'd',
    };
    expect(fromProperties({ url: URL, ...oauth }).toJSON()).toMatchObject({ oauth: true });
    expect(() => fromProperties({ url: URL, elicitation: 'true' }).toDefinition(context)).toThrow(
      'mcp.grafana.elicitation',
    );
    expect(definitionOf(fromProperties({ url: URL }))).toMatchObject({
      auth: { kind: 'none' },
      connectTimeoutMs: 5_000,
      callTimeoutMs: 60_000,
    });
  });

  it('takes address and token from the installation, with defaults (A-34) (A-35)', () => {
    const properties = {
      url: '${GRAFANA:https://default.example/mcp}',
      'headers.Authorization': '${T:none}',
    };
    const here = definitionOf(fromProperties(properties, { GRAFANA: 'https://here.example/mcp', T: 'x' }));
    const there = definitionOf(fromProperties(properties));
    expect(here.transport).toMatchObject({
      url: 'https://here.example/mcp',
      headers: { Authorization: 'x' },
    });
    expect(there.transport).toMatchObject({
      url: 'https://default.example/mcp',
      headers: { Authorization: 'none' },
    });
  });

  it('takes what a variable holds for what it is, and leaves other references to the platform', () => {
    const { transport } = definitionOf(
      fromProperties(
        { url: URL, 'headers.A': '${T:}', 'headers.B': '${vault:key}' },
        { T: '${vault:other}' },
      ),
    );
    expect(transport).toMatchObject({ headers: { A: '$${vault:other}', B: '${vault:key}' } });
  });

  it.each([
    [{}, 'mcp.grafana.url is missing'],
    [{ url: ' ' }, 'mcp.grafana.url is missing'],
    [{ url: '${GRAFANA:}' }, 'mcp.grafana.url is missing'],
    [{ url: URL, external: 'no' }, 'mcp.grafana.external must be true or false.'],
    [
      { url: URL, 'timeout.call-ms': '1s' },
      'mcp.grafana.timeout.call-ms must be a whole number of milliseconds',
    ],
    [{ url: URL, 'oauth.client-id': 'x' }, 'mcp.grafana.oauth.token-url is missing.'],
    [{ url: URL, 'timeout.call': '5' }, 'mcp.grafana.timeout.call is no key; did you mean timeout.call-ms.'],
    [{ url: URL, 'headers.': 'x' }, 'mcp.grafana.headers. is no key; there are url, external,'],
  ])('names the key that is missing or wrong: %j (A-45)', (properties, sentence) => {
    expect(() => fromProperties(properties as Record<string, string>)).toThrow(sentence);
  });

  it('is outside unless it is said otherwise, and such a one is refused here (A-54)', () => {
    expect(fromProperties({ url: URL }).toJSON()).toMatchObject({ external: true });
    expect(McpServerDescriptor.builder('grafana', URL).toJSON()).toMatchObject({ external: true });
    expect(() => McpServerDescriptor.builder('grafana', URL).toDefinition(context)).toThrow(
      'mcp.grafana.external is true',
    );
  });

  it('is refused where it asks for questions, naming what asks', () => {
    const own = McpServerDescriptor.builder('grafana', URL).external(false);
    expect(() => own.elicitation(true).toDefinition(context)).toThrow(
      'mcp.grafana.elicitation lets the server ask',
    );
  });

  it('is refused with an address for tokens that others can listen to, naming the key', () => {
    const own = McpServerDescriptor.builder('grafana', URL).external(false);
    const oauth = { tokenUrl: 'http://login.example/token', clientId: 'b', clientSecret: 'c' };
    expect(() => own.oauth(oauth).toDefinition(context)).toThrow(
      'mcp.grafana.oauth.token-url must be an https address.',
    );
  });

  it('is never a program (A-09)', () => {
    const program = McpServerDescriptor.builder('grafana', 'npx some-server').external(false);
    expect(() => program.toDefinition(context)).toThrow('mcp.grafana.url must be an http or https address');
    for (const key of ['command', 'args', 'transport', 'stdio.command'])
      expect(() => fromProperties({ url: URL, [key]: 'npx' })).toThrow(`mcp.grafana.${key} is no key`);
    expect(definitionOf(fromProperties({ url: URL })).transport.kind).toBe('http');
  });

  it('names what a tool is given, by a list or by a schema', () => {
    const descriptor = McpServerDescriptor.builder('grafana', URL)
      .expectTool('a', ['query'])
      .expectTool('b', z.object({ text: z.string(), limit: z.number() }))
      .expectTools('c', 'a');
    expect(definitionOf(descriptor).expect).toEqual([
      { name: 'b', arguments: ['text', 'limit'] },
      { name: 'c', arguments: undefined },
      { name: 'a', arguments: undefined },
    ]);
  });

  it('shows neither a header nor a client secret in its text form, nor in a log (A-55)', () => {
    const value = 'canary1 "+/&=é%';
    const descriptor = McpServerDescriptor.builder('grafana', `${URL}?key=${encodeURIComponent(value)}`)
      .header('Authorization', value)
      .header('X-Other', value)
      .oauth({ tokenUrl: 'https://a.example', clientId: 'b', clientSecret: value });
    const lines: string[] = [];
    const logger = createLogger({
      level: 'debug',
      format: 'json',
      destination: { write: line => lines.push(line) },
      clock: { now: () => 0 },
    });
    logger.info('One', { descriptor });
    const forms = {
      ...{
        text: String(descriptor),
        json: JSON.stringify(descriptor),
        inspected: inspect(descriptor, { depth: 9 }),
      },
      ...{ inside: inspect({ descriptor }, { showHidden: true }), lines },
    };
    expect(JSON.stringify(forms)).not.toContain('canary1');
    expect(forms.text).toContain('X-Other');
    expect(lines.join()).toContain('One');
    const sent = definitionOf(McpServerDescriptor.builder('grafana', URL).header('A', value)).transport;
    expect(sent).toMatchObject({ headers: { A: value } });
  });
});
