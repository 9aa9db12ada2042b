import type { ServerDefinition } from '../server/definition.ts';

export interface SelectedTools<T> {
  readonly tools: readonly T[];
  /** Names in `only` that the server does not have: worth a warning, since it offers less than somebody wanted. */
  readonly missing: readonly string[];
}

/** The tools that a definition offers: `only` first, then `except`, both with the server's own names (W-23 to W-25, E-87). */
export function selectTools<T extends { readonly name: string }>(
  tools: readonly T[],
  { only, except }: Pick<ServerDefinition, 'only' | 'except'>,
): SelectedTools<T> {
  const wanted = only && new Set(only);
  const unwanted = new Set(except);
  const listed = new Set(tools.map(({ name }) => name));
  return {
    tools: tools.filter(({ name }) => (wanted?.has(name) ?? true) && !unwanted.has(name)),
    missing: [...(wanted ?? [])].filter(name => !listed.has(name)),
  };
}
