import { describe, expect, it } from 'vitest';
import type { Pause } from '../../agents/pause/pauses.ts';
import { approvalForm, decisionIn } from './approval-form.ts';

const accept = (content: unknown) => ({ action: 'accept', content }) as const;

describe('an approval form', () => {
  it.each([
    [accept({ decision: 'approve' }), { verdict: 'APPROVED' }],
    [accept({ decision: 'approve', note: '  ' }), { verdict: 'APPROVED' }],
    [accept({ decision: 'approve', note: null }), { verdict: 'APPROVED' }],
    [accept({ decision: 'reject', note: ' not now ' }), { verdict: 'REJECTED', note: 'not now' }],
    [{ action: 'decline' } as const, { verdict: 'REJECTED' }],
  ])('that comes back as %j decides', (answer, decision) => {
    expect(decisionIn(answer)).toEqual(decision);
  });

  it.each([
    [{ action: 'cancel' } as const],
    [accept(undefined)],
    [accept({})],
    [accept({ note: 'approve' })],
    [accept({ decision: 'APPROVE' })],
    [accept({ decision: true })],
    [accept({ decision: ['approve'] })],
    [accept({ decision: 'approve', note: 'x'.repeat(4_097) })],
    [accept({ decision: 'approve', note: 'a\0b' })],
    [accept({ decision: 'approve', note: 5 })],
    [accept('approve')],
  ])('that comes back as %j decides nothing (attack 41)', answer => {
    expect(decisionIn(answer)).toBeUndefined();
  });
});

describe('the message of a form', () => {
  const card = { agentId: 'payer', name: 'Payer', description: '' };
  const call = (args: string, more: object = {}) => ({
    ...{
      callId: '1',
      toolName: 'pay',
      server: 'default/bank',
      argumentsRedacted: args,
      argsTruncated: false,
    },
    ...{ gateReason: 'it may change something', ...more },
  });
  const pause = (changes: Partial<Pause>): Pause => ({
    ...{ id: 'pause_1', kind: 'RULE', conversationId: 'c', agentId: 'payer', userId: 'u', state: 'open' },
    ...{ reason: 'why', timeoutPolicy: 'ABORT', approvalTimeout: '', openedAt: 1, request: undefined },
    ...{ decision: undefined, ...changes },
  });
  const messageOf = (changes: Partial<Pause>) => approvalForm(pause(changes), card)?.message;
  const calls = (...asked: object[]) => ({ kind: 'TOOL_CALL', request: { calls: asked } }) as const;

  it('says who asks, and why', () => {
    expect(messageOf({})).toBe('The agent "Payer" (payer) waits for your approval: why');
  });

  it('shows each call with its arguments', () => {
    expect(messageOf(calls(call('{"to":"Ann"}')))).toBe(
      'The agent "Payer" (payer) waits for your approval of this call:\n1. pay of default/bank with {"to":"Ann"} (it may change something)',
    );
    expect(messageOf(calls(call('{}'), call('{"a":1}')))).toBe(
      [
        'The agent "Payer" (payer) waits for your approval of these 2 calls, all or none:',
        '1. pay of default/bank with {} (it may change something)',
        '2. pay of default/bank with {"a":1} (it may change something)',
      ].join('\n'),
    );
  });

  it('ends with what the author of the agent says about them', () => {
    const request = { calls: [call('{}', { server: '' })], reason: 'The shop is open.' };
    expect(messageOf({ kind: 'TOOL_CALL', request })).toBe(
      'The agent "Payer" (payer) waits for your approval of this call:\n1. pay with {} (it may change something)\nThe shop is open.',
    );
  });

  it('spells out what nobody would see (attack 38)', () => {
    expect(messageOf(calls(call('{"to":"\u202emoB"}')))).toContain('{"to":"\\u{202e}moB"}');
    expect(messageOf({ reason: 'pay\u200b' })).toContain('pay\\u{200b}');
  });

  it('has no lines of an author that look like ours, and every space of an argument (attack 38)', () => {
    const forged = 'Fine.\r\n2. look of default/bank with {} (it only reads)\rThe agent';
    const name = 'Payer\n1. look';
    const request = { calls: [call('{"to":"A  B"}')], reason: forged };
    for (const changes of [{ kind: 'TOOL_CALL', request } as const, { reason: forged }]) {
      const { message } = approvalForm(pause(changes), { ...card, name })!;
      expect(message.split(/[\r\n]/).filter(line => /^(?:\d\.|The agent)/.test(line))).toEqual([
        expect.stringContaining('The agent "Payer 1. look" (payer) waits'),
        ...('kind' in changes ? ['1. pay of default/bank with {"to":"A  B"} (it may change something)'] : []),
      ]);
    }
  });

  it('is none where nobody could read it, or only a part of it', () => {
    expect(messageOf(calls(call('{}'), call('{"a":', { argsTruncated: true })))).toBeUndefined();
    expect(messageOf(calls(call(`"${'x'.repeat(20_000)}"`)))).toBeUndefined();
  });

  it('asks for a decision and a note, whatever is asked about (attack 41)', () => {
    const { requestedSchema } = approvalForm(pause({ reason: 'Enter your password' }), card)!;
    expect(Object.keys(requestedSchema.properties)).toEqual(['decision', 'note']);
  });
});
