import { describe, expect, it } from 'vitest';
import { systemClock } from '../../kernel/clock.ts';
import { textsOf } from '../conversation/texts.ts';
import { compileAgent } from '../deployment/compiled-agent.ts';
import { agentOf, contentDocuments, parseAgentFile, workflowOf } from '../document/agent-file.ts';
import { runSteps } from '../turn/run-steps.ts';
import { testTools } from '../turn/steps/test-turn.ts';
import { STEP_TYPES } from '../turn/steps.ts';
import { readCallerContext } from '../turn/turn-context.ts';
import { createTurnMemory, parseCounters, toConversationOutput, toPastStep } from '../turn/turn-memory.ts';
import { DEMO_AGENT_FILE } from './demo-agent.ts';

const file = parseAgentFile(DEMO_AGENT_FILE);
const documents = [...contentDocuments(file), { type: 'workflow', body: workflowOf(file, () => 1) }];
const agent = await compileAgent(
  { agentId: file.agent, version: 1, body: agentOf(file, 1) },
  async ref => documents.find(({ type }) => type === ref.type)?.body,
  STEP_TYPES,
);

/** The answers to the messages of one conversation, after the greeting. */
async function answers(...inputs: (string | undefined)[]) {
  const counters = parseCounters('{}');
  let last: ReturnType<typeof toPastStep> | undefined;
  const turns = [];
  for (const input of [undefined, ...inputs]) {
    const memory = createTurnMemory({
      input,
      counters,
      past: last ? [last] : [],
      properties: {},
      context: readCallerContext(),
      now: systemClock.now,
    });
    const { failure } = await runSteps(
      agent,
      { stepIndex: turns.length, from: 0, enter() {}, record() {} },
      memory,
      testTools('conv_x'),
    );
    if (failure) throw failure.cause;
    for (const action of memory.actions) counters.actions[action] = (counters.actions[action] ?? 0) + 1;
    last = toPastStep(toConversationOutput(memory, []));
    turns.push({ texts: textsOf(memory.output), memory });
  }
  return turns.slice(inputs.length > 0 ? 1 : 0);
}

describe('the demo agent', () => {
  it('is open to MCP clients and greets with quick replies', async () => {
    expect(file).toMatchObject({ agent: 'demo', mcp_enabled: true });
    const [greeting] = await answers();
    expect(greeting!.texts[0]).toContain('I am the demo agent');
    expect(greeting!.memory.quickReplies.map(({ value }) => value)).toContain('How do I create a key?');
  });

  it.each([
    ['How do I get started?', 'getting-started'],
    ['How do I connect a client?', 'connect'],
    ['how do i use it from Claude', 'connect'],
    ['How do I create a key?', 'keys'],
    ['How do I deploy an agent?', 'agent-files'],
    ['What can I configure?', 'configuration'],
    ['How do I use the CLI?', 'cli'],
    ['is there a command line', 'cli'],
  ])('answers "%s" with the docs page %s', async (question, page) => {
    const [answer] = await answers(question);
    expect(answer!.texts).toHaveLength(1);
    expect(answer!.texts[0]).toContain(`Read the docs page ${page} `);
  });

  it('shows progress in four bubbles, each after a while', async () => {
    const [answer] = await answers('show progress');
    expect(answer!.memory.output.map(({ delay }) => delay)).toEqual([400, 400, 400, 400]);
    expect(answer!.texts.map(text => text.split(':')[0])).toEqual(['One', 'Two', 'Three', 'Four']);
  });

  it('helps when it does not understand, and more the second time', async () => {
    const [first, second] = await answers('colourless green ideas', '{{ input }} <b>');
    expect(first!.texts[0]).toMatch(/^I did not understand "colourless green ideas"\. I know about/);
    expect(second!.texts[0]).toContain('"{{ input }} <b>" holds none of them. Say "help"');
  });

  it('says goodbye and ends the conversation', async () => {
    const [answer] = await answers('bye');
    expect(answer!.memory.actions).toContain('CONVERSATION_END');
  });
});
