import { createClient } from '@patchbay/contract/client';
import type { TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestIo } from '../../packages/cli/src/testing/test-io.ts';
import { platforms } from '../doors/platforms.ts';

const says = (action: string, text: string) => ({
  action,
  outputs: [{ valueAlternatives: [{ type: 'text', text }] }],
});
const matches = (expressions: string, occurrence = 'currentStep') => ({
  type: 'inputmatcher',
  configs: { expressions, occurrence },
});

const barista = {
  agent: 'barista',
  name: 'Barista',
  dictionary: { words: [{ word: 'coffee', expressions: 'drink(coffee)' }] },
  rules: {
    behaviorGroups: [
      {
        name: 'bar',
        rules: [
          {
            name: 'again',
            actions: ['again'],
            conditions: [matches('drink(*)'), matches('drink(*)', 'lastStep')],
          },
          {
            name: 'order',
            actions: ['serve'],
            conditions: [{ type: 'negation', conditions: [matches('water')] }],
          },
          { name: 'never looked at', actions: ['serve'] },
        ],
      },
      {
        name: 'bar',
        executionStrategy: 'executeAll',
        rules: [
          {
            name: 'count',
            conditions: [{ type: 'occurrence', configs: { behaviorRuleName: 'order', maxTimesOccurred: 1 } }],
          },
        ],
      },
    ],
  },
  property: {
    setOnActions: [{ actions: ['serve'], setProperties: [{ name: 'said', valueString: '{{ input }}' }] }],
  },
  output: { outputSet: [says('serve', 'Coming.'), says('again', 'One more: {{ input }}.')] },
};

