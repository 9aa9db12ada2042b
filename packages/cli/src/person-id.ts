import type { Client } from '@patchbay/contract/client';
import { CliError, EXIT } from './cli-error.ts';
import { printable } from './text.ts';

/** Of a person whom somebody names by login or id. Rejects with a `CliError` when nobody has that login. */
export async function personId(client: Client, who: string): Promise<string> {
  if (/^user_[a-z2-7]{20}$/.test(who)) return who;
  const { users } = await client.call('list_users', { login: who.toLowerCase() });
  const [user] = users;
  if (user) return user.userId;
  throw new CliError(
    EXIT.failed,
    `Nobody signs in as ${printable(who)}; npx patchbay users list shows everybody.`,
  );
}
