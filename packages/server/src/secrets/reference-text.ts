// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${vault:key} are the product's own syntax
import { PlatformError } from '../kernel/errors.ts';
import { randomBase32 } from '../kernel/ids.ts';

/** What a text of the configuration refers to. */
export type Reference =
  | { readonly kind: 'vault'; readonly name: string }
  | { readonly kind: 'vars'; readonly name: string }
  | { readonly kind: 'environment'; readonly name: string; readonly fallback: string }
  | { readonly kind: 'caller'; readonly what: 'token' | 'userId' }
  /** `$${` is how a text says `${` and means it. */
  | { readonly kind: 'literal'; readonly text: string };

/**
 * A text of the configuration with its references found. A template is rendered on `text`, where marks stand for the references;
 * the marks are secret, so that nothing a template puts in can be one. Only `source` is to be shown.
 */
export interface CompiledText {
  readonly source: string;
  readonly text: string;
  readonly references: readonly Reference[];
  /** Begins each mark of this text. */
  readonly mark: string;
}

const MAX_REFERENCES = 100;
const MAX_SHOWN = 100;
const NAME = /^[a-zA-Z0-9._-]{1,128}$/;
/** Upper case, as variables of an environment are written, and nothing that is written otherwise. */
const VARIABLE = /^[A-Z_][A-Z0-9_]*$/;

/** Kinds that name something of ours; `eddivault` is the older word for `vault`. */
const KINDS = ['vault', 'eddivault', 'vars', 'caller', 'connection'] as const;
const KIND_WORDS = KINDS.join('|');

