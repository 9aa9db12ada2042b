import { type EngineName, engines } from '@patchbay/testing/stores';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ann, bob, helloFile, type Rig, say, startRig } from './setup.ts';

describe.each(engines)('finding agents by what they can do, on %s', (engine: EngineName) => {
  let rig: Rig;
  beforeEach(async () => {
    rig = await startRig(engine);
  });
  afterEach(() => rig[Symbol.asyncDispose]());

  /** Asks who can translate, and says who. */
  async function deployAsking(): Promise<void> {
    const configs = { skill: '{{ context.skill }}', strategy: 'highest_confidence' };
    const rules = [
      { name: 'found', actions: ['tell'], conditions: [{ type: 'capabilityMatch', configs }] },
      { name: 'otherwise', actions: ['nobody'] },
    ];
    const text = (words: string) => [{ valueAlternatives: [{ type: 'text', text: words }] }];
    const outputSet = [
      { action: 'tell', outputs: text('{{ memory.current.capabilityMatch.results | join: ", " }}') },
      { action: 'nobody', outputs: text('nobody') },
    ];
    await rig.agentFiles.deploy(
      ann,
      await helloFile({ rules: { behaviorGroups: [{ name: 'g', rules }] }, output: { outputSet } }),
    );
  }

  const ask = async (skill: string) => {
    const answer = await say(rig.turns, { input: 'who?', context: { skill } });
    return answer.agentResponse;
  };

  it('finds those of the same owner, in the version that is deployed now', async () => {
    await deployAsking();
    const deploy = async (owner: typeof ann, agent: string, capabilities: unknown) =>
      rig.agentFiles.deploy(owner, await helloFile({ agent, capabilities }));
    expect(await ask('translate')).toBe('nobody');
    await deploy(ann, 'one', [{ skill: 'Translate' }, { skill: 'sing', confidence: 'low' }]);
    await deploy(ann, 'two', [{ skill: 'translate', confidence: 'high', attributes: { from: 'hu' } }]);
    await deploy(bob, 'foreign', [{ skill: 'translate' }]);
    expect(await ask('translate')).toBe('two, one');
    expect(await ask('SING')).toBe('one');
    expect(await ask('')).toBe('nobody');
    await deploy(ann, 'two', [{ skill: 'sing', confidence: 'high' }]);
    expect(await ask('translate')).toBe('one');
    expect(await ask('sing')).toBe('two, one');
    await deploy(ann, 'one', undefined);
    expect(await ask('translate')).toBe('nobody');
  });
});
