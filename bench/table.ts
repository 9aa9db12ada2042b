import type { Figure } from './connections.ts';
import type { Sample } from './measure.ts';

export interface MeasuredRow {
  readonly title: string;
  readonly yardstick?: string | undefined;
  readonly sample: Sample;
}

export interface MeasuredGroup {
  readonly title: string;
  readonly rows: readonly MeasuredRow[];
}

/** A group as markdown: first how each row compares with its yardsticks in the same run, then the figures themselves. */
export function renderTable({ title: group, rows }: MeasuredGroup): string {
  const yardsticks = rows.filter(row => row.yardstick !== undefined);
  return [
    headingOf(group),
    '',
    '### Compared in this run',
    '',
    'Throughput as a multiple of the yardstick (more is better); CPU per call as a share of it (less is better).',
    '',
    ...markdown(
      [
        'server',
        ...yardsticks.flatMap(({ yardstick }) => [
          `c=1 rps / ${yardstick}`,
          `c=32 rps / ${yardstick}`,
          `CPU / ${yardstick}`,
        ]),
      ],
      rows.map(({ title, sample }) => [
        title,
        ...yardsticks.flatMap(({ sample: base }) => [
          times(sample.alone.rps / base.alone.rps),
          times(sample.together.rps / base.together.rps),
          times(sample.together.cpuMsPerCall / base.together.cpuMsPerCall),
        ]),
      ]),
    ),
    '',
    '### Figures',
    '',
    ...markdown(
      [
        'server',
        'c=1 rps',
        'c=1 p50 ms',
        'c=1 p99 ms',
        'c=32 rps',
        'c=32 p50 ms',
        'c=32 p99 ms',
        'CPU ms/call',
        'memory MB',
      ],
      rows.map(({ title, sample: { alone, together } }) => [
        title,
        alone.rps.toFixed(0),
        alone.p50.toFixed(2),
        alone.p99.toFixed(1),
        together.rps.toFixed(0),
        together.p50.toFixed(1),
        together.p99.toFixed(1),
        together.cpuMsPerCall.toFixed(3),
        together.memoryMb.toFixed(0),
      ]),
    ),
  ].join('\n');
}

/** What has no throughput, with its aim where it has one. */
export function renderFigures(title: string, figures: readonly Figure[]): string {
  const hasAims = figures.some(({ aim }) => aim !== undefined);
  const rows = figures.map(({ what, unit, value, aim }) => {
    const measured = [what, `${value.toFixed(value < 10 ? 1 : 0)} ${unit}`];
    if (!hasAims) return measured;
    return aim === undefined
      ? [...measured, '', '']
      : [...measured, `${aim} ${unit}`, value <= aim ? 'met' : 'not met'];
  });
  return renderColumns(title, ['what', 'measured', ...(hasAims ? ['aim', ''] : [])], rows);
}

/** Rows with several figures each, below one heading. */
export function renderColumns(
  title: string,
  head: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  return [headingOf(title), '', ...markdown(head, rows)].join('\n');
}

function headingOf(title: string): string {
  return `## ${title[0]!.toUpperCase()}${title.slice(1)}`;
}

const times = (ratio: number): string => `${ratio.toFixed(2)} x`;

/** First column left, numbers right. */
function markdown(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = head.map((name, i) => Math.max(name.length, ...rows.map(row => row[i]!.length)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join(' | ')} |`;
  const rule = widths.map((width, i) => (i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  return [line(head), line(rule), ...rows.map(line)];
}
