import { expect, it } from 'vitest';
import type { Session } from '../../packages/server/src/connections/session/session.ts';
import { watchTools } from '../../packages/server/src/connections/session/watch-tools.ts';
import { createManualClock } from '../manual-clock.ts';

it('A server that announces without end is read the less often, the longer it takes to look through its list', async () => {
  const clock = createManualClock();
  const ended = new AbortController();
  let lists = 0;
  const session = {
    facts: { era: 'legacy', capabilities: { tools: {} } },
    request: async () => ({ tools: [] }),
  } as unknown as Session;
  const watch = watchTools({
    ...{ session, clock, random: () => 0, timeoutMs: 1_000, signal: ended.signal },
    onListed() {
      lists += 1;
      void clock.advance(1_000);
    },
    onFailure: error => expect.unreachable(error.message),
  });
  const announceFor = async (seconds: number) => {
    for (let n = 0; n < seconds; n++) {
      watch.heard('notifications/tools/list_changed');
      await clock.advance(1_000);
    }
  };
  await watch.readNow();
  expect(lists).toBe(1);
  await announceFor(15);
  expect(lists).toBe(1);
  await announceFor(15);
  expect(lists).toBe(2);
  ended.abort();
});
