import { describe, expect, it } from 'vitest';
import { type RequestClaims, signRequestState, verifyRequestState } from './request-state.ts';
import { sealClaims } from './sealed-claims.ts';
import { signSessionId, verifySessionId } from './session-id.ts';

const secret = new Uint8Array(32).fill(1);
const claims: RequestClaims = {
  resource: 'agent:demo',
  credential: 'key_1',
  digest: 'd',
  conversationId: 'conv_1',
  stepIndex: 1,
  pauseId: 'pause_1',
  round: 0,
  heard: 2,
  expires: 2000,
};
const expected = { resource: 'agent:demo', credential: 'key_1', digest: 'd', now: 1000 };
const state = signRequestState(claims, secret);

describe('the state of a call that ended with a question', () => {
  it('carries its claims from one node to another', () => {
    expect(verifyRequestState(state, expected, secret)).toEqual({ ok: true, value: claims });
  });

  it.each([
    ['for another credential', state, { ...expected, credential: 'key_2' }, secret, 'other-credential'],
    ['for another agent', state, { ...expected, resource: 'agent:other' }, secret, 'other-resource'],
    ['with other arguments', state, { ...expected, digest: 'e' }, secret, 'other-arguments'],
    ['after its time', state, { ...expected, now: 2000 }, secret, 'expired'],
    ['of another installation', state, expected, new Uint8Array(32).fill(2), 'bad-signature'],
    [
      'with a changed claim',
      `${state[0] === 'A' ? 'B' : 'A'}${state.slice(1)}`,
      expected,
      secret,
      'bad-signature',
    ],
    ['with a cut signature', state.slice(0, -3), expected, secret, 'bad-signature'],
    ['that never was', 'x', expected, secret, 'malformed'],
    ['of any length', 'x.'.repeat(5000), expected, secret, 'malformed'],
  ])('is refused %s', (_name, text, against, key, reason) => {
    expect(verifyRequestState(text, against, key)).toEqual({ ok: false, refusal: { reason } });
  });

  it('is no session id, nor a session id one', () => {
    const session = { resource: 'agent:demo', credential: 'key_1', version: 'v', nonce: 'n', expires: 2000 };
    const id = signSessionId({ ...session, forms: true, urls: true }, secret);
    expect(verifyRequestState(id, expected, secret)).toMatchObject({ ok: false });
    for (const text of [state, `request-state:${state}`])
      expect(verifySessionId(text, expected, secret), text).toMatchObject({ ok: false });
  });
});

describe('session ids', () => {
  it('from before there were forms are good, and show none', () => {
    const id = sealClaims(['agent:demo', '2025-06-18', 'key_1', 2000, 'n'], secret, '');
    expect(verifySessionId(id, expected, secret)).toMatchObject({
      ok: true,
      value: { forms: false, urls: false },
    });
  });
});
