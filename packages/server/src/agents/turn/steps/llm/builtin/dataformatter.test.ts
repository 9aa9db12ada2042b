import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NoResult } from './built-in-tool.ts';
import { dataformatter } from './dataformatter.ts';

const run = (operation: string, data: string) => dataformatter.run({ operation, data }, 0);

const WIDE = Array.from({ length: 1_000 }, (_, n) => `"c${n}":1`).join(',');

describe('The tool that writes data in another form', () => {
  it.each([
    ['format_json', '{"a":[1]}', '{\n  "a": [\n    1\n  ]\n}'],
    ['compact_json', '{ "a" : [ 1 ] }', '{"a":[1]}'],
    ['json_to_csv', '[{"a":1,"b":"x,\\"y\\""},{"b":null,"c":{"d":2}}]', 'a,b,c\n1,"x,""y""",\n,,"{""d"":2}"'],
    ['csv_to_json', 'a,b\r\n1,"x,""y""\nz"\r\n2\r\n', '[{"a":"1","b":"x,\\"y\\"\\nz"},{"a":"2","b":""}]'],
    ['to_base64', 'árvíz', 'w6FydsOteg=='],
    ['from_base64', 'w6FydsOteg', 'árvíz'],
    ['url_encode', 'a b&ű', 'a%20b%26%C5%B1'],
    ['url_decode', 'a+b%26%C5%B1', 'a b&ű'],
  ])('%s of %s', (operation, data, said) => {
    expect(run(operation, data)).toBe(said);
  });

  it.each([
    ['format_json', '{', 'no JSON'],
    ['json_to_csv', '{"a":1}', 'list of objects'],
    ['csv_to_json', 'a,b\n"1', 'no CSV in row 2'],
    ['from_base64', '!', 'no base64'],
    ['from_base64', '/w==', 'no text'],
    ['url_decode', '%E0%A4', 'not URL encoded'],
    ['toString', '', 'must be one of'],
    ['format_json', ' '.repeat(200_001), 'may have 200000 characters'],
    ['csv_to_json', `${'a,'.repeat(999)}a${'\n'.repeat(190_000)}`, 'may have 200000 cells'],
    ['json_to_csv', `[{${WIDE}}${',{}'.repeat(50_000)}]`, 'may have 200000 cells'],
    [
      'format_json',
      `${'['.repeat(90)}1${',1'.repeat(90_000)}${']'.repeat(90)}`,
      'may have 1000000 characters',
    ],
  ])('no %s of %s', (operation, data, why) => {
    expect(() => run(operation, data)).toThrow(NoResult);
    expect(() => run(operation, data)).toThrow(why);
  });

  it('reads as rows what it has written as CSV', () => {
    const cell = fc.string({ unit: fc.constantFrom('a', ',', '"', '\n', ' ', 'ű') });
    fc.assert(
      fc.property(fc.array(fc.tuple(cell, cell), { minLength: 1 }), rows => {
        const objects = rows.map(([one, other]) => ({ one, other: `${other}.` }));
        const csv = run('json_to_csv', JSON.stringify(objects));
        expect(JSON.parse(run('csv_to_json', csv))).toEqual(objects);
      }),
    );
  });
});
