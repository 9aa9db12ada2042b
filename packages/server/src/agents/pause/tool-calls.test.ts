import { describe, expect, it } from 'vitest';
import {
  callsIn,
  digestOfCalls,
  readToolDecisions,
  toolCallsPause,
  toolNamesIn,
  type WaitingCall,
  waitsFor,
  wholeCallsIn,
} from './tool-calls.ts';

const BINDING = { server: 's', tool: 't', arguments: 'a', person: 'p', policy: 'v' };
const call = (callId: string, more: Partial<WaitingCall> = {}): WaitingCall => ({
  ...{ callId, toolName: 'files__remove', source: 'mcp', server: 'default/files', binding: BINDING },
  ...{ args: { name: callId }, reason: 'it may change something', matchedRule: undefined },
  inputSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  ...more,
});
const pauseOf = (...calls: WaitingCall[]) => ({
  kind: 'TOOL_CALL' as const,
  ...toolCallsPause(calls, {}),
});
const LONG = call('0.0', { args: { name: 'x'.repeat(5_000) } });

describe('the calls of a pause', () => {
  it('are shown without what is frozen, a long one cut, and whole to whoever looks at the one pause', () => {
    const pause = pauseOf(LONG, call('0.1', { matchedRule: 'files__*' }));
    const [long, short] = callsIn(pause);
    expect(long).toMatchObject({ callId: '0.0', argsTruncated: true, source: 'mcp' });
    expect(long!.argumentsRedacted.length).toBeLessThan(2_100);
    expect(short).toEqual({
      ...{ callId: '0.1', toolName: 'files__remove', source: 'mcp', server: 'default/files' },
      ...{ argumentsRedacted: '{"name":"0.1"}', argsTruncated: false },
      ...{ gateReason: 'it may change something', matchedRule: 'files__*' },
    });
    expect(wholeCallsIn(pause)[0]).toMatchObject({
      argumentsRedacted: JSON.stringify(LONG.args),
      argsTruncated: false,
    });
    expect(toolNamesIn(pause)).toEqual(['files__remove']);
  });

  it('are none of a pause of a rule', () => {
    const rule = { kind: 'RULE' as const, request: undefined };
    expect(callsIn(rule)).toEqual([]);
    expect(waitsFor(rule)).toEqual({ pauseType: 'RULE' });
    expect(() =>
      readToolDecisions(rule, { verdict: 'APPROVED', toolDecisions: { a: { verdict: 'REJECTED' } } }),
    ).toThrow('waits for none');
  });

  it('have a digest of every part that an approval is about', () => {
    const digest = (one: WaitingCall) => digestOfCalls([one]);
    const same = digest(call('0.0', { reason: 'other', args: {} }));
    expect(digest(call('0.0'))).toBe(same);
    for (const part of Object.keys(BINDING))
      expect(digest(call('0.0', { binding: { ...BINDING, [part]: 'x' } }))).not.toBe(same);
    expect(digest(call('0.1'))).not.toBe(same);
    expect(digest(call('0.0', { toolName: 'files__burn' }))).not.toBe(same);
  });
});

describe('what is decided about each call', () => {
  const pause = pauseOf(call('0.0'), call('0.1'));
  const read = (verdict: 'APPROVED' | 'REJECTED', toolDecisions?: object, pauseId?: string) =>
    readToolDecisions(pause, { verdict, pauseId, toolDecisions: toolDecisions as never });

  it('is kept as it was said, and nothing where nothing was said', () => {
    const decisions = { '0.1': { verdict: 'REJECTED', note: 'not this' } };
    expect(read('APPROVED', decisions)).toEqual({ toolDecisions: decisions });
    expect(read('APPROVED')).toBeUndefined();
    expect(read('REJECTED', { '0.0': { verdict: 'REJECTED', note: 'why' } })).toBeDefined();
  });

  it.each([
    [
      'a call that does not wait',
      'APPROVED',
      { '7.7': { verdict: 'APPROVED' } },
      'waits for no such call; it waits for 0.0, 0.1',
    ],
    [
      'a name of every object',
      'APPROVED',
      { constructor: { verdict: 'APPROVED' } },
      'waits for no such call',
    ],
    [
      'an approval in a rejection',
      'REJECTED',
      { '0.0': { verdict: 'APPROVED' } },
      'cannot be APPROVED where the whole is REJECTED',
    ],
    [
      'arguments of what is rejected',
      'APPROVED',
      { '0.0': { verdict: 'REJECTED', amendedArguments: { name: 'x' } } },
      'either changed or refused',
    ],
    [
      'arguments that the tool does not take',
      'APPROVED',
      { '0.0': { verdict: 'APPROVED', amendedArguments: { name: 7 } } },
      'toolDecisions.0.0: amendedArguments.name must be',
    ],
    [
      'arguments nobody reads',
      'APPROVED',
      { '0.0': { verdict: 'APPROVED', amendedArguments: { name: 'x'.repeat(200_000) } } },
      'at most 100000 characters',
    ],
  ] as const)('is refused for %s', (_, verdict, decisions, words) => {
    expect(() => read(verdict, decisions)).toThrow(words);
  });

  it('is refused where somebody approves what was shown cut, and does not say which pause they have read', () => {
    const long = pauseOf(LONG, call('0.1'));
    const approve = (more: object = {}) => readToolDecisions(long, { verdict: 'APPROVED', ...more });
    expect(() => approve()).toThrow('get_approval_status and detail full');
    expect(approve({ pauseId: 'pause_x' })).toBeUndefined();
    expect(approve({ toolDecisions: { '0.0': { verdict: 'REJECTED' } } })).toBeDefined();
    expect(readToolDecisions(long, { verdict: 'REJECTED' })).toBeUndefined();
  });
});
