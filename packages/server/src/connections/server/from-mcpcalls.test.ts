// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${vault:key} are the product's own syntax
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { compileText } from '../../secrets/reference-text.ts';
import { definitionOfMcpcalls, type McpcallsServer } from './from-mcpcalls.ts';

const texts = { compile: (text: string) => compileText(text, () => false) };
const mcpServerUrl = 'https://mcp.example.com/mcp';

function read(document: Partial<McpcallsServer>, when: 'saving' | 'loading' = 'saving') {
  return definitionOfMcpcalls({ mcpServerUrl, ...document }, { scope: 'mcpcalls', when, texts });
}

describe('the server of an mcpcalls document', () => {
  it('has the defaults of its front-end', () => {
    expect(read({})).toEqual({
      definition: {
        ref: { scope: 'mcpcalls', name: 'mcp.example.com' },
        transport: { kind: 'http', url: mcpServerUrl, headers: {}, hostFrom: 'operator', insecureTls: false },
        auth: { kind: 'none' },
        connectTimeoutMs: 30_000,
        callTimeoutMs: 30_000,
        only: undefined,
        except: [],
        prefix: '',
        maxResultBytes: undefined,
        gated: 'none',
        trusted: false,
        descriptions: 'governed',
        cost: undefined,
        expect: [],
        exposeResources: false,
        changedTools: 'report',
      },
      warnings: [],
    });
  });

  it('takes its lists, times and resources from the document', () => {
    const { definition } = read({
      name: 'CRM',
      timeoutMs: 5_000,
      toolsWhitelist: ['a', 'b'],
      toolsBlacklist: ['b'],
      exposeResources: true,
    });
    expect(definition).toMatchObject({
      ref: { name: 'CRM' },
      ...{
        auth: { kind: 'none' },
        connectTimeoutMs: 5_000,
        callTimeoutMs: 5_000,
        only: ['a', 'b'],
        except: ['b'],
        exposeResources: true,
      },
    });
    expect(read({ toolsWhitelist: [] }).definition.only).toBeUndefined();
  });

  it.each([
    ['k1', 'Bearer k1'],
    ['  k1 ', 'Bearer k1'],
    ['Bearer k1', 'Bearer k1'],
    ['Basic dTpw', 'Basic dTpw'],
    ['${vault:key}', 'Bearer ${vault:key}'],
    ['Token ${vault:key}', 'Token ${vault:key}'],
  ])('sends the apiKey %j as %j', (apiKey, authorization) => {
    expect(read({ apiKey }).definition.transport).toMatchObject({ headers: { authorization } });
  });

  it.each(['http', 'https', 'HTTP', 'streamable-http', 'StreamableHttp'])(
    'takes the transport %s (EX-01)',
    transport => {
      expect(read({ transport }).definition.transport.kind).toBe('http');
    },
  );

  it.each(['stdio', 'sse', 'websocket', ''])(
    'refuses the transport %j when it is saved (E-80)',
    transport => {
      expect(() => read({ transport })).toThrow('transport must be "http"');
    },
  );

  it('takes a stored sse with one warning (EX-01)', () => {
    expect(read({ transport: 'sse' }, 'loading').warnings).toHaveLength(1);
    expect(() => read({ transport: 'stdio' }, 'loading')).toThrow('transport must be "http"');
  });

  it.each(['', 'mcp.example.com', 'file:///etc/passwd', 'https://', 'https://u:p@h.example'])(
    'refuses the address %j (EX-01)',
    url => {
      expect(() => read({ mcpServerUrl: url })).toThrow(/mcpServerUrl must/);
    },
  );

  it.each([
    ['${caller:token}', 'Bearer'],
    ['  Bearer   ${caller:token} ', 'Bearer'],
    ['Token ${caller:token}', 'Token'],
  ])(
    'is called as the caller with the apiKey %j, and shows everybody else nothing (E-81, E-88)',
    (apiKey, scheme) => {
      const { auth, transport } = read({ apiKey }).definition;
      expect(auth).toEqual({ kind: 'caller', scheme });
      expect(transport).toMatchObject({ headers: {} });
    },
  );

  it.each([
    '${caller:userId}',
    'Bearer ${caller:userId}',
    '${caller:token}x',
    'a b ${caller:token}',
    '${vault:a} ${caller:token}',
  ])('refuses the apiKey %j, which is more or less than the token of the caller', apiKey => {
    expect(() => read({ apiKey })).toThrow('apiKey asks for the identity of the caller');
  });

  it('quotes no apiKey when it refuses one', () => {
    const thrown = (() => {
      try {
        return read({ apiKey: 'canary1\ncanary1', transport: 'x' });
      } catch (error) {
        return error;
      }
    })();
    expect(thrown).toBeInstanceOf(Error);
    expect(inspect(thrown)).not.toContain('canary1');
  });
});
