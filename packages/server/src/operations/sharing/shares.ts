import type { Sharing } from '../../agents/deployment/sharing.ts';

/** All shares of an agent, in the words of the contract. */
export function sharesOf(agentId: string, shares: Awaited<ReturnType<Sharing['list']>>) {
  return {
    agentId,
    count: shares.length,
    shares: shares.map(({ grantee, name, createdAt }) => ({
      with: grantee,
      ...(name !== undefined && { name }),
      createdOn: createdAt,
    })),
  };
}
