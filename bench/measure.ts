import { percentile } from './load.ts';
import { cpuMsOf, memoryMbOf } from './process-usage.ts';
import type { RunningRow } from './rows.ts';

/** One row in one round. */
export interface Sample {
  readonly alone: { readonly rps: number; readonly p50: number; readonly p99: number };
  readonly together: {
    readonly rps: number;
    readonly p50: number;
    readonly p99: number;
    readonly cpuMsPerCall: number;
    readonly memoryMb: number;
  };
}

export const TOGETHER = 32;

/** Calls until the compiler of a process has seen the whole path often enough: so many calls, within so many seconds. */
export async function warmUp(row: RunningRow, until: { calls: number; seconds: number }): Promise<void> {
  let calls = 0;
  for (let second = 0; second < until.seconds && calls < until.calls; second++) {
    calls += (await row.load(TOGETHER, 1)).calls;
  }
}

/** Calls first over one connection, then over 32, and watches its processes during the second. */
export async function measure(
  row: RunningRow,
  seconds: { alone: number; together: number },
): Promise<Sample> {
  const alone = await row.load(1, seconds.alone);
  const family = [row.pid, ...(row.databasePid === undefined ? [] : [row.databasePid])];
  const cpuBefore = cpuMsOf(family);
  const together = await row.load(TOGETHER, seconds.together);
  const cpuMs = cpuMsOf(family) - cpuBefore;
  const database = row.databasePid === undefined ? 0 : memoryMbOf([row.databasePid], 'Pss');
  return {
    alone: {
      rps: alone.calls / alone.seconds,
      p50: percentile(alone.latencies, 0.5),
      p99: percentile(alone.latencies, 0.99),
    },
    together: {
      rps: together.calls / together.seconds,
      p50: percentile(together.latencies, 0.5),
      p99: percentile(together.latencies, 0.99),
      cpuMsPerCall: cpuMs / together.calls,
      memoryMb: memoryMbOf([row.pid], 'Rss') + database,
    },
  };
}

/** The median of each figure over the rounds. */
export function medianOf(samples: readonly Sample[]): Sample {
  const median = (pick: (sample: Sample) => number) =>
    percentile(
      samples.map(pick).sort((a, b) => a - b),
      0.5,
    );
  return {
    alone: {
      rps: median(s => s.alone.rps),
      p50: median(s => s.alone.p50),
      p99: median(s => s.alone.p99),
    },
    together: {
      rps: median(s => s.together.rps),
      p50: median(s => s.together.p50),
      p99: median(s => s.together.p99),
      cpuMsPerCall: median(s => s.together.cpuMsPerCall),
      memoryMb: median(s => s.together.memoryMb),
    },
  };
}
