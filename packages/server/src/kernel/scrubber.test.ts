import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createScrubber } from './redact.ts';

const base64 = (text: string) => Buffer.from(text, 'utf8').toString('base64');

describe('a scrubber', () => {
  const secret = 'pa ss/wörd+"1"&';
  const scrub = createScrubber([secret]);

  it.each([
    ['as it is', `Authorization: ${secret}!`],
    ['in JSON', JSON.stringify({ echo: secret })],
    ['in XML', '<a b="pa ss/wörd+&quot;1&quot;&amp;"/>'],
    ['in XML with numbers', '<a>pa ss/wörd+&#34;1&#34;&#38;</a>'],
    ['in the text of an element', '<a>pa ss/wörd+"1"&amp;</a>'],
    ['in a path', `https://x.example/${encodeURIComponent(secret)}/y`],
    [
      'in a path with small hex digits',
      encodeURIComponent(secret).replaceAll(/%../g, hex => hex.toLowerCase()),
    ],
    ['in a form', `a=1&${new URLSearchParams({ key: secret })}`],
    ['in base64', base64(secret)],
    ['in base64 behind a user name', `Basic ${base64(`user:${secret}`)}`],
    ['in base64 behind a longer one and before more', base64(`users:${secret}:more`)],
    ['in base64url', Buffer.from(`x${secret}`).toString('base64url')],
  ])('takes a value out %s', (_where, text) => {
    expect(scrub(text)).toContain('[redacted]');
    const left = scrub(text).replaceAll('[redacted]', '');
    expect(left).not.toContain('ss');
    expect(Buffer.from(left, 'base64').toString()).not.toContain('ss');
  });

  it('leaves other texts alone, and every text when there is nothing to take out', () => {
    fc.assert(
      fc.property(fc.string(), text => {
        expect(createScrubber([])(text)).toBe(text);
        expect(createScrubber(['abc'])(text)).toBe(text);
      }),
    );
    expect(scrub('nothing of it')).toBe('nothing of it');
  });

  it('takes out any value wherever it stands', () => {
    const value = fc
      .string({ unit: 'grapheme', minLength: 4, maxLength: 40 })
      .filter(text => text.trim() === text);
    fc.assert(
      fc.property(value, fc.string(), fc.string(), (secret, before, after) => {
        const scrub = createScrubber([secret]);
        const scrubbed = scrub(`${before}${secret}${after}`);
        expect(scrubbed.replaceAll('[redacted]', '')).not.toContain(secret);
        const left = scrub(base64(`${before}${secret}${after}`)).split('[redacted]');
        expect(left.length).toBeGreaterThan(1);
      }),
    );
  });

  it('takes long values out as short ones, in linear time (attack 42)', () => {
    const ab = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 201, maxLength: 220 });
    fc.assert(
      fc.property(ab, fc.array(fc.string({ unit: fc.constantFrom('a', 'b') })), (secret, between) => {
        const text = between.join(secret) + secret.slice(1) + secret;
        expect(createScrubber([secret])(text)).toBe(text.replaceAll(secret, '[redacted]'));
      }),
    );
    const long = `${'a'.repeat(30_000)}b${'a'.repeat(30_000)}`;
    const text = 'a'.repeat(1_000_000);
    expect(createScrubber([long])(text)).toBe(text);
    expect(createScrubber([long])(text + long)).toMatch(/^a+\[redacted\]$/);
  }, 10_000);

  it('takes a value with half a character out', () => {
    expect(createScrubber(['half \ud800 of it'])('half \ud800 of it')).toBe('[redacted]');
  });

  it('takes the longer of two values out whole', () => {
    expect(createScrubber(['key-one', 'key-one-and-two'])('key-one-and-two key-one')).toBe(
      '[redacted] [redacted]',
    );
  });
});
