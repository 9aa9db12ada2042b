import type { Db } from '../store.ts';

/** What the files that came with a conversation's messages come to. */
export async function sumConversationFiles(
  db: Db,
  conversationId: string,
): Promise<{ files: number; bytes: number }> {
  const row = await db
    .selectFrom('conversation_files')
    .select(eb => [
      eb.fn.countAll<number | string>().as('files'),
      eb.fn.sum<number | string>('size').as('bytes'),
    ])
    .where('conversation_id', '=', conversationId)
    .executeTakeFirstOrThrow();
  return { files: Number(row.files), bytes: Number(row.bytes ?? 0) };
}

/** The files of one message, in the unit that stores its step. */
export async function insertConversationFiles(
  db: Db,
  step: { readonly conversationId: string; readonly index: number },
  files: readonly { readonly fileId: string; readonly size: number }[],
): Promise<void> {
  if (files.length === 0) return;
  await db
    .insertInto('conversation_files')
    .values(
      files.map(({ fileId, size }) => ({
        conversation_id: step.conversationId,
        step_index: step.index,
        file_id: fileId,
        size,
      })),
    )
    // After an undo another message has the place of the one before.
    .onConflict(conflict => conflict.doNothing())
    .execute();
}
