import { setTimeout } from 'node:timers/promises';
import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { type EngineName, engines } from '@patchbay/testing/stores';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../packages/server/src/kernel/clock.ts';
import { ann, claim, countRows, errorOf, type Rig, say, startRig } from './setup.ts';

// Agent files that make a turn work as hard as it may, and what everybody else notices of it.

const HARD = '{% for i in (1..9000) %}{% endfor %}';

/** Answers "work" with what the texts say, anything else with "Fine." */
function agentFile(agent: string, texts: readonly string[], more: object = {}) {
  const bubbles = (...said: string[]) => said.map(text => ({ valueAlternatives: [{ type: 'text', text }] }));
  return {
    agent,
    name: agent,
    mcp_enabled: true,
    dictionary: { words: [{ word: 'work', expressions: 'work' }] },
    rules: {
      behaviorGroups: [
        {
          name: 'all',
          rules: [
            {
              name: 'work',
              actions: ['work'],
              conditions: [{ type: 'inputmatcher', configs: { expressions: 'work' } }],
            },
            { name: 'rest', actions: ['rest'] },
          ],
        },
      ],
    },
    output: {
      outputSet: [
        { action: 'work', outputs: bubbles(...texts) },
        { action: 'rest', outputs: bubbles('Fine.') },
      ],
    },
    ...more,
  };
}

const HOSTILE_PATTERN = '.{0,100}.{0,100}a{1}\\d';
const patterns = {
  dictionary: {
    words: [{ word: 'work', expressions: 'work' }],
    regExs: Array.from({ length: 12 }, () => ({ regEx: HOSTILE_PATTERN, expressions: 'x' })),
  },
};
/** Matches every pattern up to its last character. */
const HOSTILE_WORDS = Array.from({ length: 200 }, () => 'a'.repeat(199)).join(' ');
const letters = (i: number) => i.toString(2).padStart(14, '0').replaceAll('0', 'a').replaceAll('1', 'b');
/** Words that have all their letters in common, so that each has to be compared with what was said. */
const lookAlikes = {
  dictionary: { words: Array.from({ length: 10_000 }, (_, i) => ({ word: letters(i), expressions: 'x' })) },
  parser: { corrections: [{ type: 'levenshtein' }, { type: 'phonetic' }, { type: 'mergedTerms' }] },
};
const NEARLY_WORDS = Array.from({ length: 200 }, (_, i) => `bb${letters(i)}`).join(' ');
const manyRules = {
  rules: {
    behaviorGroups: [
      {
        name: 'all',
        executionStrategy: 'executeAll',
        rules: Array.from({ length: 2_000 }, (_, i) => ({
          name: `r${i}`,
          conditions: [{ type: 'inputmatcher', configs: { expressions: '*, *, *, *, *, x' } }],
        })),
      },
    ],
  },
};

const STEPS =
  'one turn may take 2000000 steps of work; simplify the patterns, rules or templates of the agent.';
const CHARACTERS = 'one turn may answer with 1000000 characters; let the agent say less.';

describe.each(engines)('a turn that works too hard on %s', (engine: EngineName) => {
  let rig: Rig;
  beforeEach(async () => {
    rig = await startRig(engine, { clock: systemClock });
  });
  afterEach(() => rig[Symbol.asyncDispose]());

  it.each([
    ['templating', STEPS, agentFile('hard', Array(100).fill(HARD)), 'work'],
    [
      'templating',
      CHARACTERS,
      agentFile('hard', Array(100).fill('{{ input }}'.repeat(9))),
      `work ${'y'.repeat(100_000)}`,
    ],
    ['parser', STEPS, agentFile('hard', ['x'], patterns), HOSTILE_WORDS],
    ['parser', STEPS, agentFile('hard', ['x'], lookAlikes), NEARLY_WORDS],
    ['rules', STEPS, agentFile('hard', ['x'], manyRules), HOSTILE_WORDS],
  ])('fails in its step %s: %s', async (step, limit, file, input) => {
    await rig.agentFiles.deploy(ann, file);
    const { conversationId } = await say(rig.turns, { agentId: 'hard' });
    const error = await errorOf(say(rig.turns, { agentId: 'hard', conversationId, input }));
    expect(error.message).toBe(`Agent "hard" failed in its step ${step}: ${limit}`);
    const shown = await rig.conversations.read(ann, {
      conversationId,
      currentStepOnly: true,
      returnDetailed: false,
    });
    expect(shown.conversationState).toBe('ERROR');
    expect(shown.conversationOutputs?.[0]?.taskErrors).toEqual([
      { taskId: step, message: `Step ${step} failed: ${limit}` },
    ]);
    // Four times what was said, and nothing of the answer that was too long.
    expect(JSON.stringify(shown).length).toBeLessThan(900_000);

    const next = await say(rig.turns, { agentId: 'hard', conversationId, input: 'and now' });
    expect(next.conversationState).toBe('READY');
  });

  it('is ended by its time limit and by the caller while it works, with nothing stored', async () => {
    await rig.agentFiles.deploy(ann, agentFile('hard', Array(100).fill(HARD)));
    const { conversationId } = await say(rig.turns, { agentId: 'hard' });
    const before = await countRows(rig.store);
    const request = { agentId: 'hard', conversationId, input: 'work' };

    const hurried = rig.node('node-1', { turnTimeoutMs: 10 });
    expect((await errorOf(say(hurried, request))).kind).toBe('timeout');

    const caller = new AbortController();
    const running = (await claim(rig.turns, request)).run({ signal: caller.signal });
    await setTimeout(10);
    caller.abort();
    expect((await errorOf(running)).kind).toBe('cancelled');

    expect(await countRows(rig.store)).toEqual(before);
    expect(await say(rig.turns, { ...request, input: 'and now' })).toMatchObject({ agentResponse: 'Fine.' });
  });
});

describe('while ten turns work as hard as they may', () => {
  let platform: TestPlatform;
  const rest = (path: string, body?: object) =>
    fetch(platform.url + path, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${platform.ownerToken}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
  beforeAll(async () => {
    platform = await startTestPlatform();
    await rest('/api/v1/agent-files', { file: agentFile('hard', Array(100).fill(HARD)) });
    await rest('/api/v1/agent-files', { file: agentFile('patterned', ['x'], patterns) });
    // Compiled before anything is measured.
    for (const agentId of ['hard', 'patterned', 'demo'])
      await rest('/api/v1/chat', { agentId, message: 'hello' });
  });
  afterAll(() => platform?.close());

  it.each([
    ['templates', 'hard', 'work'],
    ['patterns', 'patterned', HOSTILE_WORDS],
  ])('others are served before the first of them is done: %s', async (_, agentId, message) => {
    const done: string[] = [];
    const ends = (name: string, response: Promise<Response>) =>
      response.then(({ status }) => done.push(`${name} ${status}`));
    const hostile = Array.from({ length: 10 }, () =>
      ends('hostile', rest('/api/v1/chat', { agentId, message })),
    );
    await setTimeout(50);
    await ends('probe', rest('/healthz'));
    await ends('turn', rest('/api/v1/chat', { agentId: 'demo', message: 'hello' }));
    await Promise.all(hostile);
    expect(done).toEqual(['probe 200', 'turn 200', ...Array(10).fill('hostile 500')]);
  });
});
