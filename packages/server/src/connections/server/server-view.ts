import type { Difference } from '../tool/differences.ts';
import { missingFrom } from '../tool/expected-tools.ts';
import {
  compareWithAccepted,
  heldTools,
  snapshotOf,
  type ToolChange,
  type ToolSnapshot,
} from '../tool/pinned-tools.ts';
import { type QuarantinedTool, type RemoteTool, readTools } from '../tool/remote-tool.ts';
import { selectTools } from '../tool/select-tools.ts';
import type { ServerDefinition } from './definition.ts';

/** The tools of a server as a definition has them. */
export interface ServerView {
  /** Those that agents get, by the server's own names. */
  readonly offered: ReadonlyMap<string, RemoteTool>;
  /** All that can be used, also those that agents do not get. */
  readonly known: ReadonlyMap<string, RemoteTool>;
  readonly quarantined: readonly QuarantinedTool[];
  /** How the tools are no longer what a person accepted, by name. */
  readonly changes: ReadonlyMap<string, ToolChange>;
  /** Those of them that are held back. */
  readonly held: ReadonlySet<string>;
  /** What is counted on and not there, a sentence each. */
  readonly shortcomings: readonly string[];
  /** Why agents do not get a tool, as a phrase. */
  whyNot(tool: string): string;
}

/** Makes the view of a list as it came from the server. Without what was accepted nothing counts as changed. */
export function viewOf(
  definition: ServerDefinition,
  listed: readonly unknown[],
  options: {
    readonly mirrorsArguments: boolean;
    readonly accepted: ReadonlyMap<string, ToolSnapshot> | undefined;
  },
): ServerView {
  const { tools, quarantined } = readTools(listed, options);
  const { tools: selected, missing } = selectTools(tools, definition);
  const changes = options.accepted ? compareWithAccepted(options.accepted, tools.map(snapshotOf)) : [];
  const held = heldTools(changes, definition.changedTools);
  const known = byName(tools);
  const offered = byName(selected.filter(({ name }) => !held.has(name)));
  return {
    ...{ offered, known, quarantined, held },
    changes: new Map(changes.map(change => [change.name, change])),
    shortcomings: [
      ...missing.map(name => `"only" names the tool "${name}", which the server does not have.`),
      ...missingFrom(tools, definition.expect),
    ],
    whyNot(tool) {
      if (held.has(tool))
        return `the tool "${tool}" is not what a person accepted, and is held back until somebody accepts it`;
      if (known.has(tool)) return `the tool "${tool}" is left out by the definition of the server`;
      const set = quarantined.find(({ name }) => name === tool);
      return set ? `the tool "${tool}" is not used: ${set.reason}` : `the server has no tool "${tool}"`;
    },
  };
}

/** A change as lines for people. */
export function changeLines(change: ToolChange): readonly string[] {
  switch (change.kind) {
    case 'added':
      return ['It was not there when the tools were accepted.'];
    case 'removed':
      return ['The server no longer has it.'];
    case 'renamed':
      return [`It was called "${change.before}" when it was accepted.`];
    case 'changed':
      return change.differences.map(differenceLine);
  }
}

function differenceLine({ path, before, after }: Difference): string {
  if (before === undefined) return `${path}: added ${after}`;
  return after === undefined ? `${path}: removed ${before}` : `${path}: was ${before}, is ${after}`;
}

function byName(tools: readonly RemoteTool[]): ReadonlyMap<string, RemoteTool> {
  return new Map(tools.map(tool => [tool.name, tool]));
}
