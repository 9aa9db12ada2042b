import { randomBase32 } from '../kernel/ids.ts';
import type { LogLine } from '../kernel/logger.ts';
import type { LogEntry } from '../store/tables/log-entries.ts';

/** A line of this process, before it is said which node that is. */
export type BufferedLine = Omit<LogEntry, 'instanceId'>;

/** The latest lines of this process, in memory. */
export interface LogBuffer {
  add(line: LogLine): void;
  /** Newest first, of those that match. */
  latest(matches: (line: BufferedLine) => boolean, limit: number): BufferedLine[];
  /** Hears of every line, the ones that are here already first. */
  listen(listener: (line: BufferedLine) => void): void;
}

const CAPACITY = 10_000;
const MAX_MESSAGE = 1_000;
const MAX_DETAILS = 2_000;
const MAX_NAME = 200;

/** The buffer of platform.md 1.12. Made before the logger that fills it, and long before the store is open. */
export function createLogBuffer(capacity = CAPACITY): LogBuffer {
  const lines: BufferedLine[] = [];
  /** Tells the lines of this process from those of the one before it on the same node. */
  const process = randomBase32(12);
  let count = 0;
  let listener: ((line: BufferedLine) => void) | undefined;

  return {
    add(line) {
      const kept = toBuffered(line, `log_${process}_${String(count).padStart(12, '0')}`);
      // A ring: where line `count` stands, the line `capacity` before it has stood.
      lines[count % capacity] = kept;
      count += 1;
      listener?.(kept);
    },
    latest(matches, limit) {
      const found: BufferedLine[] = [];
      for (let at = count - 1; at >= Math.max(0, count - capacity) && found.length < limit; at -= 1) {
        const line = lines[at % capacity]!;
        if (matches(line)) found.push(line);
      }
      return found;
    },
    listen(next) {
      for (let at = Math.max(0, count - capacity); at < count; at += 1) next(lines[at % capacity]!);
      listener = next;
    },
  };
}

function toBuffered({ at, level, message, fields }: LogLine, id: string): BufferedLine {
  const { part, environment, agentId, agentVersion, conversationId, userId, ...rest } = fields;
  return {
    id,
    at,
    level,
    loggerName: nameOf(part) ?? 'platform',
    message: message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE)}... (cut)` : message,
    environment: nameOf(environment),
    agentId: nameOf(agentId),
    agentVersion: Number.isSafeInteger(agentVersion) ? Number(agentVersion) : undefined,
    conversationId: nameOf(conversationId),
    userId: nameOf(userId),
    details: detailsOf(rest),
  };
}

function nameOf(field: unknown): string | undefined {
  return typeof field === 'string' ? field.slice(0, MAX_NAME) : undefined;
}

/** Where a stack makes it too long, without stacks; what is longer still is only in the output of the node. */
function detailsOf(rest: Readonly<Record<string, unknown>>): string | undefined {
  const whole = JSON.stringify(rest);
  if (whole === '{}') return undefined;
  if (whole.length <= MAX_DETAILS) return whole;
  const short = JSON.stringify(rest, (name, value) => (name === 'stack' ? undefined : value));
  return short.length <= MAX_DETAILS ? short : JSON.stringify({ cut: `${whole.length} characters` });
}
