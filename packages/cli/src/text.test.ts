import { describe, expect, it } from 'vitest';
import { printable, shellWord, table } from './text.ts';

describe('printable', () => {
  it('takes control characters out of what agents say, and keeps lines, tabs and every script', () => {
    expect(printable('a\u001b[31mb\u0007\u009b2Jc\r\nd\te\rf\u0000 ő 😀')).toBe('a[31mb2Jc\nd\te\nf ő 😀');
  });

  it('takes out what would have a line read backwards, and leaves scripts that do', () => {
    expect(printable('pay \u202e001\u202c to \u2066Ann\u2069, שלום')).toBe('pay 001 to Ann, שלום');
  });
});

describe('shellWord', () => {
  it.each([
    ['http://127.0.0.1:7070/mcp', 'http://127.0.0.1:7070/mcp'],
    ["it's $HOME", "'it'\\''s $HOME'"],
    ['', "''"],
  ])('writes %j as %s', (text, word) => {
    expect(shellWord(text)).toBe(word);
  });
});

describe('table', () => {
  it('keeps a row on its line whatever a cell holds', () => {
    expect(
      table([
        ['ID', 'TEXT'],
        ['demo', 'two\nlines'],
      ]),
    ).toBe('ID    TEXT\ndemo  two lines');
  });
});
