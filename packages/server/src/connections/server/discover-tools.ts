import { PlatformError } from '../../kernel/errors.ts';
import { randomBase32 } from '../../kernel/ids.ts';
import type { References } from '../../secrets/references.ts';
import { refusedAs, SessionError } from '../session/failure.ts';
import type { Pool } from '../session/pool.ts';
import { governTool } from '../tool/govern-text.ts';
import { type QuarantinedTool, type RemoteTool, readTools } from '../tool/remote-tool.ts';
import { DEFAULT_INSTANCE } from './configured-instances.ts';
import { definitionOfMcpcalls } from './from-mcpcalls.ts';
import type { Registry } from './registry.ts';
import { createResolveEndpoint } from './resolve-endpoint.ts';

export interface DiscoveredTools {
  /** With governed texts. */
  readonly tools: readonly RemoteTool[];
  readonly quarantined: readonly QuarantinedTool[];
}

/**
 * Connects to a server behind an address, once, and answers its tools. Rejects with a `PlatformError`: `invalid` for what could be no
 * mcpcalls document, and for a reference, which is a document's to make; `unavailable` when the server cannot be asked; with the
 * signal's reason.
 */
export type DiscoverTools = (
  server: {
    readonly url: string;
    readonly transport?: string | undefined;
    readonly apiKey?: string | undefined;
  },
  signal: AbortSignal,
) => Promise<DiscoveredTools>;

export function createDiscoverTools(deps: {
  readonly pool: Pool;
  readonly references: Pick<References, 'compile' | 'resolve'>;
  readonly checkOf: Registry['checkOf'];
}): DiscoverTools {
  const { pool, references, checkOf } = deps;
  const resolveEndpoint = createResolveEndpoint(references);
  return async ({ url, transport, apiKey }, signal) => {
    for (const [field, text] of Object.entries({ url, apiKey })) {
      // Whoever asks chooses where it would be sent.
      if (text?.includes('${'))
        throw new PlatformError('invalid', `${field}: a reference is not filled in here.`);
    }
    const { definition } = definitionOfMcpcalls(
      { mcpServerUrl: url, transport, apiKey },
      { scope: 'discover', when: 'saving', texts: references },
    );
    const { endpoint, scrub } = await resolveEndpoint(definition, { agentId: '' });
    const connection = pool.connection({
      ...{ endpoint, scrub, scope: 'discover', connectTimeoutMs: definition.connectTimeoutMs },
      // What is refused to a document is refused to who writes one.
      check: () =>
        checkOf(DEFAULT_INSTANCE)?.(url).catch(refusedAs('SERVER_UNAVAILABLE')) ?? Promise.resolve(),
      // Nobody else's, so that it can be closed.
      owner: { server: `discover ${randomBase32(16)}`, who: 'nobody' },
    });
    try {
      await connection.ready(signal);
      const { tools, quarantined } = readTools(connection.listed ?? [], connection);
      return { tools: tools.map(governTool), quarantined };
    } catch (thrown) {
      if (!(thrown instanceof SessionError)) throw thrown;
      throw new PlatformError(
        'unavailable',
        `The server cannot be asked: ${thrown.message.replace(/\.$/, '')}.`,
        {
          cause: thrown,
        },
      );
    } finally {
      await pool.retire(connection);
    }
  };
}
