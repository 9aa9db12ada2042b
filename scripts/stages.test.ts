import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { closingLine, runStages, type Stage } from './stages.ts';

const outputs = mkdtempSync(path.join(tmpdir(), 'patchbay-stages-'));
afterAll(() => rmSync(outputs, { recursive: true }));

/** Runs stages whose commands are small programs. */
async function run(...stages: readonly (Omit<Stage, 'run'> & { readonly code: string })[]) {
  let printed = '';
  const total = await runStages(
    stages.map(({ code, ...stage }) => ({ ...stage, run: ['-e', code] })),
    {
      cwd: outputs,
      outputs,
      print: text => {
        printed += text;
      },
    },
  );
  return { ...total, lines: printed.split('\n'), printed };
}

describe('the stages of a check', () => {
  it('count one check a command', async () => {
    const { passed, failed, lines } = await run({ name: 'types', code: '' }, { name: 'lint', code: '' });
    expect({ passed, failed }).toEqual({ passed: 2, failed: 0 });
    expect(lines[0]).toMatch(/^types {2}passed {2,}\d+\.\d s$/);
  });
  it('go on after a failure and print its output whole', async () => {
    const { passed, failed, printed } = await run(
      { name: 'types', code: `console.log('one'); console.error('two'); process.exit(3)` },
      { name: 'lint', code: `console.log('quiet')` },
    );
    expect({ passed, failed }).toEqual({ passed: 1, failed: 1 });
    expect(printed).toMatch(/types {2}FAILED .*\n\none\ntwo\n\nlint {3}passed/);
    expect(printed).not.toContain('quiet');
  });
  it('add up what the commands counted', async () => {
    const counting = { name: 'judges', count: closingLine };
    const { passed, failed } = await run(
      { ...counting, code: `console.log('judges: 4 passed, 0 failed')` },
      { ...counting, code: `console.log('judges: 2 passed, 3 failed'); process.exit(1)` },
    );
    expect({ passed, failed }).toEqual({ passed: 6, failed: 3 });
  });
  it('take a failed command as a failure whatever it counted', async () => {
    const { passed, failed } = await run({
      name: 'judges',
      count: closingLine,
      code: `console.log('judges: 4 passed, 0 failed'); process.exit(1)`,
    });
    expect({ passed, failed }).toEqual({ passed: 4, failed: 1 });
  });
  it('take a command that should count and does not as a failure', async () => {
    const { passed, failed } = await run({ name: 'judges', count: closingLine, code: `console.log('done')` });
    expect({ passed, failed }).toEqual({ passed: 0, failed: 1 });
  });
  it('take a killed command as a failure', async () => {
    const { failed } = await run({ name: 'tests', code: `process.kill(process.pid, 'SIGKILL')` });
    expect(failed).toBe(1);
  });
  it('do not wait for a process that a command leaves behind', async () => {
    const code = `require('node:child_process').spawn(process.execPath, ['-e', 'setTimeout(() => {}, 5000)'], { stdio: 'inherit', detached: true }).unref()`;
    const started = performance.now();
    expect((await run({ name: 'tests', code })).passed).toBe(1);
    expect(performance.now() - started).toBeLessThan(4000);
  });
  it('show the lines worth showing', async () => {
    const { printed } = await run({ name: 'tests', code: `console.log('a\\nsum: 3\\nb')`, show: /^sum: / });
    expect(printed).toMatch(/^tests {2}passed .*\n {7}sum: 3\n$/);
  });
  it('read counts and lines through colours', async () => {
    const code = `console.log('\\x1b[2msum: 3\\x1b[22m\\n\\x1b[32mjudges: 4 passed, 0 failed\\x1b[39m')`;
    const { passed, printed } = await run({ name: 'judges', code, count: closingLine, show: /^sum: 3$/ });
    expect(passed).toBe(4);
    expect(printed).toContain('sum: 3');
  });
  it('run this Node, not the one on the path', async () => {
    const { printed } = await run({ name: 'node', code: 'console.log(process.version)', show: /^v/ });
    expect(printed).toContain(process.version);
  });
});

describe('a closing line', () => {
  it('is the last line and nothing else', () => {
    expect(closingLine('a\njudges: 12 passed, 1 failed\n')).toEqual({ passed: 12, failed: 1 });
    expect(closingLine('judges: 12 passed, 1 failed\nbye')).toBeUndefined();
    expect(closingLine('12 passed, 1 failed')).toBeUndefined();
    expect(closingLine('')).toBeUndefined();
  });
});
