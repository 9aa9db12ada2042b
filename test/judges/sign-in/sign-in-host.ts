import type { Door } from '../judge.ts';

/** The two ways to speak, and the revision that a host must end up with. */
export const SIGN_IN_ERAS = { legacy: '2025-11-25', modern: '2026-07-28' } as const;
export type SignInEra = keyof typeof SIGN_IN_ERAS;

/** A host as its user starts it: with an address and no key. It sends its user to a browser when it is refused. */
export interface SignInHost {
  readonly name: string;
  /** As it calls itself to the person who is to allow it something. */
  readonly clientName: string;
  /** Starts it; it may sign in at once or with the first call. */
  start(at: SignInPlace): Promise<StartedHost>;
}

export interface SignInPlace {
  readonly door: Pick<Door, 'name' | 'url'>;
  readonly era: SignInEra;
  /** Its home, where it keeps its registration and its tokens. */
  readonly home: string;
  /** A program that opens an address in the user's browser, as the variable BROWSER names one. */
  readonly browser: string;
  /** The same for a host inside this process. */
  readonly visit: (address: string) => Promise<void>;
}

export interface StartedHost {
  /** The answer as text. Rejects with what the host says when there is none. */
  call(tool: string, args: Readonly<Record<string, string>>): Promise<string>;
  close(): Promise<void>;
}
