import { describe, expect, it } from 'vitest';
import { call, connectTo, newMark } from './fault-rig.ts';
import type { FaultEra, FaultName } from './servers/fault-server.ts';
import { ERAS, faultServers } from './servers/fault-servers.ts';
import { httpEndpoint } from './test-pool.ts';

const MEGABYTE = 1024 * 1024;

const { start } = faultServers();

/** Calls a server that pours something out, while another is called all the time. */
async function flooded(era: FaultEra, fault: FaultName, timeoutMs: number, onProgress?: () => void) {
  const [bad, good] = [await start(era), await start(era)];
  await using rig = connectTo(bad);
  await rig.connection.ready();
  const other = rig.pool.connection({
    endpoint: httpEndpoint(good.url),
    scope: 'test',
    connectTimeoutMs: 5_000,
  });
  await other.ready();
  const before = memory();
  let peak = 0;
  let over = false;
  const mark = newMark();
  const flood = rig.call(fault, { mark, timeoutMs, onProgress }).finally(() => {
    over = true;
  });
  let others = 0;
  while (!over) {
    const next = newMark();
    expect(await call(other, 'none', { mark: next })).toEqual({ text: next });
    others += 1;
    peak = Math.max(peak, memory() - before);
  }
  const outcome = await flood;
  expect(await rig.call()).toHaveProperty('text');
  await rig.pool.close();
  await bad.kill();
  return { outcome, mark, others, peak, executions: bad.executions(mark), sent: bad.bytesSent };
}

function memory(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

describe.each(ERAS)('A server of the %s era that does not stop (attack 39)', era => {
  it.each<FaultName>(['a large JSON', 'a large event', 'an event of many lines'])(
    'with "%s" is cut off at 32 MB, and others are answered meanwhile',
    async fault => {
      const { outcome, others, executions, sent, peak } = await flooded(era, fault, 60_000);
      expect(outcome).toEqual({
        kind: 'PROTOCOL_ERROR',
        reached: 'yes',
        message: 'its answer is larger than 32 MB',
      });
      expect(executions).toBe(1);
      expect(others).toBeGreaterThan(1);
      expect(sent).toBeLessThan(128 * MEGABYTE);
      expect(peak).toBeLessThan(400 * MEGABYTE);
    },
  );

  it.each<FaultName>(['comments without end', 'events without end', 'a line of carriage returns'])(
    'with "%s" costs its call the time it has, and memory that does not grow',
    async fault => {
      const { outcome, others, executions, sent, peak } = await flooded(era, fault, 1_500);
      expect(outcome).toMatchObject({ kind: 'TIMEOUT', reached: 'unknown' });
      expect(executions).toBe(1);
      expect(others).toBeGreaterThan(1);
      expect(sent).toBeGreaterThan(MEGABYTE);
      expect(peak).toBeLessThan(400 * MEGABYTE);
    },
  );

  it('with a million notices is heard to its answer, and what nobody asked for is dropped', async () => {
    let heard = 0;
    const { outcome, mark, others, peak } = await flooded(era, 'a million notices', 60_000, () => {
      heard += 1;
    });
    expect(outcome).toEqual({ text: mark });
    expect(heard).toBe(1_000_000);
    expect(others).toBeGreaterThan(1);
    expect(peak).toBeLessThan(400 * MEGABYTE);
  });
});

describe('A list of tools', () => {
  it.each(ERAS)(
    'of a gigabyte is not read: the server of the %s era is down, and says why (attack 39)',
    async era => {
      const server = await start(era);
      const chunk = 'x'.repeat(256 * 1024);
      server.instead = ({ method }, response) => {
        if (method !== 'tools/list') return false;
        response.writeHead(200, { 'content-type': 'application/json' }).write('{"jsonrpc":"2.0","result":"');
        const pour = () => {
          while (!response.destroyed && response.write(chunk));
        };
        response.on('drain', pour);
        pour();
        return true;
      };
      await using rig = connectTo(server);
      await expect(rig.connection.ready()).rejects.toMatchObject({
        kind: 'SERVER_UNAVAILABLE',
        message: 'its answer is larger than 32 MB',
      });
      await rig.pool.close();
      await server.kill();
      expect(server.bytesSent).toBeLessThan(128 * MEGABYTE);
    },
  );
});
