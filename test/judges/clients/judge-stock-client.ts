import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runNode, type Verdict } from '../judge.ts';
import type { Examined } from './examine.ts';
import type { StockClient } from './stock-client.ts';

const DRIVE = fileURLToPath(import.meta.resolve('./drive.ts'));

/** Examines one client at one door, in a process of its own with a home of its own. */
export async function judgeStockClient(client: StockClient, examined: Examined): Promise<Verdict> {
  const home = await mkdtemp(join(tmpdir(), 'patchbay-client-'));
  try {
    const env = {
      HOME: home,
      // What Mastra tells its makers is no business of a judge.
      MASTRA_TELEMETRY_DISABLED: '1',
      EXAMINE: JSON.stringify({ client: client.name, examined }),
    };
    const run = await runNode([DRIVE], { env, timeoutMs: 60_000 });
    // Clients write to the console, too; the verdict is the last line.
    const verdict = run.stdout.trimEnd().split('\n').at(-1);
    const complaints: string[] =
      run.exitCode === 0 && verdict
        ? JSON.parse(verdict)
        : [`It ended with ${run.exitCode} and no verdict: ${run.stdout}${run.stderr}`];
    return {
      judge: `${client.name} at the ${examined.door.name} door`,
      summary: summaryOf(client),
      complaints,
    };
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

function summaryOf(client: StockClient): string {
  const done = ['lists', 'calls', 'is refused'];
  if (client.showsProgress) done.push('sees progress');
  done.push(client.cancels ? 'cancels' : 'breaks off');
  return `${done.join(', ')} in ${client.speaks}`;
}
