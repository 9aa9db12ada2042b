import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startTestPlatform } from '@patchbay/testing/platform';
import { CLIENT_SETS, judgeClient } from './client/judge-client.ts';
import { STOCK_CLIENTS } from './clients/clients.ts';
import { judgeStockClient } from './clients/judge-stock-client.ts';
import { judgeConformance, REQUIREMENT_SETS } from './conformance.ts';
import { EXPECTATIONS } from './expectations.ts';
import { ERAS, type Era, judgeInspector } from './inspector.ts';
import { installPinned } from './install-pinned.ts';
import type { Door, Verdict } from './judge.ts';
import { AUTHORIZATION_REVISIONS, judgeAuthorizationServer } from './sign-in/conformance-authorization.ts';
import { inspector } from './sign-in/inspector.ts';
import { judgeSignIn } from './sign-in/judge-sign-in.ts';
import { mcpRemote } from './sign-in/mcp-remote.ts';
import { sdkClient } from './sign-in/sdk-client.ts';
import { SIGN_IN_ERAS, type SignInEra } from './sign-in/sign-in-host.ts';
import { openSignInRig, type SignInRig } from './sign-in/sign-in-rig.ts';

const HELP = `Lets stock MCP clients and the official conformance suite judge both doors, hosts sign a person in there with a browser, and the suite judge the
authorization server and the pool of connections to other servers.

  node test/judges/run.ts                      boots a platform of its own and judges it
  node test/judges/run.ts --url http://127.0.0.1:7070 --operator-key oag_... --agent-key oag_...
                                               judges a platform that is running, with its demo agent; for signing in and the pool
                                               it takes platforms of its own

One line a judge, what is wrong below it, and a closing line with the counts. Exit code 0 when all are satisfied.
`;

interface Judged {
  readonly operator: Door;
  readonly agent: Door;
  close(): Promise<void>;
}

const { values: options } = parseArgs({
  options: {
    url: { type: 'string' },
    'operator-key': { type: 'string', default: '' },
    'agent-key': { type: 'string', default: '' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

async function judgeAll(): Promise<boolean> {
  await installPinned(import.meta.dirname);
  await installPinned(join(import.meta.dirname, 'clients'));
  const judged = options.url === undefined ? await bootPlatform() : runningPlatform(options.url);
  const rig = await openSignInRig();
  let passed = 0;
  let failed = 0;
  try {
    for (const judge of [...judgesOf(judged), ...judgesOfSigningIn(rig)]) {
      const startedAt = performance.now();
      const verdict = await judge();
      const satisfied = verdict.complaints.length === 0;
      if (satisfied) passed++;
      else failed++;
      print(verdict, (performance.now() - startedAt) / 1000);
    }
  } finally {
    await rig.close();
    await judged.close();
  }
  process.stdout.write(`judges: ${passed} passed, ${failed} failed\n`);
  return failed === 0;
}

/** Every judge at every door, and of the pool, one after the other: they would slow each other into their time limits. */
function judgesOf(judged: Judged): (() => Promise<Verdict>)[] {
  const doors = [judged.operator, judged.agent];
  return [
    ...doors.flatMap(door => REQUIREMENT_SETS.map(set => () => judgeConformance(door, set))),
    ...doors.flatMap(door =>
      (Object.keys(ERAS) as Era[]).map(era => () => judgeInspector(door, era, EXPECTATIONS[door.name])),
    ),
    ...STOCK_CLIENTS.flatMap(client =>
      client.doors.map(
        name => () => judgeStockClient(client, { door: judged[name], operator: judged.operator }),
      ),
    ),
    ...CLIENT_SETS.map(set => () => judgeClient(set)),
  ];
}

function judgesOfSigningIn(rig: SignInRig): (() => Promise<Verdict>)[] {
  const doors = ['operator', 'agent'] as const;
  const eras = Object.keys(SIGN_IN_ERAS) as SignInEra[];
  return [
    ...[inspector, sdkClient, mcpRemote].flatMap(host =>
      doors.flatMap(door => eras.map(era => () => judgeSignIn(rig, host, { door, era }))),
    ),
    ...doors.flatMap(door =>
      AUTHORIZATION_REVISIONS.map(revision => () => judgeAuthorizationServer(rig, door, revision)),
    ),
  ];
}

function runningPlatform(url: string): Judged {
  return {
    operator: { name: 'operator', url: `${url}/mcp`, key: options['operator-key'] },
    agent: { name: 'agent', url: `${url}/demo/mcp`, key: options['agent-key'] },
    close: async () => {},
  };
}

async function bootPlatform(): Promise<Judged> {
  const platform = await startTestPlatform();
  return {
    operator: { name: 'operator', url: platform.operatorUrl, key: platform.operatorKey },
    agent: { name: 'agent', url: platform.agentUrl('demo'), key: platform.agentKey },
    close: () => platform.close(),
  };
}

function print(verdict: Verdict, seconds: number): void {
  const satisfied = verdict.complaints.length === 0;
  const lines = [
    `${satisfied ? 'ok  ' : 'FAIL'} ${verdict.judge}: ${satisfied ? verdict.summary : `${verdict.complaints.length} complaints`} (${seconds.toFixed(1)} s)`,
    ...verdict.complaints.map(complaint => `     ${complaint}`),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

if (options.help) process.stdout.write(HELP);
else process.exitCode = (await judgeAll()) ? 0 : 1;
