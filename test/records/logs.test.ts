import { engines, openTestStore } from '@patchbay/testing/stores';
import { describe, expect, it } from 'vitest';
import { createLogger } from '../../packages/server/src/kernel/logger.ts';
import { createLogBuffer } from '../../packages/server/src/records/log-buffer.ts';
import { createLogs } from '../../packages/server/src/records/logs.ts';
import type { Store } from '../../packages/server/src/store/store.ts';
import { createManualClock } from '../manual-clock.ts';

const DAY_MS = 86_400_000;

/** What a node does with its lines, on a clock the test moves. */
function startNode(store: Store, nodeId: string, clock = createManualClock()) {
  const buffer = createLogBuffer();
  const logger = createLogger({
    level: 'debug',
    format: 'json',
    destination: { write: () => {} },
    clock,
    onLine: buffer.add,
  });
  const logs = createLogs({ buffer, store, clock, nodeId, keepDays: 30, logger });
  const messages = async (query: Partial<Parameters<typeof logs.read>[0]> = {}) =>
    (await logs.read({ level: 'debug', limit: 100, ...query })).map(({ message }) => message);
  return { clock, logger, logs, messages };
}

async function storedMessages(store: Store): Promise<string[]> {
  const rows = await store.db
    .selectFrom('log_entries')
    .select('message')
    .orderBy('at')
    .orderBy('id')
    .execute();
  return rows.map(({ message }) => message);
}

/** Until what the clock has set off is done. */
async function settled(store: Store, rows: number): Promise<void> {
  while ((await storedMessages(store)).length < rows) await new Promise(setImmediate);
}

describe.each(engines)('the log in the database on %s', engine => {
  it('has warnings and errors after five seconds, readable from another node and after a restart', async () => {
    await using store = await openTestStore(engine);
    const one = startNode(store, 'node-1');
    one.logger.info('only in memory', { agentId: 'demo' });
    one.logger.warn('a warning', { agentId: 'demo', conversationId: 'conv_1' });
    one.logger.error('an error', { agentId: 'other' });
    expect(await storedMessages(store)).toEqual([]);
    await one.clock.advance(5_000);
    await settled(store, 2);

    expect(await one.messages()).toEqual(['an error', 'a warning', 'only in memory']);
    const two = startNode(store, 'node-2');
    expect(await two.messages()).toEqual(['an error', 'a warning']);
    expect(await two.messages({ level: 'error' })).toEqual(['an error']);
    expect(await two.messages({ agentId: 'demo' })).toEqual(['a warning']);
    expect(await two.messages({ conversationId: 'conv_1' })).toEqual(['a warning']);
    const [entry] = await two.logs.read({ level: 'warn', limit: 1 });
    expect(entry).toMatchObject({ instanceId: 'node-1', level: 'error', agentId: 'other' });
    await two.logs.close();
    await one.logs.close();
  });

  it('has what waited when the node stopped', async () => {
    await using store = await openTestStore(engine);
    const { logger, logs } = startNode(store, 'node-1');
    logger.error('the last words');
    await logs.close();
    expect(await storedMessages(store)).toEqual(['the last words']);
  });

  it('takes a burst in one statement, loses what is too much, and says so', async () => {
    await using store = await openTestStore(engine);
    const { clock, logger, logs, messages } = startNode(store, 'node-1');
    for (let line = 0; line < 1_500; line += 1) logger.warn(`line ${line}`);
    await clock.advance(5_000);
    await settled(store, 1_000);
    await logs.close();
    const stored = await storedMessages(store);
    expect(stored).toHaveLength(1_001);
    expect(stored.at(-1)).toBe('Log lines were not stored: too many came at once');
    expect(await messages({ limit: 1_000 })).toHaveLength(1_000);
  });

  it('holds nobody up while the store takes nothing, and catches up once', async () => {
    await using store = await openTestStore(engine);
    let broken = true;
    let tries = 0;
    const moody: Store = {
      ...store,
      commit: async unit => {
        tries += 1;
        if (broken) throw new Error('no room');
        return store.commit(unit);
      },
    };
    const { clock, logger, logs } = startNode(moody, 'node-1');
    logger.error('while it was broken');
    for (let round = 1; round <= 3; round += 1) {
      await clock.advance(5_000);
      while (tries < round) await new Promise(setImmediate);
      await new Promise(setImmediate);
    }
    broken = false;
    await clock.advance(5_000);
    await settled(store, 2);
    await logs.close();
    expect(await storedMessages(store)).toEqual([
      'while it was broken',
      'Log lines cannot be stored for now',
    ]);
  });

  it('deletes what is too old', async () => {
    await using store = await openTestStore(engine);
    const { clock, logger, logs } = startNode(store, 'node-1');
    logger.warn('old');
    await clock.advance(31 * DAY_MS);
    await settled(store, 1);
    logger.warn('new');
    await logs.close();
    await logs.removeOld();
    expect(await storedMessages(store)).toEqual(['new']);
  });
});
