import { startTestCluster, type TestCluster } from '@patchbay/testing/cluster';
import type { TestNode } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { callTool, post, rpc, startTool } from './wire.ts';

let cluster: TestCluster;
let one: TestNode;
let other: TestNode;
beforeAll(async () => {
  cluster = await startTestCluster({ nodes: 2, env: { PATCHBAY_AGENT_DOOR_RATE: '20' } });
  [one, other] = cluster.nodes as [TestNode, TestNode];
});
afterAll(() => cluster?.close());

async function openSession(key: string) {
  const hello = { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
  const { headers } = await rpc(one.agentUrl('demo'), 'initialize', hello, { key });
  return { key, headers: { 'mcp-session-id': headers.get('mcp-session-id')! } };
}

const cancelOf = (requestId: number) => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId },
});

/** Sends cancels of calls that never were, each another one, in batches over several sessions, until it is stopped. */
function flood(sessions: readonly Awaited<ReturnType<typeof openSession>>[]) {
  let stopped = false;
  let sent = 0;
  const senders = sessions.map(async session => {
    while (!stopped) {
      const first = sent;
      sent += 50;
      const batch = Array.from({ length: 50 }, (_, index) => cancelOf(first + index));
      await post(other.agentUrl('demo'), batch, session);
    }
  });
  return {
    sent: () => sent,
    async stop() {
      stopped = true;
      await Promise.all(senders);
    },
  };
}

describe('one credential that cancels without end', () => {
  it('keeps no other caller from cancelling across nodes, and lifts no limit of its own (B-73)', async () => {
    const flooder = await Promise.all(Array.from({ length: 8 }, () => openSession(cluster.agentKey)));
    const caller = await openSession(cluster.operatorKey);
    // What a busy database takes for a commit: meanwhile the cancels of the flood come in.
    const { store } = other.platform;
    const commit = store.commit.bind(store);
    const slow = vi.spyOn(store, 'commit').mockImplementation(async unit => {
      await new Promise(resolve => setTimeout(resolve, 100));
      return commit(unit);
    });
    const flooding = flood(flooder);
    try {
      await expect.poll(flooding.sent).toBeGreaterThan(2_000);
      for (let round = 0; round < 4; round += 1) {
        // The demo agent takes 1.6 seconds for it.
        const running = await startTool(one.agentUrl('demo'), 'demo', { message: 'show progress' }, caller);
        expect((await post(other.agentUrl('demo'), cancelOf(1), caller)).status).toBe(202);
        expect((await running.answer).body.at(-1).error.message, `round ${round}`).toContain('cancelled');
      }
      const admitted = async (node: TestNode, calls: number) => {
        let count = 0;
        for (let call = 0; call < calls; call += 1) {
          const { status } = await callTool(node.agentUrl('demo'), 'demo', { message: 'hi' }, flooder[0]);
          if (status === 200) count += 1;
        }
        return count;
      };
      expect(await admitted(other, 30)).toBe(20);
      await expect.poll(() => admitted(one, 1), { interval: 500, timeout: 5_000 }).toBe(0);
    } finally {
      await flooding.stop();
      slow.mockRestore();
    }
  }, 60_000);
});
