import type { OperationOutput } from '@patchbay/contract/client';
import type { Command } from 'commander';
import { isAgentFile, namedAgent } from '../agent-place.ts';
import { CliError, EXIT, toCliError } from '../cli-error.ts';
import { connect } from '../connection.ts';
import type { Io } from '../io.ts';
import { readObjectFile } from '../object-file.ts';
import { addSharedOptions, type SharedOptions, sharedOptions } from '../shared-options.ts';
import { printable, writeJson, writeLine } from '../text.ts';

interface LintOptions extends SharedOptions {
  readonly strict?: boolean;
}

type Linted = OperationOutput<'lint_agent'>;

/** Below `agents`. */
export function addLint(agents: Command, io: Io): void {
  addSharedOptions(agents.command('lint'))
    .description('say what in an agent can never do anything, or is not there')
    .argument(
      '<file-or-id>',
      'an agent file, or the id of a saved agent, or a reference to it; - reads a file from standard input',
    )
    .option('--strict', 'exit with 1 also where there are only warnings')
    .addHelpText(
      'after',
      `
It looks for rules that never fire, outputs that are never said, actions nobody hears, calls and properties that nothing asks
for, words no rule asks for, quick replies that others make useless, models nobody asks, keys that stand in the agent, and
references to nothing. A file is looked at also where no platform runs; then nobody knows which secrets, variables and MCP servers there are.

Exit code 1: there is an error, or with --strict a warning.

Examples:
  npx patchbay agents lint examples/hello.yaml
  npx patchbay agents lint hello --strict --json`,
    )
    .action(async (name: string, _: unknown, command: Command) =>
      lint(io, name, sharedOptions(command) as LintOptions),
    );
}

async function lint(io: Io, name: string, options: LintOptions): Promise<void> {
  const linted = (await isAgentFile(io, name))
    ? await lintFile(io, await readObjectFile(io, name, 'agent file'), options)
    : await lintSaved(io, name, options);
  if (options.json) writeJson(io.stdout, linted);
  else show(io, linted);
  const isWrong = linted.errors > 0 || (options.strict && linted.warnings > 0);
  if (isWrong) throw new CliError(EXIT.failed, `${name}: ${counted(linted)}.`);
}

async function lintSaved(io: Io, name: string, options: LintOptions): Promise<Linted> {
  const { client } = await connect(io, options);
  return client.call('lint_agent', namedAgent(name));
}

/** By the platform; where none answers and none was named, here. */
async function lintFile(io: Io, file: Record<string, unknown>, options: LintOptions): Promise<Linted> {
  try {
    const { client } = await connect(io, options);
    return await client.call('lint_agent', { file });
  } catch (thrown) {
    const isNamed = (options.url ?? io.env.PATCHBAY_URL ?? '') !== '';
    if (isNamed || toCliError(thrown).exitCode !== EXIT.unreachable) throw thrown;
  }
  writeLine(io.stderr, 'No platform runs here: secrets and variables were not looked for.');
  const { agentId, findings } = await io.lintAgentFile(file);
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  return { agentId, errors, warnings: findings.length - errors, findings: [...findings] };
}

function show(io: Io, linted: Linted): void {
  for (const { severity, code, place, says, mend } of linted.findings) {
    writeLine(io.stdout, printable(`${severity} ${code}: ${place}`));
    writeLine(io.stdout, printable(`  ${says}`));
    writeLine(io.stdout, printable(`  ${mend}`));
  }
  const { errors, warnings, findings } = linted;
  const left = errors + warnings - findings.length;
  if (left > 0) writeLine(io.stdout, `... and ${left} more`);
  writeLine(io.stdout, `${linted.agentId}: ${errors + warnings === 0 ? 'nothing found' : counted(linted)}`);
}

function counted({ errors, warnings }: Linted): string {
  const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`;
  return `${count(errors, 'error')}, ${count(warnings, 'warning')}`;
}
