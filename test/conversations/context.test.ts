import { type EngineName, engines } from '@patchbay/testing/stores';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ann, countRows, errorOf, helloFile, type Rig, say, startRig } from './setup.ts';

/** What turns store, as one text. */
async function everythingStored({ store }: Rig): Promise<string> {
  const rows = await Promise.all(
    (
      [
        'conversations',
        'conversation_steps',
        'audit_records',
        'idempotency_keys',
        'pauses',
        'turn_checkpoints',
        'effects',
        'jobs',
      ] as const
    ).map(table => store.db.selectFrom(table).selectAll().execute()),
  );
  return JSON.stringify(rows);
}

describe.each(engines)('what comes with a message, on %s', (engine: EngineName) => {
  let rig: Rig;
  beforeEach(async () => {
    rig = await startRig(engine);
  });
  afterEach(() => rig[Symbol.asyncDispose]());

  it('is kept with the turn, but for the names the platform keeps for itself', async () => {
    const context = {
      mcp: 'true',
      groupId: 'group_1',
      'groupDepth:x': 3,
      user: { type: 'object', value: { name: 'Ann' } },
    };
    let seen: unknown;
    rig.insideTurn = memory => {
      seen = memory.context;
    };
    const { conversationId } = await say(rig.turns, { input: 'hours', context });
    expect(seen).toEqual({ mcp: 'true', user: { name: 'Ann' } });
    const read = await rig.conversations.read(ann, {
      conversationId,
      currentStepOnly: true,
      returnDetailed: true,
    });
    const data = read.conversationSteps?.[0]?.conversationStep.filter(({ key }) =>
      key.startsWith('context:'),
    );
    expect(data?.map(({ key, value }) => [key, value])).toEqual([
      ['context:mcp', 'true'],
      ['context:user', { name: 'Ann' }],
    ]);
    expect(await everythingStored(rig)).not.toContain('group_1');
  });

  it('means what it says in expressions', async () => {
    const context = { meant: { type: 'expressions', value: 'ask(hours)' } };
    const answer = await say(rig.turns, { input: 'xyzzy', context });
    expect(answer.agentResponse).toBe('We are open every day from 8 to 18.');
    expect(answer.response?.conversationOutputs?.[0]).toMatchObject({
      expressions: ['unknown(xyzzy)', 'ask(hours)'],
      intents: ['ask'],
    });
  });

  it('is said as it is in the answer to the message, before what the rules decide, and is no template', async () => {
    const output = { type: 'array', value: ['{{ userInfo.userId }}'] };
    const context = {
      output,
      quickReplies: { type: 'array', value: [{ value: '{{ input }}', expressions: 'ask(hours)' }] },
    };
    const answer = await say(rig.turns, { input: 'are you open?', context });
    expect(answer.agentResponseParts).toEqual([
      '{{ userInfo.userId }}',
      'We are open every day from 8 to 18.',
    ]);
    expect(answer.quickReplies).toContain('{{ input }}');
    const { conversationId } = answer;
    const greeting = await rig.conversations.read(ann, {
      conversationId,
      currentStepOnly: false,
      returnDetailed: false,
    });
    expect(JSON.stringify(greeting.conversationOutputs?.[0])).not.toContain('userInfo');
    // A quick reply is a word of the next turn, wherever it came from.
    const picked = await say(rig.turns, { conversationId, input: '{{ input }}' });
    expect(picked.agentResponse).toBe('We are open every day from 8 to 18.');
  });

  it('refuses what is malformed before anything runs or is stored', async () => {
    const before = await countRows(rig.store);
    const context = { meant: { type: 'expressions', value: 'ask(' } };
    const error = await errorOf(say(rig.turns, { input: 'hours', context }));
    expect(error).toMatchObject({ kind: 'invalid', message: expect.stringContaining('context.meant') });
    expect(await countRows(rig.store)).toEqual(before);
  });

  it('keeps a secret that was said out of everything that is stored, shown or understood', async () => {
    await rig.agentFiles.deploy(
      ann,
      await helloFile({
        output: {
          outputSet: [
            {
              action: 'help',
              outputs: [{ valueAlternatives: [{ type: 'text', text: 'You said {{ input }}.' }] }],
            },
          ],
        },
      }),
    );
    const secret = 'correct horse battery staple';
    let told: string | undefined;
    rig.insideTurn = memory => {
      told = memory.secretInput;
    };
    for (const secretInput of ['true', true, { type: 'string', value: 'true' }]) {
      const answer = await say(rig.turns, {
        input: secret,
        context: { secretInput },
        idempotencyKey: `k ${typeof secretInput}`,
      });
      expect(told).toBe(secret);
      expect(answer.agentResponse).toBe('You said <secret input>.');
      expect(answer.response?.conversationOutputs?.[0]).toMatchObject({
        input: '<secret input>',
        expressions: [],
      });
    }
    const stored = await everythingStored(rig);
    expect(stored).toContain('<secret input>');
    for (const word of secret.split(' ')) expect(stored).not.toContain(word);
    await say(rig.turns, { input: 'shown', context: { secretInput: 'false' } });
    expect([told, (await everythingStored(rig)).includes('shown')]).toEqual([undefined, true]);
  });

  it('waits with a turn that waits for a person: the secret is not kept, what is injected is said as it is', async () => {
    const rule = (name: string, actions: string[], expressions: string) => ({
      name,
      actions,
      conditions: [{ type: 'inputmatcher', configs: { expressions } }],
    });
    await rig.agentFiles.deploy(
      ann,
      await helloFile({
        rules: {
          behaviorGroups: [{ name: 'g', rules: [rule('wait', ['help', 'PAUSE_CONVERSATION'], 'wait')] }],
        },
      }),
    );
    const seen: unknown[] = [];
    rig.insideTurn = memory => seen.push(memory.secretInput);
    const context = {
      secretInput: 'true',
      meant: { type: 'expressions', value: 'wait' },
      output: '{{ userInfo.userId }}',
    };
    const { conversationId } = await say(rig.turns, { input: 'horse', context });
    expect(seen).toEqual([undefined, 'horse']);
    expect(await everythingStored(rig)).not.toContain('horse');
    await rig.pauses.decide(
      { principal: ann, decidedBy: 'mcp:ann' },
      { conversationId, verdict: 'APPROVED' },
    );
    await rig.node('node-2').continueTurn(conversationId);
    const read = await rig.conversations.read(ann, {
      conversationId,
      currentStepOnly: true,
      returnDetailed: true,
    });
    expect(read.conversationOutputs?.[0]).toMatchObject({ input: '<secret input>' });
    expect(read.conversationOutputs?.[0]?.output?.[0]).toEqual({
      type: 'text',
      text: '{{ userInfo.userId }}',
    });
    expect(await everythingStored(rig)).not.toContain('horse');
  });
});
