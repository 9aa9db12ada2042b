import { describe, expect, it } from 'vitest';
import { type SessionClaims, signSessionId, verifySessionId } from './session-id.ts';

const secret = new Uint8Array(32).fill(1);
const claims: SessionClaims = {
  resource: 'agent:demo',
  version: '2025-06-18',
  credential: 'key_1',
  expires: 2000,
  nonce: 'n',
  forms: true,
  urls: false,
};
const expected = { resource: 'agent:demo', credential: 'key_1', now: 1000 };
const id = signSessionId(claims, secret);

describe('session ids', () => {
  it('carry their claims from one node to another', () => {
    expect(verifySessionId(id, expected, secret)).toEqual({ ok: true, value: claims });
  });

  it.each([
    ['another credential', id, { ...expected, credential: 'key_2' }, secret, 'other-credential'],
    ['another agent', id, { ...expected, resource: 'agent:other' }, secret, 'other-resource'],
    ['its last moment', id, { ...expected, now: 2000 }, secret, 'expired'],
    ['another secret', id, expected, new Uint8Array(32).fill(2), 'bad-signature'],
    [
      'a changed payload',
      `${id.slice(0, 5)}${id[5] === 'A' ? 'B' : 'A'}${id.slice(6)}`,
      expected,
      secret,
      'bad-signature',
    ],
    ['a cut signature', id.slice(0, -3), expected, secret, 'bad-signature'],
    ['no signature', id.split('.')[0]!, expected, secret, 'malformed'],
    ['three parts', `${id}.x`, expected, secret, 'malformed'],
    ['nothing', '', expected, secret, 'malformed'],
    ['a huge text', 'x.'.repeat(5000), expected, secret, 'malformed'],
  ])('are unknown with %s', (_name, text, against, key, reason) => {
    expect(verifySessionId(text, against, key)).toEqual({ ok: false, refusal: { reason } });
  });
});
