import { describe, expect, it } from 'vitest';
import type { FailureKind } from '../call/outcome.ts';
import type { ServerDefinition, ServerTransport } from './definition.ts';
import { explainHealth } from './health.ts';
import type { ServerHealth } from './runtime.ts';

const COMMAND: ServerTransport = {
  kind: 'stdio',
  command: 'npx',
  args: ['-y', 'some-server'],
  env: {},
  cwd: undefined,
  isolation: 'shared',
};
const HTTP: ServerTransport = {
  kind: 'http',
  url: 'https://mcp.example.com/mcp',
  headers: {},
  hostFrom: 'operator',
  insecureTls: false,
};

function explain(health: Partial<ServerHealth>, transport: ServerTransport = HTTP) {
  const known: ServerHealth = {
    state: 'unknown',
    toolCount: 0,
    problem: undefined,
    shortcomings: [],
    speaks: undefined,
    stderr: [],
    ...health,
  };
  const ref = { scope: 'default', name: 'one' };
  const definition = { ref, transport, auth: { kind: 'none' } } as ServerDefinition;
  return explainHealth({ health: () => known }, definition);
}

function down(kind: FailureKind, failures = 1): Partial<ServerHealth> {
  const problem = { kind, message: 'Nobody listens there.', at: 0, failures, retryAt: undefined };
  return { state: 'unavailable', problem };
}

describe('the health of a server', () => {
  it('says how many tools a connected one offers', () => {
    expect(explain({ state: 'available', toolCount: 1 }).summary).toBe(
      'default/one is connected and offers one tool.',
    );
    expect(explain({ state: 'available', toolCount: 12 }).remedy).toBeUndefined();
  });

  it('says what is missing on a degraded one', () => {
    const shortcomings = ['It has no tool search.'];
    expect(explain({ state: 'degraded', toolCount: 2, shortcomings }).summary).toContain(
      'It has no tool search.',
    );
  });

  it('says why one is down, after how many tries, and what to do', () => {
    expect(explain(down('SERVER_UNAVAILABLE', 3))).toEqual({
      summary: 'default/one is down after 3 tries: Nobody listens there.',
      remedy: expect.stringContaining('PATCHBAY_EGRESS_PRIVATE_HOSTS'),
    });
  });

  it('says which variables a command has, which may be why it ends', () => {
    for (const kind of ['SERVER_UNAVAILABLE', 'TRANSPORT_ERROR'] as const) {
      expect(explain(down(kind), COMMAND).remedy).toContain('and no other variable');
    }
  });

  it.each([
    'SERVER_UNAVAILABLE',
    'AUTHENTICATION_FAILED',
    'TIMEOUT',
    'PROTOCOL_ERROR',
    'TRANSPORT_ERROR',
  ] as const)('speaks of the command, or of the address, after %s', kind => {
    const ofCommand = explain(down(kind), COMMAND).remedy;
    const ofAddress = explain(down(kind), HTTP).remedy;
    expect(ofCommand).not.toBe(ofAddress);
    expect(ofCommand).not.toMatch(/`url`|`headers`/);
    expect(ofAddress).not.toMatch(/`command`|`env`/);
  });
});
