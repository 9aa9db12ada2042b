import { type EngineName, engines } from '@patchbay/testing/stores';
import { describe, expect, it } from 'vitest';
import { ann, helloFile, type Rig, say, startRig } from './setup.ts';

/** Asks about the whole conversation in every way there is, before it answers as examples/hello.yaml does. */
async function deployLookingBack(rig: Rig): Promise<void> {
  const file = await helloFile();
  const rules = structuredClone(file.rules) as { behaviorGroups: { rules: unknown[] }[] };
  const ask = { type: 'inputmatcher', configs: { expressions: 'ask(hours)' } };
  rules.behaviorGroups[0]!.rules.unshift(
    {
      name: 'has ordered and was served',
      actions: ['say_bye'],
      conditions: [
        ask,
        { type: 'inputmatcher', configs: { expressions: 'drink(*)', occurrence: 'anyStep' } },
        { type: 'actionmatcher', configs: { actions: 'take_order', occurrence: 'anyStep' } },
      ],
    },
    {
      name: 'has never said bye',
      actions: ['greet'],
      conditions: [ask, { type: 'inputmatcher', configs: { expressions: 'goodbye', occurrence: 'never' } }],
    },
  );
  await rig.agentFiles.deploy(ann, { ...file, rules });
}

/** Puts so many steps before the latest one, which no reader can make anything of. */
async function makeLong({ store }: Rig, conversationId: string, count: number): Promise<void> {
  const { step_index: last } = await store.db
    .selectFrom('conversation_steps')
    .select('step_index')
    .where('conversation_id', '=', conversationId)
    .orderBy('step_index', 'desc')
    .executeTakeFirstOrThrow();
  await store.commit(async db => {
    await db
      .updateTable('conversation_steps')
      .set({ output: 'not read', data: 'not read' })
      .where('conversation_id', '=', conversationId)
      .where('step_index', '<', last)
      .execute();
    await db
      .updateTable('conversation_steps')
      .set({ step_index: last + count })
      .where('conversation_id', '=', conversationId)
      .where('step_index', '=', last)
      .execute();
    for (let at = last; at < last + count; at += 500) {
      await db
        .insertInto('conversation_steps')
        .values(
          Array.from({ length: 500 }, (_, i) => ({
            conversation_id: conversationId,
            step_index: at + i,
            input: 'x',
            data: 'not read',
            output: 'not read',
            changes: '{}',
            created_at: 1,
          })),
        )
        .execute();
    }
    await db
      .updateTable('conversations')
      .set({ step_count: last + count + 1 })
      .where('id', '=', conversationId)
      .execute();
  });
}

describe.each(engines)('a conversation of 5000 turns on %s', (engine: EngineName) => {
  it('is answered without reading any but the latest, whatever was said in them', async () => {
    await using rig = await startRig(engine);
    await deployLookingBack(rig);
    const { conversationId } = await say(rig.turns, { input: 'coffee' });
    await say(rig.turns, { conversationId, input: 'hello' });
    await makeLong(rig, conversationId, 5_000);

    const answer = await say(rig.turns, { conversationId, input: 'hours' });
    expect(answer.agentResponse).toBe('Goodbye!');
    const { step_count } = await rig.store.db
      .selectFrom('conversations')
      .select('step_count')
      .where('id', '=', conversationId)
      .executeTakeFirstOrThrow();
    expect(step_count).toBe(5_004);
  });

  it('tells what has never been from what was once', async () => {
    await using rig = await startRig(engine);
    await deployLookingBack(rig);
    const never = await say(rig.turns, { input: 'hello' });
    await makeLong(rig, never.conversationId, 5_000);
    const asked = await say(rig.turns, { conversationId: never.conversationId, input: 'hours' });
    expect(asked.actions).toEqual(['greet']);
  });
});

describe.each(engines)('a conversation with an agent that looks back, on %s', (engine: EngineName) => {
  it('is read twenty turns back where the templates of the agent ask for it', async () => {
    await using rig = await startRig(engine);
    const log = '{{ memory.past | map: "input" | join: " " }} / {{ conversationLog | size }}';
    await rig.agentFiles.deploy(
      ann,
      await helloFile({
        output: {
          outputSet: [{ action: 'help', outputs: [{ valueAlternatives: [{ type: 'text', text: log }] }] }],
        },
      }),
    );
    const { conversationId, agentResponse } = await say(rig.turns, { input: 'word0' });
    // The greeting says nothing here, and nothing was said before it.
    expect(agentResponse).toBe(' / 0');
    for (let i = 1; i <= 24; i++) await say(rig.turns, { conversationId, input: `word${i}` });
    const last = await say(rig.node('node-2'), { conversationId, input: 'now' });
    const [words, size] = last.agentResponse!.split(' / ');
    expect(words!.split(' ')).toEqual(Array.from({ length: 20 }, (_, i) => `word${24 - i}`));
    const transcript = await rig.conversations.readLog(ann, { conversationId, logSize: 21 });
    expect(Number(size)).toBe(transcript.slice(0, transcript.lastIndexOf('User: now') - 1).length);
  });
});
