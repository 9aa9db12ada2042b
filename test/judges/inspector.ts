import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Expectations } from './expectations.ts';
import { type Door, runNode, type Verdict } from './judge.ts';

/** The program that starts it. */
export const INSPECTOR = join(
  import.meta.dirname,
  'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js',
);

/** How the Inspector opens, and the protocol version it must end up with. */
export const ERAS = { legacy: '2025-11-25', auto: '2026-07-28', modern: '2026-07-28' } as const;
export type Era = keyof typeof ERAS;

/** What the Inspector's own documentation says its exit codes mean. */
const EXIT = { ok: 0, requestError: 1, signInNeeded: 3, toolError: 5 } as const;

/** One command line and what it must give. `problem` answers with a sentence when the answer is not right. */
interface Step {
  readonly args: readonly string[];
  readonly exitCode?: number;
  /** Use a key that was never issued. */
  readonly wrongKey?: boolean;
  /** Given the result, or the error where the answer is none. */
  readonly problem: (answer: unknown) => string | undefined;
}

/** Drives the unmodified Inspector command line through one door in one era, each step in a process of its own. */
export async function judgeInspector(door: Door, era: Era, expected: Expectations): Promise<Verdict> {
  const folder = await mkdtemp(join(tmpdir(), 'patchbay-inspector-'));
  try {
    const config = join(folder, 'config.json');
    const server = (key: string) => ({
      type: 'streamable-http',
      url: door.url,
      headers: { Authorization: `Bearer ${key}` },
    });
    const mcpServers = { door: server(door.key), stranger: server('oag_never_issued') };
    await writeFile(config, JSON.stringify({ mcpServers }));
    // Its catalogue, its keychain and its sign-ins stay in this folder.
    const env = { HOME: folder, MCP_INSPECTOR_SECRET_STORE: 'memory' };
    const complaints: string[] = [];
    const steps = stepsFor(era, expected);
    for (const step of steps) {
      const connect = ['--cli', '--config', config, '--server', step.wrongKey ? 'stranger' : 'door'];
      const fixed = ['--protocol-era', era, '--stored-auth-only', '--format', 'json', '--quiet'];
      const run = await runNode([INSPECTOR, ...connect, ...fixed, ...step.args], { env, timeoutMs: 30_000 });
      const problem = problemOf(run, step);
      if (problem) complaints.push(`${step.args.join(' ')}: ${problem} ${run.stderr.trim()}`);
    }
    const summary = `${steps.length} commands, answers and exit codes right`;
    return { judge: `inspector ${era} at the ${door.name} door`, summary, complaints };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function problemOf(
  run: { exitCode: number | null; stdout: string; stderr: string },
  step: Step,
): string | undefined {
  const due = step.exitCode ?? EXIT.ok;
  if (run.exitCode !== due) return `exit code ${run.exitCode} instead of ${due}: ${run.stdout.trim()}`;
  const [text, member] = run.stdout.trim() === '' ? [run.stderr, 'error'] : [run.stdout, 'result'];
  try {
    return step.problem(at(JSON.parse(text), member));
  } catch (error) {
    return `unreadable answer (${error}): ${text.trim()}`;
  }
}

function stepsFor(era: Era, expected: Expectations): Step[] {
  const { call, refusedCall, resource } = expected;
  const steps: Step[] = [
    {
      args: ['--method', 'initialize'],
      problem: result => differs('protocolVersion', at(result, 'protocolVersion'), ERAS[era]),
    },
    {
      args: ['--method', 'tools/list'],
      problem: result => differs('tools', list(result, 'tools', 'name'), expected.tools),
    },
    {
      args: callOf(call.tool, call.args),
      problem: result => lacks(list(result, 'content', 'text').join('\n'), call.answers),
    },
    {
      args: callOf(refusedCall.tool, refusedCall.args),
      exitCode: EXIT[refusedCall.as],
      problem: answer => lacks(JSON.stringify(answer), refusedCall.says),
    },
    {
      args: ['--method', 'tools/list'],
      wrongKey: true,
      exitCode: EXIT.signInNeeded,
      problem: error => differs('code', at(error, 'code'), 'auth_required'),
    },
  ];
  if (resource) {
    steps.push(
      {
        args: ['--method', 'resources/list'],
        problem: result => lacks(list(result, 'resources', 'uri').join('\n'), resource.uri),
      },
      {
        args: ['--method', 'resources/read', '--uri', resource.uri],
        problem: result => lacks(list(result, 'contents', 'text').join('\n'), resource.contains),
      },
    );
  }
  return steps;
}

function callOf(tool: string, args: Record<string, string>): string[] {
  return ['--method', 'tools/call', '--tool-name', tool, '--tool-args-json', JSON.stringify(args)];
}

function at(value: unknown, member: string): unknown {
  return (value as Record<string, unknown> | undefined)?.[member];
}

/** One member of every item of a list inside a result. */
function list(result: unknown, name: string, member: string): unknown[] {
  const items = at(result, name);
  return Array.isArray(items) ? items.map(item => at(item, member)) : [];
}

function differs(what: string, actual: unknown, due: unknown): string | undefined {
  const [left, right] = [JSON.stringify(actual), JSON.stringify(due)];
  return left === right ? undefined : `${what} is ${left} instead of ${right}.`;
}

function lacks(text: string, part: string): string | undefined {
  return text.includes(part) ? undefined : `'${part}' is missing in: ${text}`;
}
