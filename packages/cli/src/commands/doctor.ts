import type { Finding } from '@patchbay/server/doctor';
import type { Command } from 'commander';
import { CliError, EXIT } from '../cli-error.ts';
import { findings } from '../doctor/checks.ts';
import { examine } from '../doctor/examination.ts';
import type { Io } from '../io.ts';
import { addSharedOptions, type SharedOptions, sharedOptions } from '../shared-options.ts';
import { printable, writeJson, writeLine } from '../text.ts';

interface DoctorOptions extends SharedOptions {
  readonly all?: boolean;
}

export function addDoctor(program: Command, io: Io): void {
  addSharedOptions(program.command('doctor'))
    .description('say what is wrong, and the command that mends it')
    .option('--all', 'show also what is fine')
    .addHelpText(
      'after',
      `
Looks at the settings, the data folder, the database, the platform, agents, keys and the entries of MCP hosts, whether the
platform runs or not. Nothing is changed. Run it with the settings, and in the folder, that you start the platform with.
With --url another platform is asked instead. It exits 1 when something keeps people from working.

Examples:
  npx patchbay doctor
  npx patchbay doctor --all
  npx patchbay doctor --json`,
    )
    .action(async (_: unknown, command: Command) => doctor(io, sharedOptions(command) as DoctorOptions));
}

async function doctor(io: Io, options: DoctorOptions): Promise<void> {
  const found = await findings(await examine(io, options));
  const problems = found.filter(({ verdict }) => verdict === 'problem').length;
  const warnings = found.filter(({ verdict }) => verdict === 'warning').length;
  if (options.json) writeJson(io.stdout, { problems, warnings, findings: found });
  else {
    const shown = options.all ? found : found.filter(({ verdict }) => verdict !== 'ok');
    for (const finding of shown) writeFinding(io, finding);
    const fine = found.length - problems - warnings;
    const isFine = problems + warnings === 0;
    if (isFine) writeLine(io.stdout, 'Nothing is wrong.');
    if (!options.all && fine > 0) writeLine(io.stdout, `What is fine: ${fine} (--all shows it).`);
  }
  if (problems > 0) {
    throw new CliError(
      EXIT.failed,
      problems === 1 ? 'There is 1 problem.' : `There are ${problems} problems.`,
    );
  }
}

const VERDICT_WIDTH = 'problem'.length;

/** One line, and one below it to copy. */
function writeFinding({ stdout }: Io, { check, verdict, says, mend }: Finding): void {
  const sentence = printable(says).replace(/\s+/g, ' ');
  writeLine(stdout, `${verdict.padEnd(VERDICT_WIDTH)}  ${check}: ${sentence}`);
  if (mend !== undefined) writeLine(stdout, `${' '.repeat(VERDICT_WIDTH + 4)}${mend}`);
}
