/** Reads one word as a value; `undefined` when it is none. */
type ReadValue = (word: string) => string | undefined;

/** Longer words are no value, so each takes bounded time. */
const MAX_WORD = 254;

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

const whole: ReadValue = word => (/^[+-]?\d+$/.test(word) ? word.replace('+', '') : undefined);

/** With a point or a comma, which becomes a point: a comma would end the argument of an expression. */
const decimal: ReadValue = word =>
  /^[+-]?\d+[.,]\d+$/.test(word) ? word.replace('+', '').replace(',', '.') : undefined;

const email: ReadValue = word => (/^[^\s@(),]+@[^\s@(),]+\.[^\s@(),.]{2,}$/.test(word) ? word : undefined);

/** A time of day on the 24-hour clock, as milliseconds after midnight UTC of the day time is counted from. */
const time: ReadValue = word => {
  if (word === '24:00') return '0';
  const [, hours, minutes = '0', seconds = '0'] =
    /^([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?$/.exec(word) ??
    /^([01]?\d|2[0-3])h([0-5]\d)?$/i.exec(word) ??
    [];
  if (hours === undefined) return undefined;
  return String(Number(hours) * HOUR_MS + Number(minutes) * MINUTE_MS + Number(seconds) * SECOND_MS);
};

const ordinal: ReadValue = word => /^(\d{1,15})(?:st|nd|rd|th)$/i.exec(word)?.[1]?.replace(/^0+(?=\d)/, '');

/** The dictionaries of values: their expression has the value as its one argument (platform.md 3.2). */
export const VALUE_WORDS = {
  integer: { expression: 'integer', read: bounded(whole) },
  decimal: { expression: 'decimal', read: bounded(decimal) },
  email: { expression: 'email', read: bounded(email) },
  time: { expression: 'time', read: bounded(time) },
  ordinalNumber: { expression: 'ordinal_number', read: bounded(ordinal) },
} as const satisfies Readonly<Record<string, { readonly expression: string; readonly read: ReadValue }>>;

export type ValueType = keyof typeof VALUE_WORDS;

export function isValueWord(word: string): boolean {
  return Object.values(VALUE_WORDS).some(({ read }) => read(word) !== undefined);
}

function bounded(read: ReadValue): ReadValue {
  return word => (word.length <= MAX_WORD ? read(word) : undefined);
}

const MARK_NAMES: Readonly<Record<string, string>> = {
  '!': 'exclamation_mark',
  '?': 'question_mark',
  '.': 'dot',
  ',': 'comma',
  ':': 'colon',
  ';': 'semicolon',
};

/** The expressions of the sentence marks in a text, at most `max`. */
export function markExpressions(text: string, max: number): string[] {
  const found: string[] = [];
  for (const char of text) {
    if (found.length === max) break;
    const name = MARK_NAMES[char];
    if (name !== undefined) found.push(`punctuation(${name})`);
  }
  return found;
}
