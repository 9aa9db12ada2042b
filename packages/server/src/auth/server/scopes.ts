import type { ResourceName } from '../token/resource.ts';

/** What a token may do at the operator door: everything its person may, or only read. */
const OPERATOR_SCOPES = ['operator', 'operator:read'] as const;
const AGENT_SCOPES = ['agents'] as const;

/** The scopes of a door, the whole of it first. */
export function scopesOf(door: ResourceName['door']): readonly [string, ...string[]] {
  return door === 'operator' ? OPERATOR_SCOPES : AGENT_SCOPES;
}

/**
 * What a request for `scope` means at a door: who names none of its scopes asks for the whole of it (E-38: clients ask for `openid`). Scopes
 * that nobody knows here are left out, as RFC 6749 allows.
 */
export function scopeAskedFor(door: ResourceName['door'], scope: string | null): string {
  const asked = new Set((scope ?? '').split(' '));
  const [whole, ...parts] = scopesOf(door);
  const ofDoor = [whole, ...parts].filter(each => asked.has(each));
  return [...(asked.has('openid') ? ['openid'] : []), ...(ofDoor.length > 0 ? ofDoor : [whole])].join(' ');
}
