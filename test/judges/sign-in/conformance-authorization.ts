import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compare } from '../baseline.ts';
import { readResults, SUITE, summarise } from '../conformance.ts';
import type { Door, Verdict } from '../judge.ts';
import { runNode } from '../judge.ts';
import { freePort } from './free-port.ts';
import type { SignInRig } from './sign-in-rig.ts';

/** Every revision for which the suite has scenarios of authorization servers. */
export const AUTHORIZATION_REVISIONS = ['2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'] as const;
const SCENARIOS = ['authorization-server-metadata-endpoint', 'authorization-code-grant'];
/** The client that is there from the start, which may come back to any port of this machine. */
const CLIENT = 'patchbay-mcp';

/** Nothing is known to fail, and no SHOULD is left out. */
const NOTHING = { failures: new Map(), warnings: new Map() };

/** Runs the official suite's scenarios of one revision against the built-in authorization server, for a token of one door. */
export async function judgeAuthorizationServer(
  rig: SignInRig,
  door: Door['name'],
  revision: (typeof AUTHORIZATION_REVISIONS)[number],
): Promise<Verdict> {
  const output = await mkdtemp(join(tmpdir(), 'patchbay-conformance-'));
  try {
    const resource = rig.urlOf(door);
    const issuer = new URL(resource).origin;
    const settings = ['--url', issuer, '--client-id', CLIENT, '--resource', resource];
    const port = ['--port', String(await freePort())];
    let visited: Promise<unknown> | undefined;
    const run = await runNode(
      [SUITE, 'authorization', ...settings, ...port, '--spec-version', revision, '--output-dir', output],
      {
        timeoutMs: 60_000,
        onOutput(stdout) {
          const [address] = new RegExp(`^${issuer}/oauth/authorize\\S+$`, 'm').exec(stdout) ?? [];
          if (address !== undefined) visited ??= rig.visit(door, address).catch(error => error);
        },
      },
    );
    const judge = `conformance ${revision} of the authorization server, for the ${door} door`;
    const visit = await visited;
    if (visit instanceof Error) {
      return { judge, summary: '', complaints: [`The person did not get through: ${visit}`] };
    }
    if (run.exitCode !== 0 && run.exitCode !== 1) {
      return {
        judge,
        summary: '',
        complaints: [`It ended with ${run.exitCode}: ${run.stdout}${run.stderr}`],
      };
    }
    const results = await readResults(output, 'authorization-server');
    const complaints = compare(results, NOTHING, { mustPass: SCENARIOS, byCheckOnly: [] });
    return { judge, summary: summarise(results), complaints };
  } finally {
    await rm(output, { recursive: true, force: true });
  }
}
