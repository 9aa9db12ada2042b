import { createHmac, randomBytes } from 'node:crypto';
import { sameBytes, sha256OfText } from '../../kernel/digest.ts';

/** 256 random bits, 43 characters: what a cookie or a one-time link holds. */
export function newPageToken(): string {
  return randomBytes(32).toString('base64url');
}

/** What the store keeps of it. */
export function hashPageToken(token: string): string {
  return sha256OfText(token);
}

/** What a form carries to show that it is a page of ours that this browser was given: only who has the cookie's value can know it. */
export function csrfOf(token: string): string {
  return createHmac('sha256', token).update('form').digest('base64url');
}

/** Compares in constant time. */
export function csrfFits(csrf: string, given: string): boolean {
  return sameBytes(Buffer.from(csrf), Buffer.from(given));
}
