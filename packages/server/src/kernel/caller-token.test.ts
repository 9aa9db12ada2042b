import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { CallerToken } from './caller-token.ts';
import { redactFields } from './redact.ts';

const token = new CallerToken('canary-of-the-caller', ({ origin }) => origin === 'https://ours.example');

describe('the token of a caller', () => {
  it('is released to our own address and to no other (E-89)', () => {
    expect(token.releaseTo(new URL('https://ours.example/mcp'))).toBe('canary-of-the-caller');
    expect(token.releaseTo(new URL('https://ours.example:8443/mcp'))).toBeUndefined();
    expect(token.releaseTo(new URL('http://ours.example/mcp'))).toBeUndefined();
    expect(token.releaseTo(new URL('https://ours.example.evil.test/mcp'))).toBeUndefined();
  });

  it('is in nothing that is written of it (E-90, attack 46)', () => {
    const written = [
      JSON.stringify({ token }),
      inspect({ token }, { showHidden: true, depth: 9 }),
      String(token),
      `${Object.entries(token)}`,
      inspect(structuredClone({ ...{ token: { ...token } } }), { showHidden: true }),
      JSON.stringify(redactFields({ principal: { token } })),
    ];
    expect(written.join('\n')).not.toContain('canary');
  });
});
