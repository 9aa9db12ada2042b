import type { Db } from '../store.ts';

/** What a one-time link is for: signing in, or choosing a password first. */
export type LinkPurpose = 'sign-in' | 'password';

/** A link that may be used: whose, and for what. */
export interface SignInLinkRecord {
  readonly userId: string;
  readonly purpose: LinkPurpose;
}

/** A person has one link of each purpose; a new one takes the place of the one before. */
export async function putSignInLink(
  db: Db,
  link: SignInLinkRecord & { readonly hash: string; readonly expiresAt: number },
): Promise<void> {
  const values = { hash: link.hash, expires_at: link.expiresAt };
  await db
    .insertInto('sign_in_links')
    .values({ ...values, user_id: link.userId, purpose: link.purpose })
    .onConflict(conflict => conflict.columns(['user_id', 'purpose']).doUpdateSet(values))
    .execute();
}

/** Changes nothing: whoever looks at an address has not used it. */
export async function findSignInLink(
  db: Db,
  hash: string,
  now: number,
): Promise<SignInLinkRecord | undefined> {
  const row = await db
    .selectFrom('sign_in_links')
    .select(['user_id', 'purpose'])
    .where('hash', '=', hash)
    .where('expires_at', '>', now)
    .executeTakeFirst();
  return row && toLink(row);
}

/** The link is gone afterwards: of several who take it at the same moment, one gets it. */
export async function takeSignInLink(
  db: Db,
  hash: string,
  now: number,
): Promise<SignInLinkRecord | undefined> {
  const row = await db
    .deleteFrom('sign_in_links')
    .where('hash', '=', hash)
    .where('expires_at', '>', now)
    .returning(['user_id', 'purpose'])
    .executeTakeFirst();
  return row && toLink(row);
}

export async function deleteSignInLinksOf(db: Db, userId: string): Promise<void> {
  await db.deleteFrom('sign_in_links').where('user_id', '=', userId).execute();
}

export async function deleteOldSignInLinks(db: Db, now: number): Promise<void> {
  await db.deleteFrom('sign_in_links').where('expires_at', '<=', now).execute();
}

function toLink(row: { readonly user_id: string; readonly purpose: string }): SignInLinkRecord {
  return { userId: row.user_id, purpose: row.purpose === 'password' ? 'password' : 'sign-in' };
}
