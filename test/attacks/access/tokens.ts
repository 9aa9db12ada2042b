import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { CompactEncrypt, generateKeyPair } from 'jose';
import { expect } from 'vitest';
import { setDisabled } from '../../../packages/server/src/store/tables/accounts.ts';
import { revokeGrant } from '../../../packages/server/src/store/tables/grants.ts';
import type { Said } from '../../authorization/tokens.ts';
import { callTool } from '../../doors/wire.ts';
import { type Attack, expectShut, type World } from './world.ts';

/** A token for the agent door that says something else than ours would. */
function said(name: string, reason: string, what: (world: World) => Said & { agentId?: string }): Attack {
  return {
    ...{ name, refused: `agent: ${reason}` },
    plan: async world => {
      const key = await world.kit.agentToken(world.grant, what(world));
      return () => expectShut(world.agent('demo', { key }));
    },
  };
}

/** One that is put together by hand from what a good one says. */
function made(
  name: string,
  reason: string,
  header: object | string,
  signature: (world: World, signed: string) => string,
  claims: (world: World) => object | string | undefined = () => undefined,
): Attack {
  return {
    ...{ name, refused: `agent: ${reason}` },
    plan: async world => {
      const [, payload] = (await world.kit.agentToken(world.grant)).split('.') as [string, string];
      const instead = claims(world);
      const signed = `${encoded(header)}.${instead === undefined ? payload : encoded(instead)}`;
      return () => expectShut(world.agent('demo', { key: `${signed}.${signature(world, signed)}` }));
    },
  };
}

/** One for the operator door. */
function atOperator(name: string, reason: string, what: (world: World) => Said | Promise<Said>): Attack {
  return {
    ...{ name, refused: `operator: ${reason}` },
    plan: async world => {
      const key = await world.kit.operatorToken(world.operatorGrant, await what(world));
      return () => expectShut(world.operator({ key }));
    },
  };
}

function encoded(part: object | string): string {
  return Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url');
}

const ourHmac = ({ kit }: World, signed: string) =>
  createHmac('sha256', kit.keys.hs256).update(signed).digest('base64url');
const unsigned = () => '';
const SOMETHING = randomBytes(32).toString('base64url');
const HEADER = { alg: 'HS256', typ: 'at+jwt' };

const foreignKey = async () => (await generateKeyPair('ES256')).privateKey;

