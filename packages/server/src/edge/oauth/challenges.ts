import { isAgentId } from '@patchbay/contract/ids';
import { SCOPES_TO_DO_MORE } from '../../operations/invoke.ts';
import type { ResourceMetadata } from './resource-metadata.ts';

/** What `WWW-Authenticate` says to who is not let in: where to find out who issues tokens, and which scopes to ask for. */
export interface Challenges {
  /** One for every refusal, also for ids that no agent can have: those are told of all agents (B-77, decisions.md 3). */
  agentDoor(agentId: string, host: string | undefined): string;
  /** `presented`: there was a credential, and it does not open the door (E-36). */
  operatorDoor(host: string | undefined, presented: boolean): string;
  /** To a client that may only read: with which scopes it may do more (RFC 6750, step-up). */
  needsMore(host: string | undefined): string;
}

export function createChallenges({ addressOf, scopesOf }: ResourceMetadata): Challenges {
  const operator = { door: 'operator' } as const;
  return {
    agentDoor(agentId, host) {
      const name = isAgentId(agentId) ? ({ door: 'agent', agentId } as const) : ({ door: 'agents' } as const);
      return bearer({
        realm: 'MCP',
        resource_metadata: addressOf(name, host),
        scope: scopesOf(name).join(' '),
      });
    },
    operatorDoor: (host, presented) =>
      bearer({
        ...(presented && { error: 'invalid_token' }),
        resource_metadata: addressOf(operator, host),
        scope: scopesOf(operator).join(' '),
      }),
    needsMore: host =>
      bearer({
        error: 'insufficient_scope',
        scope: SCOPES_TO_DO_MORE,
        resource_metadata: addressOf(operator, host),
      }),
  };
}

/** Every value is ours, or of an alphabet without quotes. */
function bearer(parameters: Readonly<Record<string, string>>): string {
  const written = Object.entries(parameters).map(([name, value]) => `${name}="${value}"`);
  return `Bearer ${written.join(', ')}`;
}
