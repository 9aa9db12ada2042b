import { describe, expect, it } from 'vitest';
import type { Clock } from '../../kernel/clock.ts';
import { SessionError } from './failure.ts';
import { requestInRounds } from './input-rounds.ts';
import type { Members } from './wire.ts';

/** Time stands still until a test lets what sleeps go on. */
function stoppedClock(): Clock & { ring(): void } {
  const sleeping = new Set<() => void>();
  return {
    now: () => 0,
    sleep: (_ms, signal) =>
      new Promise((resolve, reject) => {
        sleeping.add(resolve);
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      }),
    ring: () => {
      for (const wake of sleeping) wake();
    },
  };
}

const question = (name: string) => ({ method: 'elicitation/create', params: { message: name } });
const asking = (more: Members) => ({ resultType: 'input_required', ...more });
const params = { name: 'book', arguments: { seat: 7 } };

/** What was sent, for the answers that a server gives one after the other; the last is given again and again. */
async function exchange(
  answers: readonly (Members | Error)[],
  { method = 'tools/call', answer = async (_: string, asked: Members): Promise<Members> => asked } = {},
) {
  const sent: Members[] = [];
  const result = requestInRounds(
    {
      clock: stoppedClock(),
      answer,
      async send(_method, given) {
        const next = answers[Math.min(sent.push(given), answers.length) - 1]!;
        if (next instanceof Error) throw next;
        return next;
      },
    },
    method,
    params,
    { timeoutMs: 1_000 },
  );
  const outcome = await result.catch((error: unknown) => error);
  return { sent, outcome };
}

describe('a request whose server asks before it answers', () => {
  it('is sent again with the answers and the state as it came', async () => {
    const state = ' {"a":"\\u00e9"}\n=';
    const { sent, outcome } = await exchange([
      asking({ inputRequests: { who: question('who'), where: question('where') }, requestState: state }),
      asking({ requestState: 'second' }),
      asking({ inputRequests: { when: question('when') } }),
      { resultType: 'complete', content: [] },
    ]);
    expect(outcome).toEqual({ resultType: 'complete', content: [] });
    expect(sent).toEqual([
      params,
      {
        ...params,
        inputResponses: { who: { message: 'who' }, where: { message: 'where' } },
        requestState: state,
      },
      { ...params, requestState: 'second' },
      { ...params, inputResponses: { when: { message: 'when' } } },
    ]);
  });

  it('takes a result that says no type for one', async () => {
    const { outcome } = await exchange([{ content: [] }]);
    expect(outcome).toEqual({ content: [] });
  });

  it('ends after five rounds (A-138, attack 41)', async () => {
    const { sent, outcome } = await exchange([asking({ requestState: 'again' })]);
    expect(sent).toHaveLength(6);
    expect(outcome).toMatchObject({ kind: 'UNSUPPORTED_RESULT', reached: 'yes' });
  });

  it.each([
    ['of a type nobody knows', { resultType: 'task', taskId: '1' }, {}],
    ['that asks for nothing', asking({}), {}],
    ['whose state is no text', asking({ requestState: { a: 1 } }), {}],
    ['whose questions are a list', asking({ inputRequests: [question('a')] }), {}],
    ['whose question is no request', asking({ inputRequests: { a: 'who?' } }), {}],
    [
      'with too many questions',
      asking({ inputRequests: Object.fromEntries([...Array(21)].map((_, at) => [at, question('a')])) }),
      {},
    ],
    ['that asks where nobody may', asking({ inputRequests: { a: question('a') } }), { method: 'tools/list' }],
    [
      'that asks what nobody answers',
      asking({ inputRequests: { a: question('a') } }),
      {
        answer: async () => {
          throw new Error('nobody is there');
        },
      },
    ],
  ])('refuses a result %s', async (_, result, options) => {
    const { outcome } = await exchange([result], options);
    expect(outcome).toMatchObject({ kind: 'UNSUPPORTED_RESULT', reached: 'yes' });
  });

  it('has arrived, however a later round ends: nobody may send it from the beginning', async () => {
    const { outcome } = await exchange([
      asking({ requestState: 'a' }),
      new SessionError('SERVER_UNAVAILABLE', 'no', 'the connection ended', { code: -32022 }),
    ]);
    expect(outcome).toMatchObject({ kind: 'SERVER_UNAVAILABLE', reached: 'yes', code: undefined });
  });

  it('does not wait for an answer longer than for everything else', async () => {
    const clock = stoppedClock();
    const never = new Promise<Members>(() => undefined);
    const waiting = requestInRounds(
      {
        clock,
        answer: () => never,
        send: async () => asking({ inputRequests: { a: question('a') } }),
      },
      'tools/call',
      params,
      { timeoutMs: 1_000 },
    );
    await Promise.resolve();
    await Promise.resolve();
    clock.ring();
    await expect(waiting).rejects.toMatchObject({ kind: 'TIMEOUT', reached: 'yes' });
  });
});
