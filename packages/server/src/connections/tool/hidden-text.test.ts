import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withHiddenShown, withoutHidden } from './hidden-text.ts';

describe('hidden text', () => {
  it.each([
    ['zero-width characters', 'a\u200b\u200c\u200d\u2060\ufeffb'],
    ['marks that turn the direction', 'a\u202e\u2066\u2069\u200e\u061cb'],
    ['tags, which spell a text nobody sees', 'a\u{e0069}\u{e0067}\u{e007f}b'],
    ['selectors of variants, which can carry bytes', 'a\ufe0f\u{e0100}b'],
    ['fillers and soft hyphens', 'a\u3164\u115f\u00adb'],
    ['controls and line separators', 'a\u0000\u001b\u0085\u2028b'],
    ['halves of pairs', 'a\ud83db'],
  ])('is taken out: %s (attack 37)', (_, text) => {
    expect(withoutHidden(text)).toBe('ab');
  });

  it('is not what a person sees', () => {
    const seen = 'Árvíztűrő 漢字 می‌ 😀\tx\r\ny \u0600'.replaceAll('\u200c', '');
    expect(withoutHidden(seen)).toBe(seen);
    expect(withHiddenShown(seen)).toBe(seen);
  });

  it('is spelled out for people who compare', () => {
    expect(withHiddenShown('read\u{e0041}\u200b')).toBe('read\\u{e0041}\\u{200b}');
  });

  it('is gone at once, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), text => {
        const seen = withoutHidden(text);
        expect(withoutHidden(seen)).toBe(seen);
        expect(withHiddenShown(seen)).toBe(seen);
      }),
    );
  });
});
