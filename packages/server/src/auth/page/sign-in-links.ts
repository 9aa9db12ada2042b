import type { Clock } from '../../kernel/clock.ts';
import type { Store } from '../../store/store.ts';
import { findAccount } from '../../store/tables/accounts.ts';
import {
  findSignInLink,
  type LinkPurpose,
  putSignInLink,
  takeSignInLink,
} from '../../store/tables/sign-in-links.ts';
import { hashPageToken, newPageToken } from './page-token.ts';

/** Whose link it is and what it is for. */
export interface SignInLink {
  readonly userId: string;
  readonly name: string;
  readonly login: string | undefined;
  readonly purpose: LinkPurpose;
}

/** Addresses that sign somebody in, once and soon. Only the hash is kept, so an address cannot be shown again. */
export interface SignInLinks {
  /** The one before it, of the same person for the same purpose, is worth nothing afterwards. */
  make(userId: string, purpose: LinkPurpose): Promise<{ readonly url: string; readonly expiresAt: number }>;
  /** Uses nothing up. `undefined` when there is no such link, or none any more. */
  look(token: string): Promise<SignInLink | undefined>;
  /** Uses the link up: the one caller who gets it may go on as its person. */
  take(token: string): Promise<SignInLink | undefined>;
}

const MINUTE_MS = 60_000;
/** A person at their own terminal opens it at once; somebody else has to be sent theirs. */
const LIVES_MS: Readonly<Record<LinkPurpose, number>> = {
  'sign-in': 10 * MINUTE_MS,
  password: 24 * 60 * MINUTE_MS,
};

export function createSignInLinks(deps: {
  readonly store: Store;
  readonly clock: Clock;
  /** The address of the platform, without a slash at the end. */
  readonly baseUrl: () => string;
}): SignInLinks {
  const { store, clock, baseUrl } = deps;

  async function personOf(
    link: { readonly userId: string; readonly purpose: LinkPurpose } | undefined,
  ): Promise<SignInLink | undefined> {
    const account = link && (await findAccount(store.db, link.userId));
    if (!account || account.disabled) return undefined;
    return { ...link, name: account.name, login: account.login };
  }

  return {
    async make(userId, purpose) {
      const token = newPageToken();
      const expiresAt = clock.now() + LIVES_MS[purpose];
      await store.commit(db => putSignInLink(db, { hash: hashPageToken(token), userId, purpose, expiresAt }));
      return { url: `${baseUrl()}/sign-in/link/${token}`, expiresAt };
    },
    look: async token => personOf(await findSignInLink(store.db, hashPageToken(token), clock.now())),
    take: async token =>
      personOf(await store.commit(db => takeSignInLink(db, hashPageToken(token), clock.now()))),
  };
}
