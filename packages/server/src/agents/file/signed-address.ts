import { createHmac } from 'node:crypto';
import { sameBytes } from '../../kernel/digest.ts';
import { canonicalJson } from '../../kernel/json.ts';

/** What an address lets its holder do with one file. */
export type FileUse = 'upload' | 'download';

/** The part of an address that proves it is ours. */
export interface Ticket {
  /** Epoch ms. */
  readonly expires: number;
  readonly signature: string;
}

/** What a ticket is bound to: another file, size or type needs another one. */
export interface TicketSubject {
  readonly use: FileUse;
  readonly fileId: string;
  readonly size: number;
  readonly contentType: string;
}

/** Tickets that need no row: who holds the secret of the platform signs, and every node can verify. */
export interface Tickets {
  issue(subject: TicketSubject, expires: number): Ticket;
  /** False for a forged or changed ticket, for one of another use or file, and when its time is over. */
  admits(subject: TicketSubject, ticket: Ticket, now: number): boolean;
}

export function createTickets(secret: Uint8Array): Tickets {
  const sign = (subject: TicketSubject, expires: number) =>
    createHmac('sha256', secret)
      .update(canonicalJson({ ...subject, expires }))
      .digest();
  return {
    issue: (subject, expires) => ({ expires, signature: sign(subject, expires).toString('base64url') }),
    admits(subject, { expires, signature }, now) {
      const given = Buffer.from(signature, 'base64url');
      const right = sign(subject, expires);
      return sameBytes(given, right) && now < expires;
    },
  };
}
