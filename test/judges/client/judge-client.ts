import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { type Check, compare } from '../baseline.ts';
import { REQUIREMENT_SETS, SUITE, SUITE_FOLDER, summarise } from '../conformance.ts';
import { runNode, type Verdict } from '../judge.ts';

const DRIVE = fileURLToPath(import.meta.resolve('./drive-pool.ts'));

/** The two frozen sets, and what the suite still has for the way in which the first revision with OAuth signed in. */
export const CLIENT_SETS = ['2025-03-26', ...REQUIREMENT_SETS] as const;
type ClientSet = (typeof CLIENT_SETS)[number];

/** All client scenarios of a set, those that are run without being scored too. */
const SCENARIOS: Record<ClientSet, number> = { '2025-03-26': 2, '2025-11-25': 25, '2026-07-28': 39 };
const OLDEST = ['auth/2025-03-26-oauth-metadata-backcompat', 'auth/2025-03-26-oauth-endpoint-fallback'];
const CLIENT_MS = 60_000;

/** Nothing is known to fail, and no SHOULD is left out. */
const NOTHING = { failures: new Map(), warnings: new Map() };

/**
 * Has the official suite judge the pool, which `drive-pool.ts` drives: every client scenario of one requirement set, one at a time, as clients
 * that run at once slow each other into the suite's time limits.
 */
export async function judgeClient(set: ClientSet): Promise<Verdict> {
  const results = new Map<string, readonly Check[]>();
  const complaints: string[] = [];
  const scenarios = await scenariosOf(set);
  if (scenarios.length !== SCENARIOS[set])
    complaints.push(`The set has ${scenarios.length} client scenarios, not ${SCENARIOS[set]}.`);
  for (const scenario of scenarios) {
    const { checks, failure } = await runScenario(scenario, set);
    results.set(scenario, checks);
    if (failure !== undefined) complaints.push(`${scenario}: ${failure}`);
  }
  complaints.push(...compare(results, NOTHING, { mustPass: scenarios, byCheckOnly: [] }));
  return { judge: `conformance ${set} of the pool`, summary: summarise(results), complaints };
}

async function scenariosOf(set: ClientSet): Promise<readonly string[]> {
  if (set === '2025-03-26') return OLDEST;
  const file = join(SUITE_FOLDER, 'requirements', `${set}.yaml`);
  const { client, not_scored } = parse(await readFile(file, 'utf8'));
  const others: { scenario: string; leg: string }[] = not_scored;
  return [...client, ...others.filter(({ leg }) => leg === 'client').map(({ scenario }) => scenario)];
}

/** The suite ends with another code than 0 also when the client was too slow, or ended with one though nothing was to fail. */
async function runScenario(
  scenario: string,
  set: ClientSet,
): Promise<{ checks: readonly Check[]; failure: string | undefined }> {
  const output = await mkdtemp(join(tmpdir(), 'patchbay-conformance-'));
  try {
    const command = `"${process.execPath}" "${DRIVE}"`;
    const options = [
      '--spec-version',
      set,
      '--force',
      '--timeout',
      String(CLIENT_MS),
      '--output-dir',
      output,
    ];
    const run = await runNode([SUITE, 'client', '--command', command, '--scenario', scenario, ...options], {
      timeoutMs: 2 * CLIENT_MS,
    });
    const files = await readdir(output, { recursive: true });
    const written = files.find(file => basename(file) === 'checks.json');
    const checks: Check[] =
      written === undefined ? [] : JSON.parse(await readFile(join(output, written), 'utf8'));
    if (run.exitCode === 0 && checks.length > 0) return { checks, failure: undefined };
    return { checks, failure: `ended with ${run.exitCode}: ${run.stderr.slice(-2_000)}` };
  } finally {
    await rm(output, { recursive: true, force: true });
  }
}
