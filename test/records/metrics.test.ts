import { openTestStore } from '@patchbay/testing/stores';
import { expect, it } from 'vitest';
import { createMetrics } from '../../packages/server/src/records/metrics.ts';

it('Metrics of calls have a bounded number of servers, whatever authors call theirs', async () => {
  await using store = await openTestStore('sqlite');
  const metrics = createMetrics(store);
  const call = (server: string) =>
    metrics.outboundCall({ server, outcome: 'answered', durationMs: 1, costUsd: 0.5 });
  for (let n = 0; n < 2_000; n++) call(`_mcpcalls/${n}`);
  call('_mcpcalls/0');
  call('default/mine');
  const text = await metrics.render();
  const counted = text.match(/^patchbay_mcp_calls_total\{.*$/gm)!;
  expect(counted).toHaveLength(1_002);
  expect(counted).toContain('patchbay_mcp_calls_total{server="_mcpcalls/(others)",outcome="answered"} 1000');
  expect(counted).toContain('patchbay_mcp_calls_total{server="_mcpcalls/0",outcome="answered"} 2');
  expect(counted).toContain('patchbay_mcp_calls_total{server="default/mine",outcome="answered"} 1');
});
