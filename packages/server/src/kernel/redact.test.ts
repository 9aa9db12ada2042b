import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSecretName, redactedJson, redactSecrets } from './redact.ts';

/** Every text looked at as it is written. */
function slowly(value: unknown): string {
  return JSON.stringify(value, (name, member: unknown) => {
    if (typeof member !== 'string') return member;
    return member !== '' && isSecretName(name) ? '[redacted]' : redactSecrets(member);
  });
}

const names = fc.constantFrom('apiKey', 'keyId', 'token', 'text', 'password', 'monkey', '__proto__');
const texts = fc.constantFrom(
  '',
  'plain',
  'a key',
  'key=abc',
  `oag_${'7'.repeat(20)}`,
  'Bearer abcdefgh',
  '{"pwd":"x"}',
);
const values = fc.letrec(tie => ({
  value: fc.oneof(
    { maxDepth: 4 },
    texts,
    fc.constantFrom(1, null, undefined, true),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(names, tie('value'), { maxKeys: 4 }),
  ),
})).value;

describe('the JSON of a value without secrets', () => {
  it('is what comes of looking at every text', () => {
    fc.assert(
      fc.property(fc.array(values), list => {
        expect(redactedJson(list)).toBe(slowly(list));
      }),
      { numRuns: 500 },
    );
  });

  it('holds none of what is deep inside or writes itself', () => {
    const deep = (depth: number): unknown => (depth === 0 ? { apiKey: 'hunter2' } : [deep(depth - 1)]);
    expect(redactedJson(deep(500))).not.toContain('hunter2');
    expect(redactedJson({ token: { toJSON: () => 'hunter2' } })).toBe('{"token":"[redacted]"}');
  });

  it('knows a name again, however many there were', () => {
    for (let number = 0; number < 3_000; number += 1) {
      expect(isSecretName(`token ${'x'.repeat(number)}`)).toBe(true);
      expect(isSecretName(`text ${'x'.repeat(number)}`)).toBe(false);
    }
  });
});
