import type { Clock } from '../../kernel/clock.ts';
import type { Store } from '../../store/store.ts';
import { acceptTools, listAcceptedTools } from '../../store/tables/servers.ts';
import { digestOf, snapshotOf, type ToolSnapshot } from '../tool/pinned-tools.ts';
import type { RemoteTool } from '../tool/remote-tool.ts';
import { formatServerRef, type ServerRef } from './definition.ts';

/** What people have accepted of each registered server's tools; kept in the store, and read when it is another (field-reports 2.22). */
export interface AcceptedTools {
  /** By the server's own names; another map after every change. `undefined` before it was read, and for a server of which nothing was accepted. */
  of(ref: ServerRef): ReadonlyMap<string, ToolSnapshot> | undefined;
  /** Reads it again. */
  read(ref: ServerRef): Promise<void>;
  /**
   * Takes tools for accepted as they are. Who adds a server accepts what it offers then, so the first list is accepted by itself, once:
   * `onlyFirst` does nothing where something was accepted before.
   */
  accept(
    ref: ServerRef,
    tools: readonly RemoteTool[],
    options: { readonly by: string; readonly onlyFirst: boolean },
  ): Promise<void>;
  forget(ref: ServerRef): void;
}

export function createAcceptedTools({
  store,
  clock,
}: {
  readonly store: Store;
  readonly clock: Pick<Clock, 'now'>;
}): AcceptedTools {
  const known = new Map<string, ReadonlyMap<string, ToolSnapshot>>();
  const placeOf = ({ scope, name }: ServerRef) => ({ instance: scope, name });

  async function read(ref: ServerRef): Promise<void> {
    const rows = await listAcceptedTools(store.db, placeOf(ref));
    const key = formatServerRef(ref);
    if (rows.length === 0) known.delete(key);
    else known.set(key, new Map(rows.map(({ tool, snapshot }) => [tool, snapshot as ToolSnapshot])));
  }

  return {
    of: ref => known.get(formatServerRef(ref)),
    read,
    async accept(ref, tools, { by, onlyFirst }) {
      const acceptedAt = clock.now();
      const rows = tools.map(tool => {
        const snapshot = snapshotOf(tool);
        return { tool: tool.name, digest: digestOf(snapshot), snapshot, acceptedBy: by, acceptedAt };
      });
      await store.commit(async db => {
        if (onlyFirst && (await listAcceptedTools(db, placeOf(ref))).length > 0) return;
        await acceptTools(db, placeOf(ref), rows);
      });
      await read(ref);
    },
    forget: ref => void known.delete(formatServerRef(ref)),
  };
}
