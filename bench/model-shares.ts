import type { Shape } from './model-turns.ts';
import type { MeasuredGroup, MeasuredRow } from './table.ts';

/** What the parts of a turn with a model take, in ms of CPU. */
export interface Shares {
  readonly title: string;
  readonly modelStep: number;
  readonly toolCall: number;
  /** Of a turn without a call, besides its one model step. */
  readonly rest: number;
}

/** Each shape of a turn is made of model steps, calls and a rest: what one of them takes is in the differences. Empty where not all shapes were measured. */
export function modelShares(groups: readonly MeasuredGroup[], titleOf: (shape: Shape) => string): Shares[] {
  const rowsOf = (shape: Shape) => groups.find(({ title }) => title === titleOf(shape))?.rows ?? [];
  const cpuOf = (rows: readonly MeasuredRow[], wanted: string) =>
    rows.find(({ title }) => title === wanted)?.sample.together.cpuMsPerCall ?? Number.NaN;
  return rowsOf('no call').flatMap(({ title }) => {
    const cpu = (shape: Shape) => cpuOf(rowsOf(shape), title);
    // One after the other, 5 calls take 6 model steps; at once they take 2.
    const modelStep = (cpu('5 calls') - cpu('5 calls at once')) / 4;
    const toolCall = (cpu('5 calls at once') - cpu('1 call')) / 4;
    const rest = cpu('no call') - modelStep;
    return Number.isNaN(modelStep + toolCall) ? [] : [{ title, modelStep, toolCall, rest }];
  });
}
