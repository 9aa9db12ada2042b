import { describe, expect, it } from 'vitest';
import { createCookies } from './cookies.ts';

const VALUE = 'v'.repeat(43);

describe('cookies of pages', () => {
  const overTls = createCookies({ secure: true });
  const plain = createCookies({ secure: false });

  it('are out of reach of scripts and other sites, and over TLS of neighbours', () => {
    expect(overTls.set('session', VALUE)).toBe(
      `__Host-patchbay=${VALUE}; Path=/; HttpOnly; SameSite=Lax; Secure`,
    );
    expect(plain.set('form', VALUE)).toBe(`patchbay-form=${VALUE}; Path=/; HttpOnly; SameSite=Lax`);
    expect(plain.clear('session')).toBe('patchbay=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0');
  });

  it.each([
    [`patchbay=${VALUE}`, VALUE],
    [`a=b; patchbay=${VALUE}; patchbay-form=${'f'.repeat(43)}`, VALUE],
    [undefined, undefined],
    ['', undefined],
    [`patchbay=${VALUE}; patchbay=${'p'.repeat(43)}`, undefined],
    [`patchbay=${VALUE}x`, undefined],
    ['patchbay=', undefined],
    [`patchbay="${VALUE}"`, undefined],
    [`__Host-patchbay=${VALUE}`, undefined],
    [`xpatchbay=${VALUE}`, undefined],
  ])('%s has the session %s', (header, value) => {
    expect(plain.read(header, 'session')).toBe(value);
  });

  it('over TLS are read under their name for it alone', () => {
    expect(overTls.read(`patchbay=${VALUE}`, 'session')).toBeUndefined();
    expect(overTls.read(`__Host-patchbay=${VALUE}`, 'session')).toBe(VALUE);
  });
});
