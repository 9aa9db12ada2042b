import type { Clock } from '../../kernel/clock.ts';
import { SessionError } from './failure.ts';
import type { Session } from './session.ts';

const MAX_PAGES = 200;
const MAX_TOOLS = 20_000;
/** Of all pages together, as JSON. */
const MAX_CHARS = 16 * 1024 * 1024;

/** All pages of a server's tools, as they came, in `timeoutMs` together; none where the server has no tools. Rejects with a `SessionError`. */
export async function listTools(
  session: Session,
  options: {
    readonly timeoutMs: number;
    readonly clock: Pick<Clock, 'now'>;
    readonly signal: AbortSignal;
  },
): Promise<readonly unknown[]> {
  if (!('tools' in session.facts.capabilities)) return [];
  const { timeoutMs, clock, signal } = options;
  const until = clock.now() + timeoutMs;
  const tools: unknown[] = [];
  let chars = 0;
  let cursor: unknown;
  for (let page = 0; page < MAX_PAGES; page++) {
    const found = await session.request('tools/list', cursor === undefined ? {} : { cursor }, {
      timeoutMs: Math.max(1, until - clock.now()),
      signal,
    });
    if (!Array.isArray(found.tools)) throw unusable('is no list');
    for (const tool of found.tools as unknown[]) tools.push(tool);
    if (tools.length > MAX_TOOLS) throw unusable(`has more than ${MAX_TOOLS} tools`);
    cursor = found.nextCursor;
    if (cursor === undefined || cursor === null) return tools;
    // One page is bounded by what a message may be.
    chars += JSON.stringify(found.tools).length;
    if (chars > MAX_CHARS) throw unusable(`is longer than ${MAX_CHARS} characters`);
  }
  throw unusable(`has more than ${MAX_PAGES} pages`);
}

function unusable(why: string): SessionError {
  return new SessionError('PROTOCOL_ERROR', 'yes', `its list of tools ${why}`);
}
