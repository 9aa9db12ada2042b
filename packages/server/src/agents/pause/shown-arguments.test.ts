import { describe, expect, it } from 'vitest';
import { shownArguments } from './shown-arguments.ts';

describe('the arguments of a call, as they are shown', () => {
  it('are the JSON that is sent', () => {
    const args = { to: 'ann@example.com', lines: ['a "b"', 2, true, null], deep: { more: [{}] } };
    expect(shownArguments(args)).toBe(JSON.stringify(args));
  });

  it('hide texts under names of credentials and say how long they are, and nothing else', () => {
    const args = {
      ...{ password: 'hunter2', apiKey: 'k', key: 'backups/2024', keys: ['a'], token: '', maxTokens: 12 },
      headers: { Authorization: 'Bearer abcdefgh', accept: 'text/plain' },
      cookies: ['one=1', { name: 'two' }],
      // What a shape hides could be anything: whoever wrote the arguments would choose what is not seen.
      command: '-----BEGIN PRIVATE KEY-----; rm -rf / ; authorization: all',
    };
    expect(JSON.parse(shownArguments(args))).toEqual({
      ...args,
      ...{ password: '[redacted: 7 characters]', apiKey: '[redacted: 1 characters]' },
      headers: { Authorization: '[redacted: 15 characters]', accept: 'text/plain' },
      cookies: ['[redacted: 5 characters]', { name: '[redacted: 3 characters]' }],
    });
  });

  it('spell out what no eye sees, in values and in names, and stay the same JSON', () => {
    const args = {
      'a\u200bb': 'evil\u202egnp.exe',
      tag: '\u{e0041}x',
      nbsp: '1\u00a02',
      line: 'a\nb\u2028c',
    };
    const shown = shownArguments(args);
    expect(shown).toMatch(/^[\x20-\x7e]+$/);
    expect(JSON.parse(shown)).toEqual(args);
    expect(shownArguments({ name: 'Ödön 日本 🙂' })).toBe('{"name":"Ödön 日本 🙂"}');
  });

  it('show a member that is named like a part of every object as any other', () => {
    const args = JSON.parse('{"__proto__":{"a":1},"constructor":"x"}') as Record<string, unknown>;
    expect(shownArguments(args)).toBe('{"__proto__":{"a":1},"constructor":"x"}');
  });
});
