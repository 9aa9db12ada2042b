import type { Clock } from '../kernel/clock.ts';
import { LOG_LEVELS, type Logger, type LogLevel } from '../kernel/logger.ts';
import type { Store } from '../store/store.ts';
import {
  deleteOldLogEntries,
  insertLogEntries,
  type LogEntry,
  listLogEntries,
} from '../store/tables/log-entries.ts';
import type { BufferedLine, LogBuffer } from './log-buffer.ts';

/**
 * What the platform logged: everything of this node's latest lines, and of every node, also from before a restart, what was
 * a warning or worse.
 */
export interface Logs {
  /** Newest first. `level` is the least important one. */
  read(query: {
    readonly level: LogLevel;
    readonly agentId?: string | undefined;
    readonly conversationId?: string | undefined;
    readonly limit: number;
  }): Promise<LogEntry[]>;
  /** Deletes what is too old or too much. */
  removeOld(): Promise<void>;
  /** Writes down what waits and listens no longer. */
  close(): Promise<void>;
}

const DAY_MS = 86_400_000;
const KEPT_LEVELS: readonly string[] = ['warn', 'error'] satisfies LogLevel[];
const WRITE_AFTER_MS = 5_000;
/** Lines that wait to be written; one statement takes them all. What comes beyond is only in memory and in the output. */
const MAX_WAITING = 1_000;
const MAX_KEPT = 100_000;
/** Nobody reads it. */
const CLOSING = Symbol('closing');

/** Collects lines without ever holding anybody up: a store that takes none costs some lines of the table, never a caller. */
export function createLogs(deps: {
  readonly buffer: LogBuffer;
  readonly store: Store;
  readonly clock: Clock;
  /** Names this node in its lines. */
  readonly nodeId: string;
  readonly keepDays: number;
  readonly logger: Logger;
}): Logs {
  const { buffer, store, clock, nodeId, keepDays, logger } = deps;
  const closing = new AbortController();
  let waiting: BufferedLine[] = [];
  let lost = 0;
  let failing = false;
  let writing: Promise<void> | undefined;

  const asEntry = (line: BufferedLine): LogEntry => ({ ...line, instanceId: nodeId });

  function keep(line: BufferedLine): void {
    if (!KEPT_LEVELS.includes(line.level)) return;
    if (waiting.length === MAX_WAITING) {
      lost += 1;
      return;
    }
    waiting.push(line);
    writing ??= writeLater();
  }

  async function writeLater(): Promise<void> {
    await clock.sleep(WRITE_AFTER_MS, closing.signal).catch(() => {});
    if (closing.signal.aborted) return;
    await write();
    writing = waiting.length > 0 ? writeLater() : undefined;
  }

  async function write(): Promise<void> {
    const batch = waiting;
    waiting = [];
    try {
      await store.commit(db => insertLogEntries(db, batch.map(asEntry)));
    } catch (error) {
      lost += Math.max(0, batch.length + waiting.length - MAX_WAITING);
      waiting = [...batch, ...waiting].slice(0, MAX_WAITING);
      // Once: each try would else add a line to what cannot be written.
      if (!failing) logger.warn('Log lines cannot be stored for now', { error });
      failing = true;
      return;
    }
    failing = false;
    if (lost === 0) return;
    logger.warn('Log lines were not stored: too many came at once', { lines: lost });
    lost = 0;
  }

  buffer.listen(keep);

  return {
    async read({ level, agentId, conversationId, limit }) {
      const levels = LOG_LEVELS.slice(LOG_LEVELS.indexOf(level));
      const here = buffer
        .latest(
          line =>
            levels.some(wanted => wanted === line.level) &&
            (agentId === undefined || line.agentId === agentId) &&
            (conversationId === undefined || line.conversationId === conversationId),
          limit,
        )
        .map(asEntry);
      const stored = await listLogEntries(store.db, { levels, agentId, conversationId, limit });
      const both = new Map([...stored, ...here].map(entry => [entry.id, entry]));
      return [...both.values()].sort(newestFirst).slice(0, limit);
    },
    removeOld: () =>
      store.commit(db =>
        deleteOldLogEntries(db, { before: clock.now() - keepDays * DAY_MS, keep: MAX_KEPT }),
      ),
    async close() {
      closing.abort(CLOSING);
      await writing;
      if (waiting.length > 0) await write();
    },
  };
}

function newestFirst(a: LogEntry, b: LogEntry): number {
  return b.at - a.at || (a.id < b.id ? 1 : -1);
}
