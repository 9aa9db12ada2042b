import { canonicalJson, isObject } from '../../kernel/json.ts';
import { cut } from './govern-text.ts';
import { withHiddenShown } from './hidden-text.ts';

/** One place where two values differ. Texts are for people: what cannot be seen is spelled out, and long ones are cut. */
export interface Difference {
  /** JSON pointer, such as `/inputSchema/properties/path/type`. */
  readonly path: string;
  /** Not there where there was nothing. */
  readonly before?: string;
  /** Not there where there is nothing any more. */
  readonly after?: string;
}

const MAX_DIFFERENCES = 100;
const MAX_SHOWN = 2_000;
/** Characters in front of the place where two long texts differ. */
const BEFORE = 100;

/** Where two JSON values differ, at most 100 places; a text is shown as it is, anything else as JSON. The values must be bounded in depth. */
export function differencesBetween(before: object, after: object): readonly Difference[] {
  const found: Difference[] = [];
  collect('', before, after, found);
  return found;
}

function collect(path: string, before: unknown, after: unknown, found: Difference[]): void {
  if (found.length === MAX_DIFFERENCES) return;
  const areBoth = (is: (value: unknown) => boolean) => is(before) && is(after);
  if (areBoth(isObject) || areBoth(Array.isArray)) {
    const [one, other] = [before as Record<string, unknown>, after as Record<string, unknown>];
    for (const key of new Set([...Object.keys(one), ...Object.keys(other)])) {
      collect(`${path}/${withHiddenShown(escaped(key))}`, own(one, key), own(other, key), found);
    }
  } else if (canonicalJson(before) !== canonicalJson(after)) {
    const [one, other] = [textOf(before), textOf(after)];
    const from = whereTheyDiffer(one ?? '', other ?? '');
    found.push({
      path: cut(path, MAX_SHOWN),
      ...(one !== undefined && { before: shown(one, from) }),
      ...(other !== undefined && { after: shown(other, from) }),
    });
  }
}

function own(value: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

function escaped(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' || value === undefined ? value : canonicalJson(value);
}

function whereTheyDiffer(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  return at;
}

/** As much of a text as a person reads, with the place `at` in it. */
function shown(text: string, at: number): string {
  const from = at < MAX_SHOWN / 2 ? 0 : at - BEFORE;
  const part = withHiddenShown(text.slice(from, from + MAX_SHOWN + 1));
  return cut(from === 0 ? part : `…${part}`, MAX_SHOWN);
}
