import type { References } from '../../secrets/references.ts';
import type { Endpoint } from '../session/endpoint.ts';
import type { ServerDefinition } from './definition.ts';

/** For whom secrets are opened. */
export interface OpenedFor {
  /** The agent, or what stands for a registered server: `servers/<instance>/<name>`. */
  readonly agentId: string;
}

/**
 * Puts the values of references into the texts of a transport. Rejects with a `PlatformError` that names the reference and no value. What
 * it resolves with is used and not kept.
 */
export async function resolveEndpoint(
  { transport }: ServerDefinition,
  references: Pick<References, 'compile' | 'resolve'>,
  { agentId }: OpenedFor,
): Promise<Endpoint> {
  const text = async (source: string) =>
    source.includes('${') ? (await references.resolve(references.compile(source), { agentId })).text : source;
  const texts = async (members: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      await Promise.all(
        Object.entries(members).map(async ([name, source]) => [name, await text(source)] as const),
      ),
    );
  if (transport.kind === 'http') {
    const { url, headers, hostFrom, insecureTls } = transport;
    return { kind: 'http', url: await text(url), headers: await texts(headers), hostFrom, insecureTls };
  }
  const { command, args, env, cwd } = transport;
  return { kind: 'stdio', command, args: await Promise.all(args.map(text)), env: await texts(env), cwd };
}
