import { type EngineName, engines } from '@patchbay/testing/stores';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ann, helloFile, type Rig, say, startRig } from './setup.ts';

// What an agent knows of a person, it knows in the person's next conversation.

/** An agent that keeps, under what is said, what is said, and answers with all it knows. */
async function keeper(agent: string, instruction: object = {}, userMemoryConfig?: object) {
  return helloFile({
    agent,
    dictionary: undefined,
    rules: {
      behaviorGroups: [
        {
          name: 'all',
          rules: [
            {
              name: 'said',
              actions: ['keep'],
              conditions: [{ type: 'sizematcher', configs: { valuePath: 'input', min: 1 } }],
            },
          ],
        },
      ],
    },
    property: {
      setOnActions: [
        {
          actions: ['keep'],
          setProperties: [
            { name: 'last', valueString: '{{ input }}', scope: 'longTerm', ...instruction },
            { name: 'here', valueString: '{{ input }}' },
          ],
        },
      ],
    },
    output: {
      outputSet: [
        {
          action: 'keep',
          outputs: [{ valueAlternatives: [{ type: 'text', text: '{{ properties | json }}' }] }],
        },
      ],
    },
    ...(userMemoryConfig && { userMemoryConfig }),
  });
}

describe.each(engines)('long-term properties on %s', (engine: EngineName) => {
  let rig: Rig;
  beforeEach(async () => {
    rig = await startRig(engine);
  });
  afterEach(() => rig[Symbol.asyncDispose]());

  const deploy = async (...file: Parameters<typeof keeper>) =>
    rig.agentFiles.deploy(ann, await keeper(...file));

  /** Says something in a new conversation, and gives the properties it started with and those it has then. */
  async function tell(agentId: string, input: string) {
    const { conversationId } = await say(rig.turns, { agentId });
    const started = await propertiesOf(conversationId);
    await say(rig.turns, { agentId, conversationId, input });
    return { conversationId, started, now: await propertiesOf(conversationId) };
  }

  async function propertiesOf(conversationId: string): Promise<Record<string, unknown>> {
    const row = await rig.store.db
      .selectFrom('conversations')
      .select('properties')
      .where('id', '=', conversationId)
      .executeTakeFirstOrThrow();
    return JSON.parse(row.properties) as Record<string, unknown>;
  }

  const rows = () => rig.store.db.selectFrom('user_memories').selectAll().orderBy('key').execute();

  /** Properties set with a name that is what was said, so that several are kept. */
  async function keep(agentId: string, name: string, value: unknown, visibility = 'self') {
    rig.insideTurn = memory => memory.setProperty(name, value, 'longTerm', visibility as 'self');
    await say(rig.turns, { agentId });
    rig.insideTurn = () => undefined;
  }

  it('are there in the next conversation of the same person and agent, and for nobody else', async () => {
    await deploy('one');
    await deploy('two');
    const first = await tell('one', 'blue');
    expect(first.now).toMatchObject({ last: 'blue', here: 'blue' });
    expect((await tell('one', 'red')).started).toMatchObject({ last: 'blue' });
    expect((await tell('one', 'green')).started).toMatchObject({ last: 'red' });
    expect((await tell('two', 'x')).started.last).not.toBe('green');
    expect(await rows()).toEqual([
      expect.objectContaining({
        user_id: ann.id,
        key: 'last',
        value: '"green"',
        category: 'property',
        visibility: 'self',
        source_agent_id: 'one',
        group_ids: '[]',
        conflicted: 0,
        access_count: 0,
      }),
      expect.objectContaining({ source_agent_id: 'two', value: '"x"' }),
    ]);
  });

  it('are recalled by every agent of the person when they are global, and stay with who wrote them first', async () => {
    await deploy('one', { visibility: 'global' });
    await deploy('two', { visibility: 'global' });
    await tell('one', 'blue');
    expect((await tell('two', 'red')).started).toMatchObject({ last: 'blue' });
    expect((await tell('one', 'x')).started).toMatchObject({ last: 'red' });
    expect(await rows()).toEqual([expect.objectContaining({ source_agent_id: 'one', visibility: 'global' })]);
  });

  it('do not touch a global one of the same name, and the one changed last counts', async () => {
    await deploy('one');
    await keep('one', 'color', 'global blue', 'global');
    await keep('one', 'color', 'my red', 'self');
    expect((await rows()).filter(({ key }) => key === 'color')).toHaveLength(2);
    await rig.store.db
      .updateTable('user_memories')
      .set({ updated_at: 1 })
      .where('visibility', '=', 'global')
      .execute();
    expect((await tell('one', 'x')).started.color).toBe('my red');
    await rig.store.db
      .updateTable('user_memories')
      .set({ updated_at: 0 })
      .where('visibility', '=', 'self')
      .execute();
    expect((await tell('one', 'x')).started.color).toBe('global blue');
  });

  it('for a group are the agent’s own outside of one, and have the agent’s visibility when they say none', async () => {
    await deploy('one', { visibility: 'group' });
    await deploy('two', {}, { defaultVisibility: 'global' });
    await tell('one', 'x');
    await tell('two', 'y');
    expect((await rows()).map(({ source_agent_id, visibility }) => [source_agent_id, visibility])).toEqual(
      expect.arrayContaining([
        ['one', 'self'],
        ['two', 'global'],
      ]),
    );
  });

  it('make room for new ones, the oldest first, or are no more, as configured', async () => {
    await deploy('evicting', {}, { maxEntriesPerUser: 2 });
    await deploy('full', {}, { maxEntriesPerUser: 2, onCapReached: 'reject' });
    for (const agentId of ['evicting', 'full']) {
      for (const [at, name] of ['a', 'b', 'c'].entries()) {
        await keep(agentId, name, at);
        await rig.store.db
          .updateTable('user_memories')
          .set({ updated_at: at })
          .where('key', '=', name)
          .execute();
      }
    }
    const namesOf = async (agentId: string) =>
      (await rows()).filter(row => row.source_agent_id === agentId).map(({ key }) => key);
    expect(await namesOf('evicting')).toEqual(['b', 'c']);
    expect(await namesOf('full')).toEqual(['a', 'b']);
  });

  it('are as many at the start as configured, the most recent or the most used ones', async () => {
    await deploy('recent', {}, { maxRecallEntries: 2 });
    await deploy('used', {}, { maxRecallEntries: 2, recallOrder: 'most_accessed' });
    for (const agentId of ['recent', 'used'])
      for (const name of ['a', 'b', 'c', 'd']) await keep(agentId, name, name);
    const times = { a: 3, b: 2, c: 1, d: 0 };
    for (const [key, at] of Object.entries(times)) {
      await rig.store.db
        .updateTable('user_memories')
        .set({ updated_at: 1_000 - at, access_count: at })
        .where('key', '=', key)
        .execute();
    }
    rig.insideTurn = memory => {
      started.push(Object.keys(memory.properties).sort());
    };
    const started: string[][] = [];
    await say(rig.turns, { agentId: 'recent' });
    await say(rig.turns, { agentId: 'used' });
    expect(started).toEqual([
      ['c', 'd'],
      ['a', 'd'],
    ]);
    const counts = (await rows()).filter(row => row.source_agent_id === 'used');
    expect(Object.fromEntries(counts.map(({ key, access_count }) => [key, access_count]))).toEqual({
      a: 4,
      b: 2,
      c: 1,
      d: 1,
    });
  });

  it('are stored with the turn or not at all', async () => {
    await deploy('one');
    const { conversationId } = await say(rig.turns, { agentId: 'one' });
    rig.insideTurn = memory => {
      memory.setProperty('lost', 1, 'longTerm');
      throw new Error('The step fails.');
    };
    await expect(say(rig.turns, { agentId: 'one', conversationId, input: 'x' })).rejects.toThrow();
    expect((await rows()).map(({ key }) => key)).not.toContain('lost');
  });

  it('are no business of an agent that neither sets properties nor is configured to know people', async () => {
    await deploy('one', { visibility: 'global' });
    await tell('one', 'blue');
    rig.insideTurn = memory => {
      expect(memory.properties).toEqual({});
    };
    await say(rig.turns, { agentId: 'hello', input: 'hours' });
  });
});
