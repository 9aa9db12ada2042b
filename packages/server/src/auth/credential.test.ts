import { describe, expect, it } from 'vitest';
import { readCredential } from './credential.ts';
import { displayPrefix, hashKeyToken, keyKindOf, newKeyToken } from './key/key-token.ts';

const OAG = `oag_${'a'.repeat(64)}`;
const BAK = `bak_${'b'.repeat(64)}`;
const OTHER_BAK = `bak_${'c'.repeat(64)}`;

describe('the one credential of a request', () => {
  it.each([
    ['nothing', undefined, undefined, { kind: 'none' }],
    ['a user key (B-14)', `Bearer ${OAG}`, undefined, { kind: 'user-key', token: OAG }],
    ['a scheme in any case', `bEARER ${OAG}`, undefined, { kind: 'user-key', token: OAG }],
    ['an agent key as bearer (B-16)', `Bearer ${BAK}`, undefined, { kind: 'agent-key', token: BAK }],
    ['an agent key in its own header (B-16)', undefined, BAK, { kind: 'agent-key', token: BAK }],
    ['the same agent key in both headers (B-20)', `Bearer ${BAK}`, BAK, { kind: 'agent-key', token: BAK }],
    ['two different agent keys (B-19)', `Bearer ${BAK}`, OTHER_BAK, { kind: 'bad' }],
    ['a user key and an agent key (B-19)', `Bearer ${OAG}`, BAK, { kind: 'bad' }],
    ['a user key in the agent key header (B-22)', undefined, OAG, { kind: 'bad' }],
    ['the same user key in both headers (B-22)', `Bearer ${OAG}`, OAG, { kind: 'bad' }],
    ['two values in one header', `Bearer ${OAG}, Bearer ${OAG}`, undefined, { kind: 'bad' }],
    ['another scheme', `Basic ${OAG}`, undefined, { kind: 'bad' }],
    ['an empty bearer', 'Bearer ', undefined, { kind: 'bad' }],
    ['an empty agent key header', undefined, '', { kind: 'bad' }],
    ['a token of another form', 'Bearer abc', undefined, { kind: 'opaque', token: 'abc' }],
    ['a key cut short', `Bearer ${OAG.slice(0, -1)}`, undefined, { kind: 'opaque', token: OAG.slice(0, -1) }],
  ])('reads %s', (_name, authorization, agentApiKey, expected) => {
    expect(readCredential({ authorization, agentApiKey })).toEqual(expected);
  });
});

describe('key tokens', () => {
  it.each(['user', 'agent'] as const)(
    'a new %s key has the form its kind is read from, and no two are equal',
    kind => {
      const tokens = new Set(Array.from({ length: 100 }, () => newKeyToken(kind)));
      expect(tokens.size).toBe(100);
      for (const token of tokens) expect(keyKindOf(token)).toBe(kind);
    },
  );

  it('what is kept gives the key away neither by hash nor by prefix', () => {
    const token = newKeyToken('user');
    expect(hashKeyToken(token)).toMatch(/^[0-9a-f]{64}$/);
    expect(hashKeyToken(token)).not.toContain(token.slice(4, 20));
    expect(displayPrefix(token)).toBe(token.slice(0, 12));
  });
});
