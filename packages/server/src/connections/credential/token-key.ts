import { DpopSession } from '@modelcontextprotocol/client';

/** A key that tokens are bound to (DPoP, RFC 9449), so that whoever sees one cannot use it. It never leaves the process, and ends with it. */
export type TokenKey = DpopSession;

export const newTokenKey = (): Promise<TokenKey> => DpopSession.create();
