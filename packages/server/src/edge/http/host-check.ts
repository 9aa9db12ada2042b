import { hostsOfListener } from '../../kernel/network-address.ts';
import { granted, type Outcome, refused } from '../../kernel/result.ts';

export type HostRefusal =
  | {
      readonly reason: 'host';
      readonly header: 'Host';
      readonly value: string;
      readonly setting: 'PATCHBAY_ALLOWED_HOSTS';
    }
  | {
      readonly reason: 'origin';
      readonly header: 'Origin';
      readonly value: string;
      readonly setting: 'PATCHBAY_ALLOWED_ORIGINS';
    };

export interface HostCheck {
  /** Is this request addressed to us, and does no foreign page send it? (DNS rebinding; attacks 35) */
  check(headers: {
    readonly host: string | undefined;
    readonly origin: string | undefined;
  }): Outcome<true, HostRefusal>;
  /**
   * Was this sent by a page of the platform itself? Other pages that an operator allowed are none, nor is a program, which names no
   * `Origin` (attack 8).
   */
  isOwnPage(headers: { readonly host: string | undefined; readonly origin: string | undefined }): boolean;
}

/**
 * Accepts the loopback names, the host the listener is bound to, the public address and what the operator added.
 * An absent `Origin` is a program, not a page; a present one must be ours.
 */
export function createHostCheck(options: {
  readonly boundHost: string;
  readonly publicUrl: string | undefined;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
}): HostCheck {
  const publicUrl = options.publicUrl === undefined ? undefined : new URL(options.publicUrl);
  const hostnames = new Set(hostsOfListener(options.boundHost));
  const exactHosts = new Set(options.allowedHosts.map(host => host.toLowerCase()));
  const origins = new Set(options.allowedOrigins.map(origin => origin.toLowerCase()));
  if (publicUrl) {
    exactHosts.add(publicUrl.host);
    origins.add(publicUrl.origin);
  }

  /** With the port first, then without it: an allowed name may be reached on any port. */
  function isOurHost(host: string): boolean {
    const lower = host.toLowerCase();
    const withoutPort = lower.replace(/:\d{1,5}$/, '');
    return exactHosts.has(lower) || exactHosts.has(withoutPort) || hostnames.has(withoutPort);
  }

  /** A page the platform serves itself. Behind a public address its scheme is known, too. `null` is nobody's. */
  function isSameOrigin(origin: string, host: string): boolean {
    const lower = host.toLowerCase();
    if (lower === publicUrl?.host) return false;
    return [`http://${lower}`, `https://${lower}`].includes(origin.toLowerCase());
  }

  return {
    isOwnPage: ({ host, origin }) =>
      origin !== undefined &&
      host !== undefined &&
      (origin.toLowerCase() === publicUrl?.origin || isSameOrigin(origin, host)),
    check({ host, origin }) {
      if (host === undefined || !isOurHost(host)) {
        return refused({
          reason: 'host',
          header: 'Host',
          value: host ?? '',
          setting: 'PATCHBAY_ALLOWED_HOSTS',
        });
      }
      if (origin === undefined || origins.has(origin.toLowerCase()) || isSameOrigin(origin, host))
        return granted(true);
      return refused({
        reason: 'origin',
        header: 'Origin',
        value: origin,
        setting: 'PATCHBAY_ALLOWED_ORIGINS',
      });
    },
  };
}
