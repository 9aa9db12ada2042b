import { describe, expect, it } from 'vitest';
import type { CallInProgress } from './outbound-call.ts';
import { validateStep } from './validate.ts';

const SCHEMA = { type: 'object', properties: { n: { type: 'integer' } } };

function validated(driver: 'rule' | 'person', args: Readonly<Record<string, unknown>>) {
  const state = {
    call: { driver, tool: 'it', arguments: args },
    arguments: args,
    tool: { name: 'it', inputSchema: SCHEMA },
    attempts: 0,
  } as unknown as CallInProgress;
  return { ended: validateStep.run(state), sent: state.arguments };
}

describe('the arguments of a call', () => {
  it('are made what the tool takes where a rule gives them', () => {
    expect(validated('rule', { n: '42' })).toEqual({ ended: undefined, sent: { n: 42 } });
  });
  it('are taken at their word where a person gives them', () => {
    expect(validated('person', { n: '42' })).toMatchObject({
      ended: { kind: 'refused', code: 'INVALID_ARGUMENTS', message: expect.stringMatching(/: n must /) },
    });
  });
  it('are bounded', () => {
    expect(validated('rule', { word: 'x'.repeat(1_000_001) }).ended).toMatchObject({
      code: 'INVALID_ARGUMENTS',
      message: expect.stringContaining('1000000 are the most'),
    });
  });
});
