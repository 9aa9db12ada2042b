import { PlatformError } from '../../kernel/errors.ts';
import type { Db } from '../../store/store.ts';
import { sumConversationFiles } from '../../store/tables/conversation-files.ts';
import type { Attachment } from '../step/step.ts';

const MAX_FILES = 50;
const MAX_MIB = 100;
const MIB = 1024 * 1024;

/** Throws a `PlatformError` of kind `invalid` when a conversation would have more files than it may (platform.md 8). */
export async function checkConversationFiles(
  db: Db,
  conversationId: string,
  attachments: readonly Attachment[],
): Promise<void> {
  if (attachments.length === 0) return;
  const { files, bytes } = await sumConversationFiles(db, conversationId);
  const added = attachments.reduce((sum, { size }) => sum + size, 0);
  if (files + attachments.length <= MAX_FILES && bytes + added <= MAX_MIB * MIB) return;
  throw new PlatformError(
    'invalid',
    `attachments: a conversation takes ${MAX_FILES} files and ${MAX_MIB} MiB; start a new one for these.`,
  );
}
