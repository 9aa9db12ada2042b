import type { Role } from '@patchbay/contract/roles';
import type { Clock } from '../../kernel/clock.ts';
import { Fault } from '../../kernel/errors.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { Store } from '../../store/store.ts';
import {
  deleteOldPageSessions,
  deletePageSession,
  extendPageSession,
  findPageSession,
  insertPageSession,
} from '../../store/tables/page-sessions.ts';
import { deleteOldSignInLinks } from '../../store/tables/sign-in-links.ts';
import type { Cookies } from './cookies.ts';
import { csrfOf, hashPageToken, newPageToken } from './page-token.ts';

/** Somebody who is signed in in this browser. */
export interface PageSession {
  /** Hash of what the cookie holds. */
  readonly id: string;
  readonly userId: string;
  readonly name: string;
  /** As they are now. */
  readonly roles: readonly Role[];
  /** Goes into every form of this session, as the field `csrf`. */
  readonly csrf: string;
  /** The person at their pages, for what operations and agents decide. */
  readonly principal: Principal;
}

/**
 * Who is signed in in which browser. A session ends when nothing was asked for twelve hours, a week after it began, by signing out,
 * and when its person is disabled, reset or chooses another password: it is looked up for every page, so at once on all nodes.
 */
export interface PageSessions {
  /** Who is signed in in this browser: reads the cookie. */
  read(cookieHeader: string | undefined): Promise<PageSession | undefined>;
  /** Signs the person in, as another session than any before: what somebody planted in the browser is worth nothing. */
  begin(userId: string): Promise<{ readonly session: PageSession; readonly setCookie: string }>;
  end(session: PageSession): Promise<{ readonly setCookie: string }>;
}

const MINUTE_MS = 60_000;
const IDLE_MS = 12 * 60 * MINUTE_MS;
const LONGEST_MS = 7 * 24 * 60 * MINUTE_MS;
/** The end of a session is moved this seldom, so that few pages write. */
const EXTEND_AFTER_MS = 5 * MINUTE_MS;
/** Browsers of one person; the one that signed in longest ago is signed out first. */
const MAX_SESSIONS = 20;

export function createPageSessions(deps: {
  readonly store: Store;
  readonly clock: Clock;
  readonly cookies: Cookies;
}): PageSessions {
  const { store, clock, cookies } = deps;

  async function find(token: string): Promise<PageSession | undefined> {
    const now = clock.now();
    const found = await findPageSession(store.db, hashPageToken(token), now);
    if (!found) return undefined;
    const expiresAt = Math.min(now + IDLE_MS, found.createdAt + LONGEST_MS);
    if (expiresAt - found.expiresAt >= EXTEND_AFTER_MS)
      await store.commit(db => extendPageSession(db, found.idHash, expiresAt));
    const { idHash: id, userId, name, roles } = found;
    const principal: Principal = {
      id: userId,
      roles: new Set(roles),
      via: 'session',
      credential: `session:${id}`,
      agents: { kind: 'shared' },
    };
    return { id, userId, name, roles, csrf: csrfOf(token), principal };
  }

  return {
    async read(cookieHeader) {
      const token = cookies.read(cookieHeader, 'session');
      return token === undefined ? undefined : find(token);
    },
    async begin(userId) {
      const token = newPageToken();
      const now = clock.now();
      await store.commit(db =>
        insertPageSession(
          db,
          { idHash: hashPageToken(token), userId, createdAt: now, expiresAt: now + IDLE_MS },
          MAX_SESSIONS,
        ),
      );
      const session = await find(token);
      if (!session) throw new Fault('session_not_kept', 'A page session is gone before it was used.');
      return { session, setCookie: cookies.set('session', token) };
    },
    async end({ id }) {
      await store.commit(db => deletePageSession(db, id));
      return { setCookie: cookies.clear('session') };
    },
  };
}

/** Removes sessions and one-time links that are over. */
export async function removeOldSignIns(deps: {
  readonly store: Store;
  readonly clock: Clock;
}): Promise<void> {
  const now = deps.clock.now();
  await deps.store.commit(db => deleteOldPageSessions(db, now));
  await deps.store.commit(db => deleteOldSignInLinks(db, now));
}
