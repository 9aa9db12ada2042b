import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { type Count, closingLine, runStages, type Stage } from './stages.ts';

// The one command: everything that says whether this repository is sound. `--only types,lint` runs some of it.

const outputs = mkdtempSync(path.join(tmpdir(), 'patchbay-check-'));
const testReport = path.join(outputs, 'tests.json');

const STAGES: readonly Stage[] = [
  { name: 'types', run: ['node_modules/typescript/bin/tsc'] },
  { name: 'lint', run: ['node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings'] },
  { name: 'unused', run: ['node_modules/knip/bin/knip.js'] },
  { name: 'generated', run: ['scripts/generate.ts', '--check'] },
  {
    name: 'tests',
    run: [
      'node_modules/vitest/vitest.mjs',
      'run',
      '--reporter=default',
      '--reporter=json',
      `--outputFile=${testReport}`,
    ],
    count: countTests,
    show: /^requirements: /,
  },
  { name: 'examples', run: ['scripts/examples.ts'], count: closingLine },
  { name: 'judges', run: ['test/judges/run.ts'], count: closingLine },
];

function countTests(): Count | undefined {
  try {
    const { numPassedTests, numFailedTests } = JSON.parse(readFileSync(testReport, 'utf8'));
    return { passed: numPassedTests, failed: numFailedTests };
  } catch {
    return undefined;
  }
}

const { values } = parseArgs({ options: { only: { type: 'string' } } });
const names = STAGES.map(stage => stage.name);
const wanted = values.only?.split(',') ?? names;
const unknown = wanted.find(name => !names.includes(name));

if (unknown !== undefined) {
  console.error(`--only: there is no stage "${unknown}"; the stages are ${names.join(', ')}.`);
  process.exitCode = 2;
} else {
  const { passed, failed } = await runStages(
    STAGES.filter(stage => wanted.includes(stage.name)),
    { cwd: path.resolve(import.meta.dirname, '..'), outputs, print: text => process.stdout.write(text) },
  );
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed > 0 ? 1 : 0;
}
rmSync(outputs, { recursive: true, force: true });
