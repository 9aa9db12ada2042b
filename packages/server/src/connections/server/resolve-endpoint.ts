import { createScrubber, isSecretName } from '../../kernel/redact.ts';
import type { References } from '../../secrets/references.ts';
import type { Endpoint } from '../session/endpoint.ts';
import type { RegisteredClient, ServerAuth, ServerDefinition, ServerTransport } from './definition.ts';

/** For whom secrets are opened. */
export interface OpenedFor {
  /** The agent, or what stands for a registered server: `servers/<instance>/<name>`. */
  readonly agentId: string;
}

export interface ResolvedEndpoint {
  readonly endpoint: Endpoint;
  /** Takes secret values out of texts: those of references, and what stands where credentials do. `undefined` where there are none. */
  readonly scrub: ((text: string) => string) | undefined;
}

/**
 * Puts the values of references into the texts of a transport. Rejects with a `PlatformError` that names the reference and no value. What
 * it resolves with is used and not kept, unless the transport refers to nothing: that is the same each time.
 */
export type ResolveEndpoint = (
  definition: ServerDefinition,
  openedFor: OpenedFor,
) => Promise<ResolvedEndpoint>;

export function createResolveEndpoint(references: Pick<References, 'compile' | 'resolve'>): ResolveEndpoint {
  const constant = new WeakMap<ServerTransport, ResolvedEndpoint & { readonly auth: ServerAuth }>();
  return async ({ transport, auth }, { agentId }) => {
    const known = constant.get(transport);
    if (known?.auth === auth) return known;
    const { refers, ...resolved } = await resolve({ transport, auth }, references, agentId);
    if (!refers) constant.set(transport, { ...resolved, auth });
    return resolved;
  };
}

async function resolve(
  { transport, auth }: Pick<ServerDefinition, 'transport' | 'auth'>,
  references: Pick<References, 'compile' | 'resolve'>,
  agentId: string,
): Promise<ResolvedEndpoint & { readonly refers: boolean }> {
  const secrets = new Set<string>();
  let refers = false;
  const text = async (source: string) => {
    if (!source.includes('${')) return source;
    refers = true;
    const resolved = await references.resolve(references.compile(source), { agentId });
    for (const secret of resolved.secrets) secrets.add(secret);
    return resolved.text;
  };
  const texts = async (members: Readonly<Record<string, string>>) => {
    const resolved = await Promise.all(
      Object.entries(members).map(async ([name, source]) => [name, await text(source)] as const),
    );
    // Written as it is, or behind the word of its scheme.
    for (const [name, value] of resolved) if (isSecretName(name)) secrets.add(value.replace(SCHEME, ''));
    return Object.fromEntries(resolved);
  };
  const client = async (oauth: RegisteredClient): Promise<RegisteredClient> => {
    const { clientSecret, ...others } = oauth;
    const secret = await text(clientSecret);
    secrets.add(secret);
    const resolved = await Promise.all(
      Object.entries(others).map(
        async ([name, value]) => [name, typeof value === 'string' ? await text(value) : value] as const,
      ),
    );
    return { ...oauth, ...Object.fromEntries(resolved), clientSecret: secret };
  };
  if (transport.kind === 'http') {
    const { url, headers, hostFrom, insecureTls } = transport;
    const endpoint = {
      kind: 'http',
      url: await text(url),
      headers: await texts(headers),
      hostFrom,
      insecureTls,
      ...(auth.kind === 'clientCredentials' && { client: await client(auth.oauth) }),
    } as const;
    return { endpoint, refers, scrub: scrubberOf(secrets) };
  }
  const { command, args, env, cwd } = transport;
  const endpoint = {
    kind: 'stdio',
    command,
    args: await Promise.all(args.map(text)),
    env: await texts(env),
    cwd,
  } as const;
  return { endpoint, refers, scrub: scrubberOf(secrets) };
}

function scrubberOf(secrets: ReadonlySet<string>): ResolvedEndpoint['scrub'] {
  return secrets.size === 0 ? undefined : createScrubber([...secrets]);
}

const SCHEME = /^[A-Za-z][A-Za-z0-9-]{0,30} +(?=\S)/;
