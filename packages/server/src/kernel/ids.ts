import { randomBytes } from 'node:crypto';

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';

/** Random base32 text, 5 bits a character. */
export function randomBase32(characters: number): string {
  let text = '';
  for (const byte of randomBytes(characters)) text += BASE32[byte & 31];
  return text;
}

/** 130 random bits: a conversation id cannot be guessed. */
export const newConversationId = () => `conv_${randomBase32(26)}`;
/** 130 random bits, as conversations have. */
export const newFileId = () => `file_${randomBase32(26)}`;
export const newUploadId = () => randomBase32(26);
/** As long as an agent's generated id: `agent_` and 100 random bits (decisions.md 1). */
export const newDocumentId = (type: string) => `${type}_${randomBase32(20)}`;
export const newTaskId = () => `task_${randomBase32(26)}`;
export const newMessageId = () => `msg_${randomBase32(26)}`;
export const newUserId = () => `user_${randomBase32(20)}`;
export const newDataKeyId = () => `dek_${randomBase32(20)}`;
export const newGrantId = () => `grant_${randomBase32(26)}`;
export const newKeyId = () => `key_${randomBase32(20)}`;
export const newPauseId = () => `pause_${randomBase32(20)}`;
export const newMemoryId = () => `memory_${randomBase32(20)}`;
