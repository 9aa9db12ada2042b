import { type LoopbackProxy, startLoopbackProxy } from '@patchbay/testing/loopback-proxy';

/** A loopback proxy that signs a judge in: it puts its own Authorization in place of the caller's and nothing else changes. */
export function startForwarder(options: { target: string; authorization: string }): Promise<LoopbackProxy> {
  return startLoopbackProxy({
    targets: [options.target],
    headers: rawHeaders => signedIn(rawHeaders, options.authorization),
  });
}

/** `rawHeaders` as it came with the one Authorization exchanged. */
function signedIn(rawHeaders: readonly string[], authorization: string): string[] {
  const headers: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    if (name.toLowerCase() !== 'authorization') headers.push(name, rawHeaders[i + 1]!);
  }
  headers.push('Authorization', authorization);
  return headers;
}
