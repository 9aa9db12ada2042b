/** What a server said when it refused a credential. */
export interface Refusal {
  readonly status: 401 | 403;
  /** The `WWW-Authenticate` header; the server wrote it. */
  readonly challenge: string | undefined;
}

/** A request as a credential sees it. */
export interface CredentialTarget {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: URL;
}

/**
 * Who a connection is to its server. Asked for every request, so that what it holds may change while the connection stays; a token goes
 * into headers and nowhere else.
 */
export interface Credential {
  /** Headers for one request. Rejects with a `SessionError` of kind `AUTHENTICATION_FAILED` when there is nothing to show. */
  headers(target: CredentialTarget): Promise<Readonly<Record<string, string>>>;
  /**
   * Told that a request was refused before it was executed (401, 403). True when it may be sent once more with what `headers` gives now
   * (W-79, A-181).
   */
  refused(refusal: Refusal): Promise<boolean>;
  /** Told the headers of every answer, by their names in lower case: some carry what the next request needs. */
  answered?(headers: Readonly<Record<string, string | string[] | undefined>>): void;
}
