import { spawn } from 'node:child_process';
import { openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';

/** How many checks of a stage passed and failed. */
export interface Count {
  readonly passed: number;
  readonly failed: number;
}

/** One command of `npm run check`. */
export interface Stage {
  readonly name: string;
  /** Arguments of this Node: a script and its arguments, from the root of the repository. */
  readonly run: readonly string[];
  /** Reads the counts from the command's output; without it, or when it finds none, the whole command is one check. */
  readonly count?: (output: string) => Count | undefined;
  /** Lines of the output that are worth showing although all went well. */
  readonly show?: RegExp;
}

/** The count in a closing line such as `judges: 4 passed, 0 failed`. */
export function closingLine(output: string): Count | undefined {
  const [, passed, failed] =
    /^[\w-]+: (\d+) passed, (\d+) failed\s*$/.exec(output.trimEnd().split('\n').at(-1)!) ?? [];
  return passed === undefined ? undefined : { passed: Number(passed), failed: Number(failed) };
}

/**
 * Runs all stages one after another, whatever the earlier ones said: one run shows everything there is to mend. Prints a line a
 * stage and the whole output of each that failed.
 */
export async function runStages(
  stages: readonly Stage[],
  options: {
    readonly cwd: string;
    /** An existing folder for the outputs. */
    readonly outputs: string;
    readonly print: (text: string) => void;
  },
): Promise<Count> {
  const total = { passed: 0, failed: 0 };
  const width = Math.max(...stages.map(stage => stage.name.length));
  for (const stage of stages) {
    options.print(`${stage.name.padEnd(width)}  `);
    const started = performance.now();
    const { exitCode, output } = await runStage(stage, options);
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    const { passed, failed } = countOf(stage, exitCode, output);
    total.passed += passed;
    total.failed += failed;
    const counted = stage.count ? `   ${passed} passed, ${failed} failed` : '';
    options.print(`${failed > 0 ? 'FAILED' : 'passed'}  ${seconds.padStart(6)} s${counted}\n`);
    if (failed > 0) options.print(`\n${output.trimEnd()}\n\n`);
    else
      for (const line of output.split('\n'))
        if (stage.show?.test(line)) options.print(`${' '.repeat(width)}  ${line}\n`);
  }
  return total;
}

/** A command that fails has failed at least one check, whatever it counted before. */
function countOf(stage: Stage, exitCode: number, output: string): Count {
  const counted = stage.count?.(output);
  if (exitCode === 0) return counted ?? { passed: stage.count ? 0 : 1, failed: stage.count ? 1 : 0 };
  return { passed: counted?.passed ?? 0, failed: Math.max(1, counted?.failed ?? 0) };
}

/** The output goes to a file and not to a pipe: a process that a stage leaves behind cannot hold the check open. */
async function runStage(
  stage: Stage,
  { cwd, outputs }: { readonly cwd: string; readonly outputs: string },
): Promise<{ exitCode: number; output: string }> {
  const file = path.join(outputs, `${stage.name}.txt`);
  const output = openSync(file, 'w');
  const child = spawn(process.execPath, stage.run, { cwd, stdio: ['ignore', output, output] });
  const exitCode = await new Promise<number>((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', code => resolve(code ?? 1));
  });
  return { exitCode, output: stripVTControlCharacters(readFileSync(file, 'utf8')) };
}
