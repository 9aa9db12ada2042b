import type { Environment } from '@patchbay/contract/environments';
import type { Db } from '../store.ts';

/** A user and what they are after: of each there is one conversation at the most. */
export interface ManagedKey {
  readonly intent: string;
  readonly userId: string;
}

/** The conversation a user has under an intent. */
export interface ManagedConversation extends ManagedKey {
  readonly environment: Environment;
  readonly agentId: string;
  readonly conversationId: string;
}

export async function findManagedConversation(
  db: Db,
  { intent, userId }: ManagedKey,
): Promise<ManagedConversation | undefined> {
  const row = await db
    .selectFrom('managed_conversations')
    .select(['environment', 'agent_id', 'conversation_id'])
    .where('intent', '=', intent)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return (
    row && {
      intent,
      userId,
      environment: row.environment as Environment,
      agentId: row.agent_id,
      conversationId: row.conversation_id,
    }
  );
}

/**
 * Makes it the conversation of its user and intent, in place of `instead`, the one that was seen there; `undefined`: there was
 * none. Of several that do so at once exactly one succeeds; the others get false.
 */
export async function putManagedConversation(
  db: Db,
  managed: ManagedConversation,
  options: { readonly instead: string | undefined; readonly at: number },
): Promise<boolean> {
  const { intent, userId, environment, agentId, conversationId } = managed;
  const { instead, at } = options;
  const values = {
    environment,
    agent_id: agentId,
    conversation_id: conversationId,
    created_at: at,
  };
  const row =
    instead === undefined
      ? await db
          .insertInto('managed_conversations')
          .values({ intent, user_id: userId, ...values })
          .onConflict(conflict => conflict.columns(['intent', 'user_id']).doNothing())
          .returning('intent')
          .executeTakeFirst()
      : await db
          .updateTable('managed_conversations')
          .set(values)
          .where('intent', '=', intent)
          .where('user_id', '=', userId)
          .where('conversation_id', '=', instead)
          .returning('intent')
          .executeTakeFirst();
  return row !== undefined;
}

/** The conversation itself stays. */
export async function deleteManagedConversation(db: Db, { intent, userId }: ManagedKey): Promise<void> {
  await db
    .deleteFrom('managed_conversations')
    .where('intent', '=', intent)
    .where('user_id', '=', userId)
    .execute();
}
