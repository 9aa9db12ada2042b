import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Check, compare, type Demands, type Results, readBaseline } from './baseline.ts';
import { startForwarder } from './forwarder.ts';
import { type Door, runNode, type Verdict } from './judge.ts';

export const SUITE_FOLDER = join(import.meta.dirname, 'node_modules/@modelcontextprotocol/conformance');
export const SUITE = join(SUITE_FOLDER, 'dist/index.js');

/** Frozen sets of the pinned suite, one an era. */
export const REQUIREMENT_SETS = ['2025-11-25', '2026-07-28'] as const;
export type RequirementSet = (typeof REQUIREMENT_SETS)[number];

const MUST_PASS: Record<RequirementSet, readonly string[]> = {
  '2025-11-25': [
    'server-initialize',
    'ping',
    'tools-list',
    'server-sse-multiple-streams',
    'dns-rebinding-protection',
    'server-session-lifecycle',
    'server-sse-polling',
  ],
  '2026-07-28': [
    'tools-list',
    'server-sse-multiple-streams',
    'sep-2164-resource-not-found',
    'dns-rebinding-protection',
    'http-header-validation',
    'input-required-result-missing-input-response',
    'input-required-result-unsupported-methods',
    'input-required-result-ignore-extra-params',
    'input-required-result-validate-input',
  ],
};

/** Scenarios that visit many methods: what is served of them must pass today. */
const BY_CHECK_ONLY = ['server-stateless', 'caching'];

/**
 * Runs one requirement set of the official suite against one door, signed in by the forwarder, and holds the outcome
 * against `baseline-<door>-<set>.yml`.
 */
export async function judgeConformance(door: Door, set: RequirementSet): Promise<Verdict> {
  const target = new URL(door.url);
  const forwarder = await startForwarder({ target: target.origin, authorization: `Bearer ${door.key}` });
  const output = await mkdtemp(join(tmpdir(), 'patchbay-conformance-'));
  try {
    const url = `${forwarder.url}${target.pathname}`;
    const args = [SUITE, 'server', '--url', url, '--requirements', set, '--output-dir', output];
    const run = await runNode(args, { timeoutMs: 120_000 });
    const results = await readResults(output, 'server');
    const baseline = await readBaseline(join(import.meta.dirname, `baseline-${door.name}-${set}.yml`));
    const complaints = compare(results, baseline, demandsOf(door, set));
    // The suite exits with 1 for any failing scenario, known or not, but always says how many it ran.
    const announced = Number(/\((\d+) scenarios\)/.exec(run.stdout)?.[1]);
    if (announced !== results.size) {
      complaints.push(
        `The suite announced ${announced} scenarios and reported ${results.size}: ${run.stderr}`,
      );
    }
    return { judge: `conformance ${set} at the ${door.name} door`, summary: summarise(results), complaints };
  } finally {
    await rm(output, { recursive: true, force: true });
    await forwarder.close();
  }
}

function demandsOf(door: Door, set: RequirementSet): Demands {
  const resources = door.name === 'operator' ? ['resources-list'] : [];
  return { mustPass: [...MUST_PASS[set], ...resources], byCheckOnly: BY_CHECK_ONLY };
}

/** The suite writes `<what it judges>-<scenario>-<time>/checks.json`. */
export async function readResults(output: string, judged: string): Promise<Results> {
  const results = new Map<string, Check[]>();
  for (const folder of await readdir(output)) {
    const named = /^(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/.exec(folder)?.[1];
    const scenario = named?.startsWith(`${judged}-`) ? named.slice(judged.length + 1) : undefined;
    if (scenario === undefined) throw new Error(`The suite wrote ${folder}, which names no scenario.`);
    results.set(scenario, JSON.parse(await readFile(join(output, folder, 'checks.json'), 'utf8')));
  }
  return results;
}

/** How many scenarios and checks of a run hold, in a few words. */
export function summarise(results: Results): string {
  const checks = [...results.values()].flat();
  const count = (status: string) => checks.filter(check => check.status === status).length;
  const whole = [...results.values()].filter(list => list.every(check => check.status !== 'FAILURE')).length;
  return `${whole} of ${results.size} scenarios pass, ${count('SUCCESS')} checks hold, ${count('FAILURE')} known failures`;
}
