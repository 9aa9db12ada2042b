import type { Clock } from '../../kernel/clock.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { Store } from '../../store/store.ts';
import { findKeptTools, type KeptTool, replaceKeptTools } from '../../store/tables/kept-tools.ts';
import { digestOf } from '../tool/pinned-tools.ts';
import type { RemoteTool } from '../tool/remote-tool.ts';
import { formatServerRef, type ServerRef } from './definition.ts';

/** A tool that nobody's list has had for so long is gone. */
const KEPT_FOR_MS = 7 * 86_400_000;
/** That a tool is still seen is written down so often. */
const SEEN_STEP_MS = 86_400_000;
/** Those of a server, and all of them as JSON. */
const MAX_TOOLS = 2_000;
const MAX_CHARS = 4 * 1024 * 1024;

/**
 * The tools of servers that each person reaches by themselves, for whoever has not connected (W-83). What a person's own list has is added, and takes
 * the place of what was there; what it does not have stays, as somebody else may have it, until nobody has seen it for a week.
 */
export interface KeptTools {
  /** The same value until they are others; `undefined` as long as nobody has connected. */
  of(ref: ServerRef): readonly RemoteTool[] | undefined;
  /** Reads them again. */
  read(ref: ServerRef): Promise<void>;
  /** Notes what a person's list has. Does not reject: in memory they are there all the same (W-86). */
  keep(ref: ServerRef, tools: readonly RemoteTool[]): Promise<void>;
  forget(ref: ServerRef): void;
}

interface Known {
  readonly rows: readonly KeptTool[];
  readonly tools: readonly RemoteTool[];
  readonly digest: string;
}

export function createKeptTools(deps: {
  readonly store: Store;
  readonly clock: Pick<Clock, 'now'>;
  readonly logger: Logger;
}): KeptTools {
  const { store, clock, logger } = deps;
  const known = new Map<string, Known>();
  const placeOf = ({ scope, name }: ServerRef) => ({ instance: scope, name });

  function remember(ref: ServerRef, rows: readonly KeptTool[]): void {
    const key = formatServerRef(ref);
    const tools = rows.map(({ tool }) => tool as RemoteTool);
    const digest = JSON.stringify(tools.map(digestOf));
    const before = known.get(key);
    known.set(key, { rows, digest, tools: before?.digest === digest ? before.tools : tools });
  }

  /** `undefined` where there is nothing to write. */
  function merged(
    before: readonly KeptTool[],
    listed: readonly RemoteTool[],
  ): readonly KeptTool[] | undefined {
    const now = clock.now();
    const seen = new Map(listed.map(tool => [tool.name, tool]));
    const others = before.filter(
      ({ tool, seenAt }) => !seen.has((tool as RemoteTool).name) && seenAt > now - KEPT_FOR_MS,
    );
    const earlier = new Map(before.map(row => [(row.tool as RemoteTool).name, row]));
    let changed = others.length + listed.length !== before.length;
    const rows = listed.map((tool): KeptTool => {
      const row = earlier.get(tool.name);
      const same = row && digestOf(row.tool as RemoteTool) === digestOf(tool);
      if (same && row.seenAt > now - SEEN_STEP_MS) return row;
      changed = true;
      return { tool, seenAt: now };
    });
    return changed ? bounded([...rows, ...others]) : undefined;
  }

  return {
    of: ref => known.get(formatServerRef(ref))?.tools,

    async read(ref) {
      const rows = await findKeptTools(store.db, placeOf(ref));
      if (rows) remember(ref, rows);
      else known.delete(formatServerRef(ref));
    },

    async keep(ref, tools) {
      if (tools.length === 0) return;
      const before = known.get(formatServerRef(ref))?.rows ?? [];
      const rows = merged(before, tools);
      if (!rows) return;
      remember(ref, rows);
      try {
        await store.commit(async db => {
          const stored = (await findKeptTools(db, placeOf(ref))) ?? [];
          const fresh = merged(stored, tools);
          if (fresh) await replaceKeptTools(db, placeOf(ref), { tools: fresh, at: clock.now() });
        });
      } catch (error) {
        logger.error('The tools of an MCP server could not be kept', { server: formatServerRef(ref), error });
      }
    },

    forget: ref => void known.delete(formatServerRef(ref)),
  };
}

function bounded(rows: readonly KeptTool[]): readonly KeptTool[] {
  let chars = 0;
  return rows.slice(0, MAX_TOOLS).filter(row => {
    chars += JSON.stringify(row).length;
    return chars <= MAX_CHARS;
  });
}
