import { type EngineName, engines } from '@patchbay/testing/stores';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ann, helloFile, type Rig, say, startRig } from './setup.ts';

describe.each(engines)('what an agent understands and knows, on %s', (engine: EngineName) => {
  let rig: Rig;
  beforeEach(async () => {
    rig = await startRig(engine);
  });
  afterEach(() => rig[Symbol.asyncDispose]());

  it('is read by the parser of its file, on every node', async () => {
    const parser = {
      dictionaries: [{ type: 'integer' }, { type: 'punctuation' }],
      corrections: [{ type: 'levenshtein' }, { type: 'mergedTerms' }],
      normalizers: [{ type: 'contractedWords' }, { type: 'specialCharacter' }],
      config: { includeUnknown: false },
    };
    await rig.agentFiles.deploy(ann, await helloFile({ parser }));
    for (const turns of [rig.turns, rig.node('node-2')]) {
      const answer = await say(turns, { input: "I'd like 2 cofees, areyou opn?" });
      expect(answer.response?.conversationOutputs?.[0]).toMatchObject({
        expressions: [
          'integer(2)',
          'drink(coffee)',
          'punctuation(comma)',
          'ask(hours)',
          'punctuation(question_mark)',
        ],
        intents: ['integer', 'drink', 'punctuation', 'ask'],
        actions: ['take_order'],
      });
    }
  });

  it('has the variables of the platform as they are now', async () => {
    const text = '{{ vars.shop }} ({{ vars["opening.hours"] }}{{ vars.missing }})';
    const outputSet = [{ action: 'help', outputs: [{ valueAlternatives: [{ type: 'text', text }] }] }];
    await rig.agentFiles.deploy(ann, await helloFile({ output: { outputSet } }));
    const set = (name: string, value: string) => rig.variables.put({ name, value, by: 'ann' });
    await set('shop', 'Tea House');
    await set('opening.hours', '8 to 18');
    expect(await say(rig.turns, { input: 'x' })).toMatchObject({ agentResponse: 'Tea House (8 to 18)' });
    await set('shop', 'Coffee House');
    expect(await say(rig.turns, { input: 'x' })).toMatchObject({ agentResponse: 'Coffee House (8 to 18)' });
  });
});
