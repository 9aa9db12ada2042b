import type { OAuthClientInformationMixed } from '@modelcontextprotocol/client';

/** A token as it is kept; all of it is secret. */
export interface KeptToken {
  readonly value: string;
  readonly type: 'bearer' | 'dpop';
  /** Of the key it is bound to, where it is (RFC 9449). */
  readonly keyThumbprint: string | undefined;
  readonly refresh: string | undefined;
  /** Epoch ms from which on it is better renewed; `undefined` when it says no time. */
  readonly renewAt: number | undefined;
}

/** What is kept of one server for one holder: nothing of it is ever shown to another authorization server (mcp.md 1.2). */
export interface KeptTokens {
  /** The authorization server that all of this belongs to. */
  readonly issuer: string;
  /** Where the server says who its authorization server is, when it said so itself. */
  readonly metadataUrl: string | undefined;
  /** As who we are registered there, where that was done by ourselves. */
  readonly client: OAuthClientInformationMixed | undefined;
  /** Where the person is sent back to, as it was registered. */
  readonly redirectUrl: string | undefined;
  /** Every scope that was asked for. */
  readonly scope: string | undefined;
  readonly token: KeptToken | undefined;
}

/** Keeps the tokens of one server for one holder, for every node that uses them. */
export interface TokenStore {
  read(): Promise<KeptTokens | undefined>;
  write(kept: KeptTokens): Promise<void>;
  /** Runs alone among all who share the store: a refresh token that its use uses up is used once (attack 11). */
  exclusively<T>(run: () => Promise<T>): Promise<T>;
}

/** Keeps them as long as the process lives: what a machine gets, it can get again. */
export function createMemoryTokenStore(): TokenStore {
  let kept: KeptTokens | undefined;
  let last: Promise<unknown> = Promise.resolve();
  return {
    read: async () => kept,
    write: async next => {
      kept = next;
    },
    exclusively(run) {
      const mine = last.then(run);
      last = mine.catch(() => undefined);
      return mine;
    },
  };
}
