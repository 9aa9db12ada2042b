import { engines, openTestStore } from '@patchbay/testing/stores';
import { describe, expect, it } from 'vitest';
import { DEMO_AGENT_FILE } from '../../packages/server/src/agents/demo/demo-agent.ts';
import { createAgentFiles } from '../../packages/server/src/agents/deployment/agent-files.ts';
import { STEP_TYPES } from '../../packages/server/src/agents/turn/steps.ts';
import { createKeys } from '../../packages/server/src/auth/key/keys.ts';
import { createPasswords } from '../../packages/server/src/auth/user/passwords.ts';
import { createUsers } from '../../packages/server/src/auth/user/users.ts';
import { systemClock } from '../../packages/server/src/kernel/clock.ts';
import type { Principal } from '../../packages/server/src/kernel/principal.ts';

describe.each(engines)('agent keys on %s', engine => {
  async function start() {
    const store = await openTestStore(engine);
    const clock = systemClock;
    const users = createUsers({ store, clock, passwords: createPasswords() });
    const person = async (name: string): Promise<Principal> => {
      const { id, roles } = await users.add({ name, roles: ['patchbay-admin'] });
      return { id, roles: new Set(roles), via: 'cli', credential: 'test', agents: { kind: 'own' } };
    };
    const owner = await person('owner');
    const references = { checkDeployment: async () => [] };
    await createAgentFiles({ store, clock, stepTypes: STEP_TYPES, references }).deploy(
      owner,
      DEMO_AGENT_FILE,
    );
    return {
      store,
      owner,
      other: await person('other'),
      keys: createKeys({ store, clock, operatorKeys: true }),
    };
  }

  it('are made by the owner of the agent and by no admin, for whom the agent is not there', async () => {
    const { store, owner, other, keys } = await start();
    await using _ = store;
    const mint = (principal: Principal, agentId = 'demo') =>
      keys.createAgentKey(principal, { agentId, name: 'a' });
    const foreign = await mint(other).catch((error: Error) => error);
    const missing = await mint(other, 'nobody').catch((error: Error) => error);
    expect(foreign).toMatchObject({
      kind: 'agent_not_found',
      message: 'agentId: you own no agent "demo".',
    });
    expect(missing).toMatchObject({
      kind: 'agent_not_found',
      message: 'agentId: you own no agent "nobody".',
    });
    expect((await mint(owner)).record).toMatchObject({ userId: owner.id, agentId: 'demo' });
    expect(await keys.list(other.id)).toEqual([]);
  });

  it('are three at the most, however many are asked for at the same time', async () => {
    const { store, owner, keys } = await start();
    await using _ = store;
    const mint = () => keys.createAgentKey(owner, { agentId: 'demo', name: 'a' });
    const results = await Promise.allSettled(Array.from({ length: 20 }, mint));
    const refused = results.flatMap(result => (result.status === 'rejected' ? [result.reason.kind] : []));
    expect(refused).toEqual(Array.from({ length: 17 }, () => 'conflict'));
    const made = await keys.list(owner.id);
    expect(made).toHaveLength(3);

    await keys.revoke(owner.id, made[0]!.id);
    expect((await mint()).record.agentId).toBe('demo');
  });
});
