/** A request as a credential sees it. */
export interface CredentialTarget {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: URL;
}

/** What a server answered to a request that carried a credential. */
export interface CredentialAnswer {
  readonly status: number;
  /** Names in lower case; the server wrote it all. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** What the request carried: `headers` may give something else by now. */
  readonly shown: Readonly<Record<string, string>>;
}

/**
 * Who a connection is to its server. Asked for every request, so that what it holds may change while the connection stays; a token goes
 * into headers and nowhere else.
 */
export interface Credential {
  /** Headers for one request, by names in lower case; none while there is nothing to show. Rejects with a `SessionError` of kind `AUTHENTICATION_FAILED`. */
  headers(target: CredentialTarget): Promise<Readonly<Record<string, string>>>;
  /**
   * Told that a request was refused before it was executed (401, 403). True when it may be sent once more with what `headers` gives now
   * (W-79, A-181). Rejects as `headers` does.
   */
  refused(answer: CredentialAnswer): Promise<boolean>;
  /** What it has shown of late, and must be in nothing that is kept or shown. */
  secrets?(): readonly string[];
  /** How often one request may be refused and sent again; as often as is sensible unless said. */
  readonly refusals?: number;
  /** Told every answer, before `refused`: some carry what the next request needs. */
  answered?(answer: CredentialAnswer): void;
}
