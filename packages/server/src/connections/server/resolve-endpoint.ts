import { isSecretName } from '../../kernel/redact.ts';
import type { References } from '../../secrets/references.ts';
import type { Endpoint } from '../session/endpoint.ts';
import type { ServerDefinition } from './definition.ts';

/** For whom secrets are opened. */
export interface OpenedFor {
  /** The agent, or what stands for a registered server: `servers/<instance>/<name>`. */
  readonly agentId: string;
}

export interface ResolvedEndpoint {
  readonly endpoint: Endpoint;
  /** Secret values in it, for `createScrubber`: those of references, and what stands where credentials do. */
  readonly secrets: readonly string[];
}

/**
 * Puts the values of references into the texts of a transport. Rejects with a `PlatformError` that names the reference and no value. What
 * it resolves with is used and not kept.
 */
export async function resolveEndpoint(
  { transport }: ServerDefinition,
  references: Pick<References, 'compile' | 'resolve'>,
  { agentId }: OpenedFor,
): Promise<ResolvedEndpoint> {
  const secrets = new Set<string>();
  const text = async (source: string) => {
    if (!source.includes('${')) return source;
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
  if (transport.kind === 'http') {
    const { url, headers, hostFrom, insecureTls } = transport;
    const endpoint = {
      kind: 'http',
      url: await text(url),
      headers: await texts(headers),
      hostFrom,
      insecureTls,
    } as const;
    return { endpoint, secrets: [...secrets] };
  }
  const { command, args, env, cwd } = transport;
  const endpoint = {
    kind: 'stdio',
    command,
    args: await Promise.all(args.map(text)),
    env: await texts(env),
    cwd,
  } as const;
  return { endpoint, secrets: [...secrets] };
}

const SCHEME = /^[A-Za-z][A-Za-z0-9-]{0,30} +(?=\S)/;