const BEGINS = /\$?\$\{/g;
/** `{vault:key}` without the dollar. */
const BARE = new RegExp(`(?<!\\$)\\{(?:${KIND_WORDS}):[^{}\\s]*\\}`, 'i');
const IN_DATA = new RegExp(`\\$\\{\\s*(?:${KIND_WORDS})\\s*[:./]`, 'i');

/**
 * Is there what looks like a reference to a secret, a variable, the caller or a connection? Said of text that did not come from the
 * configuration: it is never resolved, and a call that would carry it out is refused (platform.md 3.5).
 */
export function containsReference(text: string): boolean {
  return text.includes('${') && IN_DATA.test(text);
}

/**
 * Finds the references of a text when its agent is deployed. Throws a `PlatformError` of kind `invalid` that names the remedy for
 * what is malformed, misspelled, nested, or a variable of the environment that `mayRead` does not allow.
 */
export function compileText(source: string, mayRead: (variable: string) => boolean): CompiledText {
  const bare = BARE.exec(source);
  if (bare) throw wrong(bare[0], `a reference begins with a dollar; write $${bare[0]}`);
  const mark = `\uE000${randomBase32(26)}:`;
  const references: Reference[] = [];
  let text = '';
  let done = 0;
  for (const { 0: opening, index } of source.matchAll(BEGINS)) {
    if (index < done) continue;
    const start = index + opening.length;
    const found = opening === '$${' ? literal : referenceAt(source, index, start, mayRead);
    if (!found) continue;
    refuseInsideTag(source, index, source.slice(index, found.end ?? start));
    if (references.length === MAX_REFERENCES) throw tooMany();
    text += `${source.slice(done, index)}${mark}${references.length}\uE001`;
    references.push(found.reference);
    done = found.end ?? start;
  }
  return { source, text: text + source.slice(done), references, mark };
}

interface Found {
  readonly reference: Reference;
  /** Behind its closing brace; `undefined` where there is none. */
  readonly end?: number;
}

const literal: Found = { reference: { kind: 'literal', text: '${' } };

/** `undefined` for what is another language's, such as `${amount}`. */
function referenceAt(
  source: string,
  index: number,
  start: number,
  mayRead: (variable: string) => boolean,
): Found | undefined {
  const word = /^\s*([A-Za-z_][A-Za-z0-9_-]*)\s*([:.}/\s]|$)/.exec(source.slice(start, start + 200));
  if (!word) return undefined;
  const [, kind = '', next] = word;
  const isOurs = KINDS.some(known => known === kind.toLowerCase());
  if (!isOurs && next !== ':' && !(next === '}' && VARIABLE.test(kind) && mayRead(kind))) return undefined;
  const closing = source.indexOf('}', start);
  if (closing < 0) throw wrong(source.slice(index), 'it has no closing brace');
  const shown = source.slice(index, closing + 1);
  const inside = source.slice(start, closing);
  if (/\{/.test(inside)) throw wrong(shown, 'references and templates do not stand inside a reference');
  const reference = parse(shown, inside, mayRead);
  return { reference, end: closing + 1 };
}

function parse(shown: string, inside: string, mayRead: (variable: string) => boolean): Reference {
  const colon = inside.indexOf(':');
  const kind = colon < 0 ? inside : inside.slice(0, colon);
  const rest = colon < 0 ? undefined : inside.slice(colon + 1);
  switch (kind) {
    case 'vault':
    case 'eddivault':
      return { kind: 'vault', name: nameIn(shown, 'vault', rest) };
    case 'vars':
      return { kind: 'vars', name: nameIn(shown, 'vars', rest) };
    case 'caller':
      if (rest === 'token' || rest === 'userId') return { kind: 'caller', what: rest };
      throw wrong(shown, 'of the caller there is ${caller:token} and ${caller:userId}');
    case 'connection':
      throw wrong(
        shown,
        'a connection cannot be referred to here; store the credential and write ${vault:name}',
      );
    default:
      return parseVariable(shown, kind, rest, mayRead);
  }
}

function nameIn(shown: string, kind: 'vault' | 'vars', rest: string | undefined): string {
  const example = `\${${kind}:name}`;
  if (rest === undefined) throw wrong(shown, `a colon and a name are missing; write ${example}`);
  const [, tenant, name = ''] = /^(?:([^/]*)\/)?(.*)$/s.exec(rest)!;
  if (tenant !== undefined && tenant !== 'default') {
    throw wrong(shown, `there is one tenant, default; write ${example}`);
  }
  if (NAME.test(name)) return name;
  throw wrong(
    shown,
    `a name has 1 to 128 characters of letters, digits, ".", "_" and "-", and no spaces around it; write ${example}`,
  );
}

function parseVariable(
  shown: string,
  name: string,
  fallback: string | undefined,
  mayRead: (variable: string) => boolean,
): Reference {
  const meant = KINDS.find(kind => kind === name.trim().toLowerCase());
  if (meant) throw wrong(shown, `it is spelled \${${meant}:...}, in small letters and without spaces`);
  if (!VARIABLE.test(name)) {
    throw wrong(
      shown,
      'there is no such reference; write ${vault:name}, ${vars:name} or ${NAME:default}, or $${ where the text itself says ${',
    );
  }
  if (!mayRead(name)) {
    throw wrong(
      shown,
      `configuration may not read the variable ${name} of the environment; name it PATCHBAY_REF_${name}, or allow it with PATCHBAY_REFERENCES_ENVIRONMENT, or write $\${ where the text itself says \${`,
    );
  }
  if (fallback !== undefined) return { kind: 'environment', name, fallback };
  throw wrong(shown, `a colon is missing; write \${${name}:} or \${${name}:default}`);
}

/** Filters and conditions would work on the mark, not on the value. */
function refuseInsideTag(source: string, index: number, shown: string): void {
  const before = source.slice(0, index);
  for (const [opening, closing] of [
    ['{{', '}}'],
    ['{%', '%}'],
  ] as const) {
    if (before.lastIndexOf(opening) > before.lastIndexOf(closing)) {
      throw wrong(shown, `a reference does not stand inside ${opening} ${closing}; write it beside`);
    }
  }
}

function tooMany(): PlatformError {
  return new PlatformError('invalid', `A text has at most ${MAX_REFERENCES} references.`);
}

function wrong(shown: string, why: string): PlatformError {
  const cut = shown.length > MAX_SHOWN ? `${shown.slice(0, MAX_SHOWN)}...` : shown;
  return new PlatformError('invalid', `${cut}: ${why}.`);
}
