import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** 256 random bits, 43 characters: what a cookie or a one-time link holds. */
export function newPageToken(): string {
  return randomBytes(32).toString('base64url');
}

/** What the store keeps of it. A plain hash is enough: there is nothing to guess. */
export function hashPageToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** What a form carries to show that it is a page of ours that this browser was given: only who has the cookie's value can know it. */
export function csrfOf(token: string): string {
  return createHmac('sha256', token).update('form').digest('base64url');
}

/** Compares in constant time. */
export function csrfFits(csrf: string, given: string): boolean {
  const [right, other] = [Buffer.from(csrf), Buffer.from(given)];
  return right.length === other.length && timingSafeEqual(right, other);
}
