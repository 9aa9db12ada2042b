import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';

/** One check of a scenario as the suite wrote it down. */
export interface Check {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string | undefined;
}

/** All checks of each scenario that ran. */
export type Results = ReadonlyMap<string, readonly Check[]>;

/**
 * What is known not to hold: under the feature that will serve it, or the reason why nothing will, the scenarios
 * (`tools-call-image`) or single checks (`caching:some-check`) that fail until then. Warnings are SHOULDs of the
 * specification, listed by check.
 */
export interface Baseline {
  readonly failures: ReadonlyMap<string, readonly string[]>;
  readonly warnings: ReadonlyMap<string, readonly string[]>;
}

/** Reads a baseline file. Rejects when an entry stands under no feature or is listed twice. */
export async function readBaseline(file: string): Promise<Baseline> {
  const content: unknown = parse(await readFile(file, 'utf8'));
  const section = (name: string) => {
    const features = (content as Record<string, unknown> | null)?.[name] ?? {};
    const entries = new Map<string, readonly string[]>();
    const seen = new Set<string>();
    for (const [feature, list] of Object.entries(features)) {
      if (!Array.isArray(list) || !list.every(entry => typeof entry === 'string')) {
        throw new Error(`${file}: ${name} under '${feature}' must be a list of scenarios or scenario:check.`);
      }
      for (const entry of list) {
        if (seen.has(entry)) throw new Error(`${file}: '${entry}' is listed twice in ${name}.`);
        seen.add(entry);
      }
      entries.set(feature, list);
    }
    return entries;
  };
  return { failures: section('failures'), warnings: section('warnings') };
}

/** What the results of a run must satisfy besides the baseline. */
export interface Demands {
  /** Scenarios without a failing check, whatever the baseline says. */
  readonly mustPass: readonly string[];
  /** Scenarios of which only single checks may be in the baseline. */
  readonly byCheckOnly: readonly string[];
}

/**
 * Holds results against the baseline, one sentence for each difference. Stricter than the suite's own comparison: it
 * covers the scenarios that are run but not scored, and an entry whose check was skipped or is gone is stale too.
 */
export function compare(results: Results, baseline: Baseline, demands: Demands): string[] {
  const complaints: string[] = [];
  for (const scenario of demands.mustPass) {
    const checks = results.get(scenario);
    if (!checks) complaints.push(`${scenario} must pass but did not run.`);
    const listed = entriesOf(baseline.failures).some(entry => scenarioOf(entry) === scenario);
    if (listed) complaints.push(`${scenario} must pass, it may not be in the baseline.`);
  }
  for (const entry of entriesOf(baseline.failures)) {
    if (demands.byCheckOnly.includes(entry)) {
      complaints.push(`${entry} may be in the baseline by single checks only, written ${entry}:check.`);
    }
  }
  complaints.push(...differences(results, 'FAILURE', entriesOf(baseline.failures)));
  complaints.push(...differences(results, 'WARNING', entriesOf(baseline.warnings)));
  return complaints;
}

function differences(results: Results, status: string, entries: readonly string[]): string[] {
  const complaints: string[] = [];
  const expected = new Set(entries);
  const met = new Set<string>();
  for (const [scenario, checks] of results) {
    for (const check of checks) {
      if (check.status !== status) continue;
      const entry = [scenario, `${scenario}:${check.id}`].find(candidate => expected.has(candidate));
      if (entry) met.add(entry);
      else
        complaints.push(
          `${status} ${scenario}:${check.id} is not in the baseline: ${check.errorMessage ?? ''}`,
        );
    }
  }
  for (const entry of entries) {
    if (!met.has(entry))
      complaints.push(`${entry} no longer gives a ${status}: take it out of the baseline.`);
  }
  return complaints;
}

const entriesOf = (section: Baseline['failures']): string[] => [...section.values()].flat();
const scenarioOf = (entry: string): string => entry.split(':', 1)[0]!;
