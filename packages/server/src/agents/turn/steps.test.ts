import { describe, expect, it } from 'vitest';
import { loadFrom, pastStep, testMemory, testTools } from './steps/test-turn.ts';
import { STEP_TYPES } from './steps.ts';

const DOCUMENTS = {
  'dictionary/hello': {
    words: [
      { word: 'hello', expressions: 'greeting(hello)' },
      { word: 'bye', expressions: 'goodbye' },
    ],
  },
  'rules/hello': {
    behaviorGroups: [
      {
        name: 'talk',
        rules: [
          {
            name: 'Welcome',
            actions: ['welcome'],
            conditions: [{ type: 'actionmatcher', configs: { actions: 'CONVERSATION_START' } }],
          },
          {
            name: 'Greet',
            actions: ['greet'],
            conditions: [{ type: 'inputmatcher', configs: { expressions: 'greeting(*)' } }],
          },
          {
            name: 'Leave',
            actions: ['leave', 'CONVERSATION_END'],
            conditions: [{ type: 'inputmatcher', configs: { expressions: 'goodbye' } }],
          },
          { name: 'Help', actions: ['help'] },
        ],
      },
    ],
  },
  'output/hello': {
    outputSet: [
      {
        action: 'welcome',
        outputs: [{ valueAlternatives: [{ type: 'text', text: 'Welcome.' }] }],
        quickReplies: [{ value: 'Leave now', expressions: 'goodbye' }],
      },
      {
        action: 'greet',
        outputs: [{ valueAlternatives: [{ type: 'text', text: 'Hello to you, {{ userInfo.userId }}.' }] }],
      },
      {
        action: 'greet',
        timesOccurred: 1,
        outputs: [{ valueAlternatives: [{ type: 'text', text: 'Hello again.' }] }],
      },
      { action: 'leave', outputs: [{ valueAlternatives: [{ type: 'text', text: 'Bye.' }] }] },
      {
        action: 'help',
        outputs: [{ valueAlternatives: [{ type: 'text', text: 'I do not know "{{ input }}".' }] }],
      },
    ],
  },
};

const WORKFLOW = [
  {
    type: 'parser',
    extensions: {
      dictionaries: [{ type: 'regular', config: { uri: 'patchbay://dictionary/hello?version=1' } }],
    },
  },
  { type: 'rules', config: { uri: 'patchbay://rules/hello?version=1' } },
  { type: 'output', config: { uri: 'patchbay://output/hello?version=1' } },
  { type: 'templating' },
];

describe('the table of steps', () => {
  it('has one row a step type', () => {
    expect(STEP_TYPES.map(({ type }) => type)).toEqual([
      'parser',
      'rules',
      'property',
      'httpcalls',
      'mcpcalls',
      'llm',
      'output',
      'templating',
    ]);
  });

  it('makes a conversation without a model: greeting, counted answers, quick replies, fallback, end', async () => {
    const steps = await Promise.all(
      WORKFLOW.map(step =>
        STEP_TYPES.find(({ type }) => type === step.type)!.compile(step, loadFrom(DOCUMENTS)),
      ),
    );
    const counters = { rules: {}, actions: {} as Record<string, number> };
    let last: ReturnType<typeof pastStep> | undefined;
    const turn = async (input: string | undefined) => {
      const memory = testMemory({ input, counters, ...(last && { last }) });
      for (const step of steps) await step.run(memory, testTools());
      for (const action of memory.actions) counters.actions[action] = (counters.actions[action] ?? 0) + 1;
      last = pastStep({
        input,
        expressions: memory.expressions,
        actions: memory.actions,
        quickReplies: memory.quickReplies,
      });
      return [memory.output.map(item => item.text).join(' '), memory.actions.at(-1)];
    };
    expect(await turn(undefined)).toEqual(['Welcome.', 'welcome']);
    expect(await turn('Hello!')).toEqual(['Hello to you, user_one.', 'greet']);
    expect(await turn('what?')).toEqual(['I do not know "what?".', 'help']);
    expect(await turn('hello')).toEqual(['Hello again.', 'greet']);
    expect(await turn('leave now')).toEqual(['I do not know "leave now".', 'help']);
    last = pastStep({ quickReplies: [{ value: 'Leave now', expressions: 'goodbye' }] });
    expect(await turn('leave now')).toEqual(['Bye.', 'CONVERSATION_END']);
    expect(counters.rules).toEqual({ Welcome: 1, Greet: 2, Help: 2, Leave: 1 });
  });
});
