import { sha256OfJson } from '../../kernel/digest.ts';
import type { Vault } from '../../secrets/vault.ts';
import type { TurnClaim } from './admit-turn.ts';

const PLAIN = /^[a-zA-Z0-9_-]{1,80}$/;

/**
 * See `StepTools.keepSecret`: for this agent alone, and of this conversation by its name. Each turn keeps one of its own, so that a turn
 * that fails or is undone leaves the one that was told before.
 */
export async function keepSecret(
  vault: Pick<Vault, 'put'>,
  { lease, agentId, userId }: Pick<TurnClaim, 'lease' | 'agentId' | 'userId'>,
  name: string,
  value: string,
): Promise<string> {
  const key = `${lease.conversationId}.${lease.fence}.${PLAIN.test(name) ? name : `x.${sha256OfJson(name).slice(0, 32)}`}`;
  await vault.put({
    name: key,
    value,
    description: 'Told in a conversation',
    allowedAgents: [agentId],
    by: userId,
    conversationId: lease.conversationId,
  });
  return `\${vault:${key}}`;
}
