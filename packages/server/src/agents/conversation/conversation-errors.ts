import { PlatformError } from '../../kernel/errors.ts';

export function conversationNotFound(): PlatformError {
  return new PlatformError('not_found', 'Conversation not found.');
}

export function conversationForbidden(): PlatformError {
  return new PlatformError('forbidden', 'Access denied: you do not own this conversation.');
}
