import { believedAnnotations, type ToolAnnotations } from '../tool/annotations.ts';
import type { Difference } from '../tool/differences.ts';
import { missingFrom } from '../tool/expected-tools.ts';
import { gatedButMissing } from '../tool/gate.ts';
import {
  compareWithAccepted,
  heldTools,
  snapshotOf,
  type ToolChange,
  type ToolSnapshot,
} from '../tool/pinned-tools.ts';
import { type QuarantinedTool, type ReadTools, type RemoteTool, readTools } from '../tool/remote-tool.ts';
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
  /** What policies go by: what a server says later opens no gate by itself (attack 37). */
  standing(tool: RemoteTool): ToolStanding;
  /** Why agents do not get a tool, as a phrase. */
  whyNot(tool: string): string;
}

/** How far the server is believed about a tool. */
export interface ToolStanding {
  readonly annotations: ToolAnnotations;
  /** It was not there, under this name, when the tools of the server were accepted. */
  readonly cameLater: boolean;
}

/** A list as a server sent it, and what goes with it. */
export interface ToolList {
  readonly tools: readonly unknown[];
  readonly mirrorsArguments: boolean;
  /** `undefined` where nobody knows. */
  readonly accepted: Accepted | undefined;
}

type Accepted = ReadonlyMap<string, ToolSnapshot>;

const NOTHING: Accepted = new Map();

/**
 * Makes the view of a list for a definition. Where nothing was accepted, or nobody knows what, nothing counts as changed; a definition that
 * holds changed tools back holds all of them then. A list is read once and compared once, however many definitions have a view of it:
 * thousands of tools take a tenth of a second.
 */
export function createViews(): (definition: ServerDefinition, list: ToolList) => ServerView {
  const lists = new WeakMap<readonly unknown[], ReadList>();
  return (definition, { tools, mirrorsArguments, accepted = NOTHING }) => {
    let list = lists.get(tools);
    if (!list) {
      list = { ...readTools(tools, { mirrorsArguments }), comparisons: new WeakMap() };
      lists.set(tools, list);
    }
    let comparison = list.comparisons.get(accepted);
    if (!comparison) {
      const changes = accepted.size > 0 ? compareWithAccepted(accepted, list.tools.map(snapshotOf)) : [];
      comparison = { accepted, changes, views: new WeakMap() };
      list.comparisons.set(accepted, comparison);
    }
    let view = comparison.views.get(definition);
    if (!view) {
      view = viewOf(definition, list, comparison);
      comparison.views.set(definition, view);
    }
    return view;
  };
}

interface ReadList extends ReadTools {
  readonly comparisons: WeakMap<Accepted, Comparison>;
}

interface Comparison {
  readonly accepted: Accepted;
  readonly changes: readonly ToolChange[];
  readonly views: WeakMap<ServerDefinition, ServerView>;
}

function viewOf(
  definition: ServerDefinition,
  { tools, quarantined }: ReadTools,
  { accepted, changes }: Comparison,
): ServerView {
  const { tools: selected, missing } = selectTools(tools, definition);
  const known = byName(tools);
  const isClosed = accepted.size === 0 && definition.changedTools === 'hold';
  const held = isClosed ? new Set(known.keys()) : heldTools(changes, definition.changedTools);
  const offered = byName(selected.filter(({ name }) => !held.has(name)));
  return {
    ...{ offered, known, quarantined, held },
    changes: new Map(changes.map(change => [change.name, change])),
    shortcomings: [
      ...missing.map(name => `"only" names the tool "${name}", which the server does not have.`),
      ...gatedButMissing(definition, known).map(
        name => `"gated" names the tool "${name}", which the server does not have.`,
      ),
      ...missingFrom(tools, definition.expect),
    ],
    standing: tool => ({
      annotations: believedAnnotations(tool, accepted.get(tool.name)),
      cameLater: accepted.size > 0 && !accepted.has(tool.name),
    }),
    whyNot(tool) {
      if (isClosed)
        return 'it is not known what a person accepted of this server, so none of its tools is offered';
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
