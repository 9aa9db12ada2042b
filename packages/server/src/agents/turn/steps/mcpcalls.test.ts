import { describe, expect, it } from 'vitest';
import type { OutboundCall } from '../../../connections/call/outbound-call.ts';
import type { CallOutcome } from '../../../connections/call/outcome.ts';
import { mcpcallsStep } from './mcpcalls.ts';
import { loadFrom, testMemory, testTools } from './test-turn.ts';

const RECORD = {
  server: 'x',
  tool: 'pay',
  outcome: 'answered',
  reached: 'yes',
  durationMs: 1,
  attempts: 1,
  costUsd: 0.5,
} as const;
const ANSWERED: CallOutcome = {
  kind: 'answered',
  result: { value: { paid: true }, text: '', isError: false, cut: false, outside: true, suspicious: [] },
  record: RECORD,
};

async function stepOf(call: object) {
  const body = {
    mcpServerUrl: 'https://mcp.example.org/mcp',
    mcpCalls: [{ name: 'pay', actions: ['pay'], toolName: 'pay', ...call }],
  };
  const uri = 'patchbay://mcpcalls/shop?version=1';
  return mcpcallsStep.compile({ type: 'mcpcalls', config: { uri } }, loadFrom({ 'mcpcalls/shop': body }));
}

describe('a call of an MCP tool in a turn', () => {
  const memory = () => testMemory({ input: 'pay 5', actions: ['pay'], counters: { spentUsd: 0.25 } });

  it('is made with what the conversation has spent, and adds what it cost (W-104)', async () => {
    const step = await stepOf({
      toolArguments: { said: '{{ input }}', list: [1, '{{ memory.current.actions }}'] },
    });
    const turn = memory();
    const calls: OutboundCall[] = [];
    const mcp = {
      call: async (call: OutboundCall) => {
        calls.push(call);
        return ANSWERED;
      },
      offered: async () => expect.unreachable(),
      tooOften: async () => undefined,
      registered: () => undefined,
      warn: () => undefined,
    };
    await step.run(turn, testTools(undefined, { mcp, callBudgetUsd: 2 }));
    expect(calls).toMatchObject([
      {
        tool: 'pay',
        arguments: { said: 'pay 5', list: [1, ['pay']] },
        driver: 'rule',
        budget: { limitUsd: 2, spentUsd: 0.25 },
        turn,
      },
    ]);
    expect(turn.mcpCalls).toEqual({ payResponse: { paid: true } });
    expect(turn.counters.spentUsd).toBe(0.75);
    expect(turn.remembered).toMatchObject([
      { key: 'mcpCalls:pay:call', value: RECORD },
      { key: 'mcpCalls:payResponse', value: { paid: true } },
    ]);
    expect([...turn.unaudited].map(({ key }) => key)).toEqual(['mcpCalls:payResponse']);
  });

  it('whose node went down is not made again, unless it says that it may be (A-69, attack 53)', async () => {
    for (const [retry, expected] of [
      [undefined, { payResponseError: { code: 'OUTCOME_UNKNOWN', sent: true } }],
      [{ maxAttempts: 2 }, { payResponse: { paid: true } }],
    ] as const) {
      const step = await stepOf({ retry, continueOnError: true });
      const turn = memory();
      let made = 0;
      const mcp = {
        call: async () => {
          made += 1;
          return ANSWERED;
        },
        offered: async () => expect.unreachable(),
        tooOften: async () => undefined,
        registered: () => undefined,
        warn: () => undefined,
      };
      await step.run(turn, testTools(undefined, { mcp, effect: async () => ({ kind: 'unknown' }) }));
      expect(turn.mcpCalls).toMatchObject(expected);
      expect(made).toBe(retry ? 1 : 0);
      expect(turn.remembered).toContainEqual(
        expect.objectContaining({
          key: 'mcpCalls:pay:call',
          value: expect.objectContaining(retry ? RECORD : { outcome: 'OUTCOME_UNKNOWN', reached: 'unknown' }),
        }),
      );
    }
  });

  it('is none where no action asks for it', async () => {
    const step = await stepOf({ actions: ['other'] });
    const turn = memory();
    expect(await step.run(turn, testTools())).toBe('continue');
    expect(turn.mcpCalls).toEqual({});
  });
});
