import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  createOutboundCalls,
  type OutboundCalls,
} from '../../packages/server/src/connections/call/outbound-calls.ts';
import { readServerOptions } from '../../packages/server/src/connections/server/server-options.ts';
import { compileText } from '../../packages/server/src/secrets/reference-text.ts';
import { createManualClock } from '../manual-clock.ts';
import { NO_PEOPLE } from './no-people.ts';
import { faultServers } from './servers/fault-servers.ts';
import { quiet, testPool } from './test-pool.ts';

const { start } = faultServers();
const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one[Symbol.asyncDispose]();
});

const texts = { compile: (text: string) => compileText(text, () => true) };

/** A server, and what turns find of its tools. */
async function rigWith() {
  const server = await start('legacy');
  const clock = createManualClock();
  const pool = testPool({ clock });
  open.push(pool);
  const definition = readServerOptions(
    { url: server.url },
    { ref: { scope: 'default', name: 'one' }, source: 'code', texts },
  );
  const calls: OutboundCalls = createOutboundCalls({
    ...{ pool, clock, logger: quiet },
    references: { compile: texts.compile, resolve: () => Promise.reject(new Error('nothing refers here')) },
    limits: { callsPerMinute: 0 },
    accepted: { of: () => undefined, first: () => Promise.resolve() },
    registered: () => definition,
    reconcile: async () => undefined,
    checkOf: () => undefined,
    ...NO_PEOPLE,
    onCall: () => undefined,
  });
  const signal = new AbortController().signal;
  const inTurn = async (turn: object = {}) => {
    const callFor = { agentId: 'a', conversationId: 'c', userId: 'ann' };
    const view = await calls.offered({ server: definition, callFor, turn, signal });
    return [...view.offered.keys()];
  };
  return { server, clock, inTurn };
}

describe('A turn that wants the tools of a server', () => {
  it('waits for one that nobody has reached yet, five seconds at the most, and later turns do not wait again (W-11)', async () => {
    const { server, clock, inTurn } = await rigWith();
    let silent = true;
    server.instead = () => silent;
    const first = inTurn().catch((error: Error) => error.message);
    await server.receives(() => true);
    await clock.advance(5_000);
    expect(await first).toBe('it is not connected yet');
    await expect(inTurn()).rejects.toThrow('it is not connected yet');
    silent = false;
    // The try that is under way ends with its own time limit, and the server is known to be down.
    await clock.advance(30_000);
    await vi.waitFor(() => expect(inTurn()).rejects.toThrow('did not connect within'), 10_000);
    await clock.advance(1_000);
    // It is tried for the sake of later turns; this one does not wait.
    await expect(inTurn()).rejects.toThrow('did not connect within');
    await vi.waitFor(async () => expect(await inTurn()).toEqual(['call']), 10_000);
  });

  it('waits again where it was down so long ago that nobody knows how it is', async () => {
    const { server, clock, inTurn } = await rigWith();
    await server.kill();
    await expect(inTurn()).rejects.toThrow();
    await server.start();
    await clock.advance(120_000);
    expect(await inTurn()).toEqual(['call']);
  });
});