describe.each(platforms)('traces of $kind', ({ start }) => {
  let platform: TestPlatform;
  let client: ReturnType<typeof createClient>;
  beforeAll(async () => {
    platform = await start();
    client = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
    await client.call('deploy_agent_file', { file: barista });
  });
  afterAll(() => platform?.close());

  const trace = (message?: string, conversationId?: string) =>
    client.call('trace_turn', { agentId: 'barista', message, conversationId });

  it('say of each step what it changed, and of each rule that was looked at why it fired or not', async () => {
    const { conversationId } = await client.call('create_conversation', { agentId: 'barista' });
    const first = await trace('Coffee', conversationId);
    expect(first).toMatchObject({ conversationId, agentResponse: 'Coming.', actions: ['serve'] });
    expect(first.steps.map(({ stepIndex, type }) => `${stepIndex} ${type}`)).toEqual(
      ['parser', 'rules', 'property', 'output', 'templating'].map(type => `1 ${type}`),
    );
    const [parser, rules, property, output] = first.steps;
    expect(parser!.changed).toMatchObject({ expressions: ['drink(coffee)'] });
    expect(rules!.changed).toMatchObject({ actions: ['serve'] });
    expect(property!.changed).toMatchObject({ 'properties:set': ['said'] });
    expect(output!.changed).toMatchObject({ output: [{ type: 'text', text: 'Coming.' }] });
    expect(rules!.rules).toEqual([
      {
        ...{ group: 'bar', rule: 'again', fired: false, actions: [] },
        conditions: [
          {
            depth: 0,
            type: 'inputmatcher',
            state: 'SUCCESS',
            asked: 'expressions drink(*)',
            found: 'drink(coffee)',
          },
          {
            depth: 0,
            type: 'inputmatcher',
            state: 'FAIL',
            asked: 'expressions drink(*), occurrence lastStep',
            found: '',
          },
        ],
      },
      {
        ...{ group: 'bar', rule: 'order', fired: true, actions: ['serve'] },
        conditions: [
          { depth: 0, type: 'negation', state: 'SUCCESS', asked: '' },
          {
            depth: 1,
            type: 'inputmatcher',
            state: 'FAIL',
            asked: 'expressions water',
            found: 'drink(coffee)',
          },
        ],
      },
      {
        ...{ group: 'bar', rule: 'count', fired: true, actions: [] },
        conditions: [
          {
            depth: 0,
            type: 'occurrence',
            state: 'SUCCESS',
            asked: 'behaviorRuleName order, maxTimesOccurred 1',
            found: '1',
          },
        ],
      },
    ]);
    const second = await trace('coffee', conversationId);
    expect(second.agentResponse).toBe('One more: coffee.');
    expect(second.steps[1]!.rules!.map(({ rule, fired }) => `${rule} ${fired}`)).toEqual([
      'again true',
      'count false',
    ]);
  });

  it('change nothing: the same conversation without one is the same', async () => {
    const conversations = await Promise.all(
      [true, false].map(async traced => {
        const { conversationId } = await client.call('create_conversation', { agentId: 'barista' });
        for (const message of ['coffee', 'water', 'coffee', 'coffee']) {
          if (traced) await trace(message, conversationId);
          else await client.call('talk_to_agent', { agentId: 'barista', conversationId, message });
        }
        return client.call('read_conversation', {
          conversationId,
          currentStepOnly: false,
          returnDetailed: true,
        });
      }),
    );
    const said = conversations.map(({ conversationSteps, conversationOutputs, conversationProperties }) => [
      conversationSteps!.map(({ conversationStep }) =>
        conversationStep.map(({ key, value }) => [key, value]),
      ),
      conversationOutputs,
      conversationProperties,
    ]);
    expect(said[0]).toEqual(said[1]);
  });

  it('are also of the greeting, of a turn that fails, and of none where the message was not processed', async () => {
    const started = await trace();
    expect(started.steps.map(({ stepIndex }) => stepIndex)).toEqual([0, 0, 0, 0, 0]);
    const file = {
      ...barista,
      agent: 'broken',
      output: { outputSet: [says('serve', '{% for i in (1..3000000) %}x{% endfor %}')] },
    };
    await client.call('deploy_agent_file', { file });
    const failed = await client.call('trace_turn', { agentId: 'broken', message: 'coffee' });
    expect(failed.error).toContain('failed in its step templating');
    expect(failed.steps.at(-1)).toMatchObject({ type: 'templating', changed: { error: expect.any(String) } });
    await expect(trace('x', 'conv_none')).rejects.toThrow();
    await expect(client.call('trace_turn', { agentId: 'nobody', message: 'x' })).rejects.toThrow('not found');
  });

  it('are for those whose agent it is', async () => {
    const editor = await platform.addPerson(['patchbay-editor']);
    const theirs = createClient({ baseUrl: platform.url, token: editor.key, fetch });
    await expect(theirs.call('trace_turn', { agentId: 'barista', message: 'x' })).rejects.toThrow(
      'not found',
    );
    const user = await platform.addPerson(['patchbay-user']);
    const asUser = createClient({ baseUrl: platform.url, token: user.key, fetch });
    await expect(asUser.call('trace_turn', { agentId: 'barista', message: 'x' })).rejects.toThrow(/require/i);
  });

  it('are shown by `chat --trace`, beside the answer', async () => {
    const io = createTestIo({
      home: platform.dataDir,
      env: { PATCHBAY_URL: platform.url, PATCHBAY_KEY: platform.operatorKey },
    });
    io.stdin.end('coffee\n');
    expect(await io.run('chat', 'barista', '--trace')).toBe(0);
    expect(io.out()).toBe('Coming.\n');
    expect(io.err()).toMatch(/^turn 0\n {2}parser, \d+ ms\n/);
    expect(io.err()).toContain(
      [
        '    bar / again: did not fire',
        '      + inputmatcher expressions drink(*); there was: drink(coffee)',
        '      - inputmatcher expressions drink(*), occurrence lastStep; there was: nothing',
        '    bar / order: fired, raised serve',
        '      + negation',
        '        - inputmatcher expressions water; there was: drink(coffee)',
        '    bar / count: fired, raised nothing',
      ].join('\n'),
    );
    expect(io.err()).toContain('    actions = serve\n');
    const json = createTestIo({
      home: platform.dataDir,
      env: { PATCHBAY_URL: platform.url, PATCHBAY_KEY: platform.operatorKey },
    });
    expect(await json.run('chat', 'barista', '--trace', '--json', '--message', 'coffee')).toBe(0);
    expect(JSON.parse(json.out())).toMatchObject({ agentResponse: 'Coming.', steps: expect.any(Array) });
  });
});
