import { cut, governText } from '../../../connections/tool/govern-text.ts';

const MAX_WORD = 200;
const MAX_WORDS = 1_000;

/** What a keyword says, for a model to read: `minLength: 3`. It quotes the server, so it is governed whatever the descriptions are. */
export function wordOf(keyword: string, value: unknown): string {
  return governText(
    cut(`${keyword}: ${typeof value === 'string' ? value : brief(value, MAX_WORD)}`, MAX_WORD),
  );
}

/** The server's description as it is, and behind it what the schema can no longer say. */
export function described(description: unknown, words: readonly string[]): string | undefined {
  const text = typeof description === 'string' ? description : '';
  const added = cut([...new Set(words)].join('; '), MAX_WORDS);
  if (added === '') return text === '' ? undefined : text;
  return text === '' ? added : `${text} (${added})`;
}

/** The beginning of a value's JSON, cut somewhere behind so many characters. What is behind that is not looked at. */
export function brief(value: unknown, characters: number): string {
  let text = '';
  const write = (one: unknown): void => {
    if (typeof one === 'string') text += JSON.stringify(one.slice(0, characters));
    else if (typeof one !== 'object' || one === null) text += String(one);
    else if (Array.isArray(one)) writeList(one);
    else writeObject(one);
  };
  const isFull = () => text.length > characters;
  const writeList = (list: readonly unknown[]): void => {
    text += '[';
    for (let index = 0; index < list.length && !isFull(); index++) {
      if (index > 0) text += ',';
      write(list[index]);
    }
    text += ']';
  };
  const writeObject = (object: object): void => {
    let between = '{';
    for (const [key, one] of Object.entries(object)) {
      if (isFull()) break;
      text += `${between}${JSON.stringify(key.slice(0, characters))}:`;
      between = ',';
      write(one);
    }
    text += between === '{' ? '{}' : '}';
  };
  write(value);
  return text;
}
