import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { faultIn, isStorable, storable, storableValue } from './json-value.ts';

const text = fc.string({ unit: fc.constantFrom('a', '\0', '\ud83d', '\ude00', '😀', '\\') });
const { value } = fc.letrec<{ value: unknown }>(tie => ({
  value: fc.oneof(
    { depthSize: 'small' },
    text,
    fc.constantFrom(1, true, null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(text, tie('value'), { maxKeys: 3 }),
  ),
}));

describe('a value with characters that cannot be stored', () => {
  it('can be stored when they are replaced', () => {
    expect(storableValue({ 'a\0': ['b\ud83d', 1] })).toEqual({ 'a\ufffd': ['b\ufffd', 1] });
    fc.assert(
      fc.property(value, one => {
        const clean = storableValue(one);
        expect(faultIn(clean, 100)).toBeUndefined();
        if (faultIn(one, 100) === undefined) expect(clean).toEqual(one);
      }),
    );
  });
  it('is only refused where it must be', () => {
    expect(faultIn(['\0'], 100, () => true)).toBeUndefined();
    expect(faultIn(['\0'], 100)).toBe('holds a character that cannot be stored');
  });
  it('is a text of its length', () => {
    fc.assert(
      fc.property(text, one => {
        expect(storable(one)).toHaveLength(one.length);
        expect(isStorable(storable(one))).toBe(true);
      }),
    );
  });
});
