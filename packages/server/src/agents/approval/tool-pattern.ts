import { closestName } from '../../kernel/closest-name.ts';
import { matchesWildcard } from '../../kernel/wildcard.ts';

/** Where tools of agents come from. */
const SOURCES = ['builtin', 'http', 'mcp', 'a2a', 'dynamic', 'memory', 'recall'] as const;

export type ToolSource = (typeof SOURCES)[number];

/** A tool as patterns see it. */
export interface NamedTool {
  readonly source: ToolSource;
  /** As models call it. */
  readonly exposedName: string;
  /** As its server, or its document, calls it. */
  readonly name: string;
  /** What an HTTP call requests, as its document has it. */
  readonly http?: { readonly method: string; readonly path: string } | undefined;
}

/** Which tools a line of a policy means (platform.md 5.2). */
export interface ToolPattern {
  readonly text: string;
  /** By either name. */
  fits(tool: NamedTool): boolean;
  /** By the name it is exposed under, where that tells it from the same one of another server. */
  fitsExposed(tool: NamedTool): boolean;
  /** How much of a tool it says, the more the larger: a request, a source, a name; then characters that are no `*`. */
  readonly precision: number;
}

const MAX_LENGTH = 256;
const ALLOWED = /^[A-Za-z0-9_\-.:*/{}]+$/;
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const HTTP = 'http.';

/** What is wrong with a pattern, as a phrase; `undefined` for a right one. */
export function patternProblem(text: string): string | undefined {
  if (text.length > MAX_LENGTH) return `must have at most ${MAX_LENGTH} characters`;
  if (!ALLOWED.test(text)) return 'must have letters, digits and the characters _ - . : * / { } only';
  if (text.startsWith(':') || text.endsWith(':')) return 'must not begin or end with ":"';
  const { source, rest } = partsOf(text);
  if (source === undefined) return undefined;
  if (!source.startsWith(HTTP)) return isSource(source) ? undefined : unknownSource(source);
  const method = source.slice(HTTP.length);
  if (!method.includes('*') && !METHODS.includes(method.toUpperCase()))
    return `names the method "${method}"; there are ${METHODS.join(', ')}`;
  return /^[/*]/.test(rest) ? undefined : 'must give a path that begins with "/" behind http.<method>:';
}

/** Prepares a pattern that has no problem. */
export function compilePattern(text: string): ToolPattern {
  const { source, rest } = partsOf(text);
  const letters = text.replaceAll('*', '').length;
  if (source?.startsWith(HTTP)) {
    const method = source.slice(HTTP.length).toUpperCase();
    const fits = ({ source: from, http }: NamedTool) =>
      from === 'http' &&
      http !== undefined &&
      matchesWildcard(method, http.method.toUpperCase()) &&
      matchesWildcard(rest, http.path);
    return { text, fits, fitsExposed: fits, precision: 2 * (MAX_LENGTH + 1) + letters };
  }
  const isFrom = (tool: NamedTool) => source === undefined || tool.source === source;
  return {
    text,
    fits: tool => isFrom(tool) && [tool.exposedName, tool.name].some(name => matchesWildcard(rest, name)),
    fitsExposed: tool => isFrom(tool) && matchesWildcard(rest, tool.exposedName),
    precision: (source === undefined ? 0 : MAX_LENGTH + 1) + letters,
  };
}

/** The most precise of the patterns that fit, of equal ones the first. */
export function mostPrecise<T extends { readonly pattern: ToolPattern }>(
  lines: readonly T[],
  tool: NamedTool,
): T | undefined {
  return lines
    .filter(({ pattern }) => pattern.fits(tool))
    .toSorted((one, other) => other.pattern.precision - one.pattern.precision)[0];
}

function partsOf(text: string): { readonly source: string | undefined; readonly rest: string } {
  const at = text.indexOf(':');
  return at < 0 ? { source: undefined, rest: text } : { source: text.slice(0, at), rest: text.slice(at + 1) };
}

function isSource(word: string): word is ToolSource {
  return SOURCES.some(source => source === word);
}

function unknownSource(word: string): string {
  const near = closestName(word, SOURCES);
  const meant = near === undefined ? `there are ${SOURCES.join(', ')}` : `did you mean "${near}:"`;
  return `names the unknown source "${word}"; ${meant}`;
}
