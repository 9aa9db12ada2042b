import { expect } from 'vitest';
import type { KeyScope } from '../../../packages/contract/src/operations/keys.ts';
import { rest } from '../../rest/rest-client.ts';
import { type Attack, expectShut, type World } from './world.ts';

const newKey = ({ platform: { platform }, owner }: World, scopes: readonly KeyScope[], days?: number) =>
  platform.keys.createUserKey(owner, { name: 'tried', scopes, expiresInDays: days });

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

/** Somebody with a key of their own reaches over REST for what is the owner's. */
function reached(
  name: string,
  refused: string,
  method: string,
  path: (world: World) => string | Promise<string>,
  status: number,
  body?: object,
): Attack {
  return {
    ...{ name, refused },
    plan: async world => {
      const { key } = await world.platform.addPerson(['patchbay-editor']);
      const at = await path(world);
      return async () => {
        const answer = await rest(world.platform.url, method, at, {
          ...{ key, headers: { 'last-event-id': '1', accept: 'application/json, text/event-stream' } },
          ...(body && { body }),
        });
        expect([answer.status, answer.headers.get('content-type')]).toEqual([status, 'application/json']);
      };
    },
  };
}

/** A conversation of the owner, below its agent. */
async function conversationOf({ platform }: World): Promise<string> {
  const at = '/agents/demo/conversations';
  const { body } = await rest(platform.url, 'POST', at, { key: platform.operatorKey, body: {} });
  return `${at}/${body.conversation_id}`;
}

