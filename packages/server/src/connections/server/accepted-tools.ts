import type { Clock } from '../../kernel/clock.ts';
import type { Store } from '../../store/store.ts';
import { acceptTools, deleteAcceptedTools, listAcceptedTools } from '../../store/tables/servers.ts';
import { digestOf, snapshotOf, type ToolSnapshot } from '../tool/pinned-tools.ts';
import type { RemoteTool } from '../tool/remote-tool.ts';
import { formatServerRef, type ServerRef } from './definition.ts';

/** What people have accepted of each registered server's tools; kept in the store, and read when it is another (field-reports 2.22). */
export interface AcceptedTools {
  /** By the server's own names; another map after every change. `undefined` while it is not known what was accepted, or that nothing was. */
  of(ref: ServerRef): ReadonlyMap<string, ToolSnapshot> | undefined;
  /** Reads it again. Not known any more when this rejects. */
  read(ref: ServerRef): Promise<void>;
  /** Who adds a server accepts what it offers then: takes these tools for accepted where nothing was before, on whichever node. */
  first(ref: ServerRef, tools: readonly RemoteTool[]): Promise<void>;
  /** Takes tools for accepted as they are, in the place of what was accepted under their names before, or of all that was where these are all. */
  accept(
    ref: ServerRef,
    tools: readonly RemoteTool[],
    options: { readonly by: string; readonly areAll: boolean },
  ): Promise<void>;
  forget(ref: ServerRef): void;
}

/** Who has accepted what a server offered when it was first connected. */
const FIRST_LIST = 'first list';

export function createAcceptedTools({
  store,
  clock,
}: {
  readonly store: Store;
  readonly clock: Pick<Clock, 'now'>;
}): AcceptedTools {
  const known = new Map<string, ReadonlyMap<string, ToolSnapshot>>();
  const placeOf = ({ scope, name }: ServerRef) => ({ instance: scope, name });

  /** Servers of which something was accepted: where it is gone, so is the server, and the news of that is on its way. */
  const begun = new Set<string>();
  /** By server: the read that began last. What an earlier one finds is older, and ends with that one. */
  const reads = new Map<string, Promise<void>>();

  async function rowsOf(ref: ServerRef): Promise<ReadonlyMap<string, ToolSnapshot>> {
    const rows = await listAcceptedTools(store.db, placeOf(ref));
    return new Map(rows.map(({ tool, snapshot }) => [tool, snapshot as ToolSnapshot]));
  }

  function read(ref: ServerRef): Promise<void> {
    const key = formatServerRef(ref);
    const isLatest = () => reads.get(key) === reading;
    const reading: Promise<void> = rowsOf(ref).then(
      found => {
        if (!isLatest()) return reads.get(key);
        reads.delete(key);
        known.set(key, found);
        if (found.size > 0) begun.add(key);
      },
      error => {
        if (!isLatest()) return reads.get(key);
        reads.delete(key);
        known.delete(key);
        throw error;
      },
    );
    reads.set(key, reading);
    return reading;
  }

  async function write(
    ref: ServerRef,
    tools: readonly RemoteTool[],
    by: string,
    replaces: 'all' | 'same' | 'nothing',
  ): Promise<void> {
    const acceptedAt = clock.now();
    const rows = tools.map(tool => {
      const snapshot = snapshotOf(tool);
      return { tool: tool.name, digest: digestOf(snapshot), snapshot, acceptedBy: by, acceptedAt };
    });
    await store.commit(async db => {
      if (replaces === 'nothing' && (await listAcceptedTools(db, placeOf(ref))).length > 0) return;
      if (replaces === 'all') await deleteAcceptedTools(db, placeOf(ref));
      await acceptTools(db, placeOf(ref), rows, { replace: replaces !== 'nothing' });
    });
    await read(ref);
  }

  return {
    of: ref => known.get(formatServerRef(ref)),
    read,
    async first(ref, tools) {
      const key = formatServerRef(ref);
      if (tools.length > 0 && !begun.has(key)) await write(ref, tools, FIRST_LIST, 'nothing');
      else if (!known.has(key)) await read(ref);
    },
    accept: (ref, tools, { by, areAll }) =>
      // Where nothing is accepted, whatever comes next would be a first list.
      write(ref, tools, by, areAll && tools.length > 0 ? 'all' : 'same'),
    forget(ref) {
      for (const kept of [known, reads, begun]) kept.delete(formatServerRef(ref));
    },
  };
}
