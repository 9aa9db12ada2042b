import { describe, expect, it } from 'vitest';
import { heard } from './fault-rig.ts';
import {
  DISCOVERED,
  type Heard,
  INITIALIZED,
  type ScriptedAnswer,
  startScriptedServer,
} from './servers/scripted-server.ts';
import { httpEndpoint, testPool } from './test-pool.ts';

const TOOL = { name: 'book', inputSchema: { type: 'object' } };
const UNKNOWN_METHOD = { code: -32601, message: 'no such method' };

/** What a call comes to at a server that executes it and answers so, and how often that was executed. */
async function callAt(
  era: 'legacy' | 'modern',
  answerCall: (message: Heard, earlier: number) => ScriptedAnswer,
  others: (message: Heard) => ScriptedAnswer | undefined = () => undefined,
) {
  await using server = await startScriptedServer((message, earlier) => {
    const { method } = message;
    const other = others(message);
    if (other) return other;
    if (method === 'tools/call') return answerCall(message, earlier);
    if (method === 'tools/list') return { result: { tools: [TOOL] } };
    if (method === 'initialize' && era === 'legacy')
      return { result: INITIALIZED, headers: { 'mcp-session-id': 'one' } };
    if (method === 'server/discover' && era === 'modern') return { result: DISCOVERED };
    return { status: 400, error: UNKNOWN_METHOD };
  });
  await using pool = testPool();
  const connection = pool.connection({
    endpoint: httpEndpoint(server.url),
    scope: 'test',
    connectTimeoutMs: 5_000,
  });
  const params = { name: 'book', arguments: {} };
  const answer = await heard(connection.request({ method: 'tools/call', params, timeoutMs: 5_000 }));
  return { answer, calls: server.heard.filter(({ method }) => method === 'tools/call').length };
}

describe('A call that was executed is not made again (A-67)', () => {
  it.each([-32020, -32022])(
    'when a server of an older era has an error of its own with the code %i',
    async code => {
      for (const status of [200, 400]) {
        const { answer, calls } = await callAt('legacy', () => ({
          status,
          error: { code, message: 'half of it is booked' },
        }));
        expect(answer).toMatchObject({ kind: 'PROTOCOL_ERROR', message: 'half of it is booked' });
        expect(calls).toBe(1);
      }
    },
  );

  it('when a server of the stateless era says after the call that headers were wrong', async () => {
    const { calls } = await callAt('modern', () => ({ error: { code: -32020, message: 'late' } }));
    expect(calls).toBe(1);
  });

  it.each([
    { status: 400, error: { code: -32020, message: 'no' } },
    { status: 400, error: { code: -32022, message: 'no', data: { supported: ['2025-11-25'] } } },
  ])('when it has begun, and its second round is refused with %o', async refused => {
    const { answer, calls } = await callAt('modern', (_, earlier) =>
      earlier % 2 === 0 ? { result: { resultType: 'input_required', requestState: 's' } } : refused,
    );
    expect(answer).toMatchObject({ reached: 'yes' });
    expect(calls).toBe(2);
  });

  it.each([
    ['a code for it', 400, { code: -32603, message: 'half of it is booked' }],
    ['a code for it', 422, { code: -32000, message: 'half of it is booked' }],
    ['what was not found', 404, { code: -32602, message: 'half of it is booked' }],
  ])('when a server without ping answers with %s and the status %i', async (_, status, error) => {
    const { answer, calls } = await callAt('legacy', () => ({ status, error }));
    expect(answer).toMatchObject({ reached: 'yes', message: 'half of it is booked' });
    expect(calls).toBe(1);
  });
});
