import { Fault } from './errors.ts';

/** Where others reach the platform: the setting, else where it listens, which is known once it does. */
export interface PublicAddress {
  /** Without a slash at the end. */
  base(): string;
  /** Is it scheme, host and port of the setting, or of where the platform listens? Names that lead there by themselves are not. */
  isOurs(url: URL): boolean;
  /** Told once the listener is open. */
  listensAt(url: string): void;
}

export function createPublicAddress(publicUrl: string | undefined): PublicAddress {
  let local: string | undefined;
  return {
    base() {
      const base = publicUrl ?? local;
      if (base === undefined) throw new Fault('not_listening', 'No address yet: the listener is not open.');
      return base;
    },
    isOurs: ({ origin }) =>
      [publicUrl, local].some(own => own !== undefined && new URL(own).origin === origin),
    listensAt(url) {
      local = url;
    },
  };
}
