import { SessionError } from './failure.ts';
import type { Session } from './session.ts';

const MAX_PAGES = 200;
const MAX_TOOLS = 20_000;

/** All pages of a server's tools, as they came; none where the server has no tools. Rejects with a `SessionError`. */
export async function listTools(
  session: Session,
  options: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<readonly unknown[]> {
  if (!('tools' in session.facts.capabilities)) return [];
  const tools: unknown[] = [];
  let cursor: unknown;
  for (let page = 0; page < MAX_PAGES; page++) {
    const found = await session.request('tools/list', cursor === undefined ? {} : { cursor }, options);
    if (!Array.isArray(found.tools))
      throw new SessionError('PROTOCOL_ERROR', 'yes', 'its list of tools is no list');
    tools.push(...(found.tools as unknown[]));
    if (tools.length > MAX_TOOLS)
      throw new SessionError('PROTOCOL_ERROR', 'yes', `it has more than ${MAX_TOOLS} tools`);
    cursor = found.nextCursor;
    if (cursor === undefined || cursor === null) return tools;
  }
  throw new SessionError('PROTOCOL_ERROR', 'yes', `its list of tools has more than ${MAX_PAGES} pages`);
}
