import { sha256OfJson } from '../../kernel/digest.ts';
import type { ServerDefinition } from '../server/definition.ts';
import { type Difference, differencesBetween } from './differences.ts';
import type { RemoteTool } from './remote-tool.ts';

/** What a person accepts when a tool is accepted: all that a model or a policy goes by. */
export type ToolSnapshot = Pick<
  RemoteTool,
  'name' | 'title' | 'description' | 'inputSchema' | 'outputSchema' | 'annotations'
>;

/** How the tools of a server are no longer those that a person accepted. */
export type ToolChange =
  | { readonly kind: 'added'; readonly name: string }
  | { readonly kind: 'removed'; readonly name: string }
  | { readonly kind: 'changed'; readonly name: string; readonly differences: readonly Difference[] }
  /** The same tool in all but its name, which is what people and policies know it by. */
  | { readonly kind: 'renamed'; readonly name: string; readonly before: string };

/** Of what is read of a tool, what is accepted; plain JSON. */
export function snapshotOf({ _meta, ...accepted }: RemoteTool): ToolSnapshot {
  return accepted;
}

/** SHA-256 in hex of what is accepted of a tool, whatever the order of the members of its schemas. */
export function digestOf(tool: ToolSnapshot): string {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  return sha256OfJson({ name, title, description, inputSchema, outputSchema, annotations });
}

/**
 * How the tools of a server differ from those a person accepted, by name (field-reports 2.22, attack 37). A tool that came under a new name
 * is `renamed` and neither added nor removed. Changes stand in the order of the tools, what is gone at the end.
 */
export function compareWithAccepted(
  accepted: ReadonlyMap<string, ToolSnapshot>,
  tools: readonly ToolSnapshot[],
): readonly ToolChange[] {
  const names = new Set(tools.map(({ name }) => name));
  const gone = [...accepted.values()].filter(({ name }) => !names.has(name));
  const goneByDigest = Map.groupBy(gone, namelessDigest);
  const renamed = new Set<string>();
  const changes = tools.flatMap((tool): ToolChange[] => {
    const { name } = tool;
    const before = accepted.get(name);
    if (before) {
      if (digestOf(before) === digestOf(tool)) return [];
      return [{ kind: 'changed', name, differences: differencesBetween(before, tool) }];
    }
    const former = goneByDigest.get(namelessDigest(tool))?.shift();
    if (!former) return [{ kind: 'added', name }];
    renamed.add(former.name);
    return [{ kind: 'renamed', name, before: former.name }];
  });
  const removed = gone.filter(({ name }) => !renamed.has(name));
  return [...changes, ...removed.map(({ name }): ToolChange => ({ kind: 'removed', name }))];
}

function namelessDigest(tool: ToolSnapshot): string {
  return digestOf({ ...tool, name: '' });
}

/** The tools that are not offered until a person accepts them as they are now: those nobody has accepted so, where the definition holds them. */
export function heldTools(
  changes: readonly ToolChange[],
  changedTools: ServerDefinition['changedTools'],
): ReadonlySet<string> {
  if (changedTools === 'report') return new Set();
  return new Set(changes.filter(({ kind }) => kind !== 'removed').map(({ name }) => name));
}