export const KEY_ATTACKS: readonly Attack[] = [
  reached(
    'to end the key of somebody else (our own)',
    'revoke_key: not-theirs',
    'DELETE',
    async world => {
      const { record } = await newKey(world, ['agents']);
      return `/api-keys/${record.id}`;
    },
    404,
  ),
  reached(
    'to see the keys of an agent of somebody else (attack 23)',
    'list_agent_keys: not-theirs',
    'GET',
    () => '/agents/demo/keys',
    404,
  ),
  reached(
    'to make another key for an agent (our own)',
    'create_agent_key: not-allowed',
    'POST',
    () => '/agents/demo/keys',
    403,
    { name: 'mine' },
  ),
  reached(
    'to live longer than it may, as another key (our own)',
    'create_key: not-allowed',
    'POST',
    () => '/api-keys',
    403,
    {
      ...{ name: 'mine', scopes: ['operator'] },
    },
  ),
  reached(
    'to share an agent of somebody else with everybody (our own)',
    'share_agent: not-theirs',
    'POST',
    () => '/agents/demo/shares',
    404,
    { with: 'everyone' },
  ),
  reached(
    'to take back what somebody else has allowed (our own)',
    'revoke_grant: not-theirs',
    'DELETE',
    ({ grant }) => `/grants/${grant.id}`,
    404,
  ),
  reached(
    'to read the conversation of somebody else (attack 19)',
    'read_own_conversation: not-allowed',
    'GET',
    conversationOf,
    403,
  ),
  reached(
    'to go on with what somebody else has heard last (attack 21)',
    'watch_conversation: not-allowed',
    'GET',
    async world => `${await conversationOf(world)}/events`,
    403,
  ),

  {
    name: 'that was made up in the form of ours (our own)',
    refused: 'agent: unknown-key',
    plan: world => () => expectShut(world.agent('demo', { key: `oag_${'a'.repeat(64)}` })),
  },
  {
    name: 'with its last letter changed (our own)',
    refused: 'agent: unknown-key',
    plan: async world => {
      const { token } = await newKey(world, ['agents']);
      const key = token.slice(0, -1) + (token.endsWith('a') ? 'b' : 'a');
      return () => expectShut(world.agent('demo', { key }));
    },
  },
  {
    name: 'that has SQL in it (our own)',
    refused: 'agent: bad-credential',
    plan: world => () => expectShut(world.agent('demo', { key: "oag_'OR'1'='1" })),
  },
  {
    name: 'of which only the hash was stolen (our own)',
    refused: 'operator: bad-credential',
    plan: async world => {
      const { record } = await newKey(world, ['operator']);
      return () => expectShut(world.operator({ key: record.hash }));
    },
  },
  {
    name: 'that was revoked, which a moment ago opened (attack 14)',
    refused: 'agent: revoked-key',
    plan: async world => {
      const { token, record } = await newKey(world, ['agents']);
      expect((await world.agent('demo', { key: token })).status).toBe(200);
      await world.call('revoke_key', { keyId: record.id });
      return () => expectShut(world.agent('demo', { key: token }));
    },
  },
  {
    name: 'that has ended (our own)',
    refused: 'agent: expired-key',
    plan: async world => {
      const { token, record } = await newKey(world, ['agents'], 1);
      const { store } = world.platform.platform;
      const change = { expires_at: Date.now() - 1 };
      await store.commit(async db => {
        await db.updateTable('keys').set(change).where('id', '=', record.id).execute();
      });
      return () => expectShut(world.agent('demo', { key: token }));
    },
  },
  {
    name: 'of a person who is disabled (attack 14)',
    refused: 'rest: revoked-key',
    plan: async world => {
      const { userId, key } = await world.platform.addPerson(['patchbay-admin']);
      expect((await world.rest(bearer(key))).status).toBe(200);
      await world.platform.platform.users.disable(userId);
      return () => expectShut(world.rest(bearer(key)));
    },
  },
  {
    name: 'for agents, at the operator door (our own)',
    refused: 'operator: wrong-scope',
    plan: async world => {
      const { token } = await newKey(world, ['agents']);
      return () => expectShut(world.operator({ key: token }));
    },
  },
  {
    name: 'for the operator, at the agent door (our own)',
    refused: 'agent: wrong-scope',
    plan: async world => {
      const { token } = await newKey(world, ['operator']);
      return () => expectShut(world.agent('demo', { key: token }));
    },
  },
  {
    name: 'of one agent, at another one of the same owner (attack 1)',
    refused: 'agent: other-agent',
    plan: world => () => expectShut(world.agent('second', { key: world.platform.agentKey })),
  },
  {
    name: 'of an agent, at the operator door (our own)',
    refused: 'operator: wrong-door',
    plan: world => () => expectShut(world.operator({ key: world.platform.agentKey })),
  },
  {
    name: 'of an agent, to make itself another key (our own)',
    refused: 'rest: wrong-door',
    plan: world => () =>
      expectShut(
        fetch(`${world.platform.url}/api/v1/api-keys`, {
          method: 'POST',
          headers: { ...bearer(world.platform.agentKey), 'content-type': 'application/json' },
          body: JSON.stringify({ name: 'more', scopes: ['operator'] }),
        }),
      ),
  },
  {
    name: 'of a person, at an agent of somebody else (our own)',
    refused: 'agent: not-owner',
    plan: world => () => expectShut(world.agent('demo', { key: world.mallory.key })),
  },
  {
    name: 'for what is shared, when the sharing has ended (our own)',
    refused: 'agent: not-owner',
    plan: async world => {
      const { id } = world.mallory;
      const { token: key } = await world.platform.platform.keys.createUserKey(id, {
        ...{ name: 'shared', scopes: ['agents'], shared: true },
      });
      await world.call('share_agent', { agentId: 'shared', with: `user:${id}` });
      expect((await world.agent('shared', { key })).status).toBe(200);
      await world.call('unshare_agent', { agentId: 'shared', with: `user:${id}` });
      return () => expectShut(world.agent('shared', { key }));
    },
  },
  {
    name: 'of somebody who sees, to give themselves a role (our own)',
    refused: 'set_user_roles: missing-role',
    plan: world => async () => {
      const { id, key } = world.mallory;
      const answer = await fetch(`${world.platform.url}/api/v1/users/${id}/roles`, {
        method: 'PUT',
        headers: { ...bearer(key), 'content-type': 'application/json' },
        body: JSON.stringify({ roles: ['patchbay-admin'] }),
      });
      expect(answer.status).toBe(403);
    },
  },
  {
    name: 'of somebody who sees, to shut the owner out (our own)',
    refused: 'disable_user: missing-role',
    plan: world => async () => {
      const answer = await fetch(`${world.platform.url}/api/v1/users/${world.owner}/disable`, {
        method: 'POST',
        headers: { ...bearer(world.mallory.key), 'content-type': 'application/json' },
        body: '{}',
      });
      expect(answer.status).toBe(403);
    },
  },
];