export const TOKEN_ATTACKS: readonly Attack[] = [
  said('of another issuer (attack 1)', 'other-issuer', () => ({ claims: { iss: 'https://evil.example' } })),
  said('of our issuer with a slash (our own)', 'other-issuer', ({ platform }) => ({
    claims: { iss: `${platform.url}/` },
  })),
  said('of our issuer in capitals (our own)', 'other-issuer', ({ platform }) => ({
    claims: { iss: platform.url.toUpperCase() },
  })),
  said('for another audience (attack 1)', 'other-audience', () => ({
    claims: { aud: 'https://evil.example' },
  })),
  said('for the endpoint of another agent (attack 1)', 'other-audience', () => ({ agentId: 'second' })),
  said('for our address with a slash (our own)', 'other-audience', ({ platform }) => ({
    claims: { aud: `${platform.url}/` },
  })),
  said('for our address in capitals (our own)', 'other-audience', ({ platform }) => ({
    claims: { aud: platform.url.toUpperCase() },
  })),
  said('for our address with user information (our own)', 'other-audience', ({ platform }) => ({
    claims: { aud: platform.url.replace('//', '//evil.example@') },
  })),
  said('for us and somebody else (our own)', 'bad-token', ({ platform }) => ({
    claims: { aud: [platform.url, 'https://evil.example'] },
  })),
  said('for nobody (our own)', 'bad-token', () => ({ claims: { aud: undefined } })),
  said('that has ended (attack 3)', 'expired-token', ({ kit }) => ({ claims: { exp: kit.now() - 7 } })),
  said('that begins later (attack 3)', 'bad-token', ({ kit }) => ({ claims: { nbf: kit.now() + 10 } })),
  said('without an end (our own)', 'bad-token', () => ({ claims: { exp: undefined } })),
  made('whose end is a text (our own)', 'bad-token', HEADER, ourHmac, ({ kit, grant, platform }) => ({
    ...{ iss: platform.url, aud: platform.url, sub: grant.userId, client_id: grant.clientId, jti: 'x' },
    ...{ scope: 'agents', grant: grant.id, iat: kit.now(), exp: String(kit.now() + 600) },
  })),
  made(
    'whose end is a number beyond all (our own)',
    'bad-token',
    HEADER,
    ourHmac,
    ({ kit, grant, platform }) =>
      JSON.stringify({
        ...{ iss: platform.url, aud: platform.url, sub: grant.userId, client_id: grant.clientId, jti: 'x' },
        ...{ scope: 'agents', grant: grant.id, iat: kit.now(), exp: 1 },
      }).replace('"exp":1', '"exp":1e999'),
  ),
  said('without a person (our own)', 'bad-token', () => ({ claims: { sub: undefined } })),
  said('of another person (attack 22)', 'other-grant', ({ mallory }) => ({ claims: { sub: mallory.id } })),
  said('of another client (our own)', 'other-grant', () => ({ claims: { client_id: 'patchbay-mcp' } })),
  said('of a consent that there is not (our own)', 'unknown-grant', () => ({
    claims: { grant: 'grant_none' },
  })),
  said('of a consent for the other door (our own)', 'other-grant', ({ operatorGrant }) => ({
    claims: { grant: operatorGrant.id },
  })),
  said('of the type that id tokens have (our own)', 'bad-token', () => ({ header: { typ: 'JWT' } })),
  said('signed with another key (attack 2)', 'bad-signature', () => ({ key: randomBytes(32) })),
  said('signed with an empty key that its kid is a path to (attack 2)', 'bad-signature', () => ({
    header: { kid: '../../../../dev/null' },
    key: new Uint8Array(32),
  })),
  said('whose kid is SQL (attack 2)', 'bad-signature', () => ({
    header: { kid: "' UNION SELECT 'secret' --" },
    key: Buffer.from('secret'.padEnd(32)),
  })),
  said('signed with the secret of cookies (our own)', 'bad-signature', ({ kit }) => ({
    key: kit.keys.cookie,
  })),
  said('with another length of hash (our own)', 'bad-token', () => ({
    header: { alg: 'HS512' },
    key: new Uint8Array(64),
  })),
  said('longer than any of ours (our own)', 'bad-token', () => ({ claims: { x: 'x'.repeat(9_000) } })),
  made('without a signature: alg none (attack 2)', 'bad-token', { alg: 'none', typ: 'at+jwt' }, unsigned),
  made('alg nOnE (attack 2)', 'bad-token', { alg: 'nOnE', typ: 'at+jwt' }, unsigned),
  made('alg none beside a signature (our own)', 'bad-token', { alg: 'none', typ: 'at+jwt' }, ourHmac),
  made(
    'with two algorithms (our own)',
    'bad-signature',
    '{"alg":"none","alg":"HS256","typ":"at+jwt"}',
    () => SOMETHING,
  ),
  made('with a critical header (our own)', 'bad-token', { ...HEADER, crit: ['exp'] }, ourHmac),
  made('whose content is not encoded: b64 false (our own)', 'bad-token', { ...HEADER, b64: false }, ourHmac),
  made(
    'in a token (our own)',
    'bad-token',
    { ...HEADER, cty: 'JWT' },
    ourHmac,
    () => 'eyJhbGciOiJub25lIn0.e30.',
  ),
  made('whose claims are a list (our own)', 'bad-token', HEADER, ourHmac, () => []),
  made(
    'with an unsigned change of who it is (our own)',
    'bad-signature',
    HEADER,
    () => SOMETHING,
    world => ({
      sub: world.owner,
    }),
  ),
  atOperator('signed by HS256 with the public key of ES256 (attack 2)', 'bad-token', ({ kit }) => {
    const { d: _private, ...publicKey } = kit.keys.es256;
    return { header: { alg: 'HS256' }, key: Buffer.from(JSON.stringify(publicKey)) };
  }),
  atOperator('whose header says where its key is: jku (attack 2)', 'bad-token', async ({ platform }) => ({
    header: { jku: `${platform.url}/oauth/jwks` },
    key: await foreignKey(),
  })),
  atOperator('whose header says where its certificate is: x5u (attack 2)', 'bad-token', async () => ({
    header: { x5u: 'http://169.254.169.254/cert' },
    key: await foreignKey(),
  })),
  atOperator('that brings its key along: jwk (our own)', 'bad-token', async () => ({
    header: { jwk: { kty: 'EC', crv: 'P-256', x: 'x', y: 'y' } },
    key: await foreignKey(),
  })),
  atOperator('signed with a key of somebody else under our kid (our own)', 'bad-signature', async () => ({
    key: await foreignKey(),
  })),
  atOperator(
    'for the agents, signed as one for the operator (attack 1)',
    'other-audience',
    ({ platform }) => ({
      claims: { aud: platform.url },
    }),
  ),
  {
    name: 'that is encrypted (our own)',
    refused: 'agent: bad-credential',
    plan: async world => {
      const encrypted = new CompactEncrypt(Buffer.from('{}')).setProtectedHeader({
        ...{ alg: 'dir', enc: 'A256GCM' },
      });
      const key = await encrypted.encrypt(world.kit.keys.hs256);
      return () => expectShut(world.agent('demo', { key }));
    },
  },
  {
    name: 'for the operator at the agent door (attack 1)',
    refused: 'agent: bad-token',
    plan: async world => {
      const key = await world.kit.operatorToken(world.operatorGrant);
      return () => expectShut(world.agent('demo', { key }));
    },
  },
  {
    name: 'for agents at the operator door (attack 1)',
    refused: 'operator: bad-token',
    plan: async world => {
      const key = await world.kit.agentToken(world.grant);
      return () => expectShut(world.operator({ key }));
    },
  },
  {
    name: 'for agents at REST (attack 1)',
    refused: 'rest: bad-token',
    plan: async world => {
      const token = await world.kit.agentToken(world.grant);
      return () => expectShut(world.rest({ authorization: `Bearer ${token}` }));
    },
  },
  {
    name: 'of a consent that was taken back, which a moment ago opened (attack 14)',
    refused: 'agent: revoked-grant',
    plan: async world => {
      const grant = await world.kit.allow(world.owner, { agentIds: ['demo'] });
      const key = await world.kit.agentToken(grant);
      expect((await world.agent('demo', { key })).status).toBe(200);
      const { store } = world.platform.platform;
      await store.commit(db => revokeGrant(db, { id: grant.id, at: Date.now() }));
      return () => expectShut(world.agent('demo', { key }));
    },
  },
  {
    name: 'of a consent that is over (our own)',
    refused: 'agent: expired-grant',
    plan: async world => {
      const grant = await world.kit.allow(world.owner, { agentIds: ['demo'], expiresAt: Date.now() - 1 });
      const key = await world.kit.agentToken(grant);
      return () => expectShut(world.agent('demo', { key }));
    },
  },
  {
    name: 'of a person who is disabled (attack 14)',
    refused: 'operator: revoked-grant',
    plan: async world => {
      const { userId } = await world.platform.addPerson(['patchbay-admin']);
      const key = await world.kit.operatorToken(await world.kit.allow(userId, { door: 'operator' }));
      expect((await world.operator({ key })).status).toBe(200);
      await world.platform.platform.users.disable(userId);
      return () => expectShut(world.operator({ key }));
    },
  },
  {
    name: 'of a person who is disabled, of whom nothing was taken back yet (our own)',
    refused: 'operator: disabled-person',
    plan: async world => {
      const { userId } = await world.platform.addPerson(['patchbay-admin']);
      const key = await world.kit.operatorToken(await world.kit.allow(userId, { door: 'operator' }));
      await world.platform.platform.store.commit(db => setDisabled(db, userId, true));
      return () => expectShut(world.operator({ key }));
    },
  },
  {
    name: 'for an agent whose sharing has ended (our own)',
    refused: 'agent: not-owner',
    plan: async world => {
      const share = { agentId: 'shared', with: `user:${world.mallory.id}` };
      await world.call('share_agent', share);
      const grant = await world.kit.allow(world.mallory.id, { agentIds: ['shared'] });
      const key = await world.kit.agentToken(grant);
      expect((await world.agent('shared', { key })).status).toBe(200);
      await world.call('unshare_agent', share);
      return () => expectShut(world.agent('shared', { key }));
    },
  },
  {
    name: 'for an agent of somebody else, whatever was consented (our own)',
    refused: 'agent: not-owner',
    plan: async world => {
      const grant = await world.kit.allow(world.mallory.id, { agentIds: ['demo'] });
      const key = await world.kit.agentToken(grant);
      return () => expectShut(world.agent('demo', { key }));
    },
  },
  {
    name: 'for an agent that was not chosen (attack 1)',
    refused: 'agent: not-owner',
    plan: async world => {
      const key = await world.kit.agentToken(world.grant);
      return () => expectShut(world.agent('second', { key }));
    },
  },
  {
    name: 'for an agent that is open to no MCP client (our own)',
    refused: 'agent: not-mcp-enabled',
    plan: async world => {
      const key = await world.kit.agentToken(world.grant);
      return () => expectShut(world.agent('hidden', { key }));
    },
  },
  {
    name: 'for an agent that there is not, answered as one that is somebody else’s (attack 23)',
    refused: 'agent: unknown-agent',
    plan: async world => {
      const key = await world.kit.agentToken(world.grant);
      return async () => {
        const answers = [await world.agent('nobody', { key }), await world.agent('second', { key })];
        const [unknown, foreign] = answers.map(({ status, body }) => [status, body]);
        expect(unknown).toEqual(foreign);
      };
    },
  },
  {
    name: 'of a client that may only read, to change something (attack 16)',
    refused: 'operator: insufficient-scope',
    plan: async world => {
      const scope = 'operator:read';
      const reading = await world.kit.allow(world.owner, { door: 'operator', scope });
      const key = await world.kit.operatorToken(reading);
      return async () => {
        const args = { agentId: 'demo' };
        expect(
          (await callTool(world.platform.operatorUrl, 'create_conversation', args, { key })).status,
        ).toBe(403);
      };
    },
  },
  {
    name: 'of somebody whose role was taken away meanwhile (attack 14)',
    refused: 'deploy_agent_file: missing-role',
    plan: async world => {
      const { users } = world.platform.platform;
      const { userId } = await world.platform.addPerson(['patchbay-admin']);
      const grant = await world.kit.allow(userId, { door: 'operator' });
      const key = await world.kit.operatorToken(grant, { claims: { jti: randomUUID() } });
      const deploy = (agent: string) =>
        fetch(`${world.platform.url}/api/v1/agent-files`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: JSON.stringify({
            file: { agent, name: agent, rules: { behaviorGroups: [] }, output: { outputSet: [] } },
          }),
        });
      expect((await deploy('theirs')).ok).toBe(true);
      await users.setRoles(userId, ['patchbay-viewer']);
      return async () => expect((await deploy('more')).status).toBe(403);
    },
  },
];
