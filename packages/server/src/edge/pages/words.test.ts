import { describe, expect, it } from 'vitest';
import { type Words, wordsFor } from './words.ts';

/** Every text by its path; of those with something put in, what they make of it. */
function texts(words: object, path = ''): [string, string][] {
  return Object.entries(words).flatMap(([name, value]): [string, string][] => {
    const at = `${path}/${name}`;
    if (typeof value === 'string') return [[at, value]];
    if (typeof value === 'function') return [[at, value('a', 'b', 'c')]];
    return texts(value, at);
  });
}

const languageFor = (header: string | undefined) => wordsFor(header).language;

describe('the words of pages', () => {
  it('say everything in each language, and nothing twice over in both', () => {
    const [english, hungarian] = [wordsFor('en'), wordsFor('hu')].map(
      (words: Words) => new Map(texts(words)),
    );
    expect([...hungarian!.keys()]).toEqual([...english!.keys()]);
    for (const [path, text] of hungarian!) {
      expect(text, path).not.toBe('');
      expect(text, path).not.toBe(english!.get(path));
    }
  });

  it.each([
    [undefined, 'en'],
    ['', 'en'],
    ['hu', 'hu'],
    ['hu-HU,hu;q=0.9,en-US;q=0.8,en;q=0.7', 'hu'],
    ['en-GB,en;q=0.9,hu;q=0.8', 'en'],
    ['de,hu;q=0.5,en;q=0.4', 'hu'],
    ['de;q=0.9, fr', 'en'],
    ['hu;q=0', 'en'],
    ['*', 'en'],
    ['hu;q=nonsense', 'hu'],
    [`${'x'.repeat(5_000)},hu`, 'en'],
  ])('are, for Accept-Language %j, %s', (header, language) => {
    expect(languageFor(header)).toBe(language);
  });
});
