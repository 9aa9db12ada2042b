import { inspect } from 'node:util';

/**
 * The bearer token that a request came with, for what its turn asks of this platform as the same person (E-88). It is in memory only: what is
 * logged, copied or made JSON of it holds nothing (E-90).
 */
export class CallerToken {
  readonly #token: string;
  readonly #isOurs: (url: URL) => boolean;

  constructor(token: string, isOurs: (url: URL) => boolean) {
    this.#token = token;
    this.#isOurs = isOurs;
    Object.freeze(this);
  }

  /** The token where the address is of this platform; `undefined` at every other (E-89). */
  releaseTo(url: URL): string | undefined {
    return this.#isOurs(url) ? this.#token : undefined;
  }

  toJSON(): undefined {
    return undefined;
  }

  toString(): string {
    return 'CallerToken';
  }

  [inspect.custom](): string {
    return this.toString();
  }
}
