import { type QuarantinedTool, type RemoteTool, readTools } from '../tool/remote-tool.ts';
import { selectTools } from '../tool/select-tools.ts';
import type { ServerDefinition } from './definition.ts';

/** The tools of a server as a definition has them. */
export interface ServerView {
  /** Those that agents get, by the server's own names. */
  readonly offered: ReadonlyMap<string, RemoteTool>;
  /** All that can be used, also those the definition leaves out. */
  readonly known: ReadonlyMap<string, RemoteTool>;
  readonly quarantined: readonly QuarantinedTool[];
  /** Names in `only` that the server does not have. */
  readonly missing: readonly string[];
  /** Why there is no such tool, as a phrase. */
  whyNot(tool: string): string;
}

/** Makes the view of a list as it came from the server. */
export function viewOf(
  definition: ServerDefinition,
  listed: readonly unknown[],
  { mirrorsArguments }: { readonly mirrorsArguments: boolean },
): ServerView {
  const { tools, quarantined } = readTools(listed, { mirrorsArguments });
  const { tools: selected, missing } = selectTools(tools, definition);
  const known = byName(tools);
  const offered = byName(selected);
  return {
    ...{ offered, known, quarantined, missing },
    whyNot(tool) {
      if (known.has(tool)) return `the tool "${tool}" is left out by the definition of the server`;
      const set = quarantined.find(({ name }) => name === tool);
      return set ? `the tool "${tool}" is not used: ${set.reason}` : `the server has no tool "${tool}"`;
    },
  };
}

function byName(tools: readonly RemoteTool[]): ReadonlyMap<string, RemoteTool> {
  return new Map(tools.map(tool => [tool.name, tool]));
}
