import { randomBase32 } from '../../../kernel/ids.ts';
import { JsonText } from './liquid.ts';

/** Values that stand in a text as marks, each a `mark`, a number and an end, until they are written as their place needs. */
export interface Marked {
  /** Nobody else can know it, so nothing that comes in data is a mark. */
  readonly mark: string;
  at(index: number): unknown;
}

const END = '\uE001';

/** Holds back what a template puts into a text; `hold` is for `TemplateCache.render`. */
export class HeldValues implements Marked {
  readonly mark = `\uE000${randomBase32(16)}:`;
  private readonly values: unknown[] = [];

  readonly hold = (value: unknown): string => {
    // A captured text has marks in it, and is a value like any other.
    const whole =
      typeof value === 'string' && value.includes(this.mark) ? fillText(value, [this], textOf) : value;
    return `${this.mark}${this.values.push(whole) - 1}${END}`;
  };

  at(index: number): unknown {
    return this.values[index];
  }

  /** Is the text one held value and nothing else? */
  isOne(text: string): boolean {
    return this.values.length === 1 && text.trim() === `${this.mark}0${END}`;
  }

  get all(): readonly unknown[] {
    return this.values;
  }
}

/** The text with each marked value as `write` writes it. */
export function fillText(text: string, marked: readonly Marked[], write: (value: unknown) => string): string {
  return text.replace(marksOf(marked), (...match: unknown[]) => write(valueIn(match.slice(1), marked)));
}

/**
 * A text of JSON with the marked values in it: inside a string as a part of that string, which they cannot end, and elsewhere as
 * whole values. What `json` has written stands as it is.
 */
export function fillJson(text: string, marked: readonly Marked[]): string {
  let inside = false;
  return text.replace(
    new RegExp(`\\\\[^]|"|${marksOf(marked).source}`, 'g'),
    (found: string, ...rest: unknown[]) => {
      if (found[0] === '\\') return found;
      if (found === '"') {
        inside = !inside;
        return found;
      }
      const value = valueIn(rest, marked);
      return inside ? JSON.stringify(textOf(value)).slice(1, -1) : jsonOf(value);
    },
  );
}

/** A value as text: nothing is empty, and a list or an object is JSON. */
export function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (value instanceof JsonText) return value.text;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function jsonOf(value: unknown): string {
  return value instanceof JsonText ? value.text : (JSON.stringify(value) ?? 'null');
}

function marksOf(marked: readonly Marked[]): RegExp {
  return new RegExp(marked.map(({ mark }) => `${mark}(\\d{1,7})${END}`).join('|') || '(?!)', 'g');
}

function valueIn(groups: readonly unknown[], marked: readonly Marked[]): unknown {
  for (const [index, source] of marked.entries()) {
    const number = groups[index];
    if (typeof number === 'string') return source.at(Number(number));
  }
  return undefined;
}
