import { matchesWildcard } from '../../kernel/wildcard.ts';
import type { ServerDefinition } from '../server/definition.ts';

/** What the gate of a server goes by of a tool. */
export interface GatedTool {
  /** The server's own name of it. */
  readonly name: string;
  /** It says that it only reads, and is believed. */
  readonly onlyReads: boolean;
  /** It was not there, under this name, when the tools of the server were accepted. */
  readonly cameLater: boolean;
}

/**
 * Why a person must approve calls of a tool, as a phrase; `undefined` where the definition of its server lets them through (W-35 to W-38). A tool
 * without a word about reading is like one that writes. Who wrote a list of names could not name what came later: no new name gets
 * around it (field-reports 2.22).
 */
export function whyGated(
  { gated, prefix }: Pick<ServerDefinition, 'gated' | 'prefix'>,
  { name, onlyReads, cameLater }: GatedTool,
): string | undefined {
  switch (gated) {
    case 'none':
      return undefined;
    case 'all':
      return 'the definition of its server asks for that for every tool';
    case 'not-read-only':
      return onlyReads ? undefined : 'it does not say that it only reads, or did not when it was accepted';
    default:
      if (gated.some(pattern => namesTool(pattern, name, prefix)))
        return '"gated" in the definition of its server names it';
      return cameLater ? 'it was not there when the tools of its server were accepted' : undefined;
  }
}

/** Names of the list that are no pattern and name no tool of the server: a slip of the pen there opens a gate. */
export function gatedButMissing(
  { gated, prefix }: Pick<ServerDefinition, 'gated' | 'prefix'>,
  tools: ReadonlyMap<string, unknown>,
): readonly string[] {
  if (typeof gated === 'string') return [];
  const names = [...tools.keys()];
  return gated.filter(
    pattern => !pattern.includes('*') && !names.some(name => namesTool(pattern, name, prefix)),
  );
}

/** By the server's own name, or as agents have it (W-39). */
function namesTool(pattern: string, name: string, prefix: string): boolean {
  return matchesWildcard(pattern, name) || (prefix !== '' && matchesWildcard(pattern, `${prefix}__${name}`));
}
