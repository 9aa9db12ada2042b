/** A credential of one person, as servers take it. */
export interface PersonalCredential {
  /** Secret. */
  readonly token: string;
  /** Another one, and a greater, whenever the token is another. */
  readonly revision: number;
  /** The revision that the person gave: the same as long as it is only renewed. */
  readonly given: number;
}

/** Which credential was refused, and of whom. */
export interface RefusedCredential {
  readonly name: string;
  /** Id of a user. */
  readonly principalId: string;
  readonly revision: number;
  readonly given: number;
}

/** How the server refused it. */
export interface CredentialRefusal {
  /** `instance/name`. */
  readonly server: string;
  /** 401 or 403. */
  readonly status: number;
  /** What it says besides, in `WWW-Authenticate`. */
  readonly challenge?: string | undefined;
}

/** Where people's own credentials at MCP servers come from (W-71). */
export interface CredentialsProvider {
  /** The person's credential of that name; `undefined` when they have to sign in. */
  find(name: string, principalId: string): Promise<PersonalCredential | undefined>;
  /**
   * Told that a server has refused it (W-78). Resolves with one of another revision, which is tried once, or with `undefined`: then the
   * person has to sign in again (W-80).
   */
  refused(who: RefusedCredential, what: CredentialRefusal): Promise<PersonalCredential | undefined>;
}
