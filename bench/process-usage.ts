import { readdirSync, readFileSync } from 'node:fs';

/** Linux counts processor time in hundredths of a second for every program, whatever the kernel's own clock. */
const MS_PER_TICK = 10;

interface Stat {
  readonly pid: number;
  readonly parent: number;
  readonly cpuMs: number;
}

/** Processor time in ms that these processes and all below them have used, children that have ended included. */
export function cpuMsOf(roots: readonly number[]): number {
  return familyOf(roots).reduce((sum, stat) => sum + stat.cpuMs, 0);
}

/**
 * Memory in MB of these processes and all below them. `Rss` counts every resident page of each process, `Pss` divides a page
 * by the number of processes that share it, so that the shared buffers of PostgreSQL count once.
 */
export function memoryMbOf(roots: readonly number[], measure: 'Rss' | 'Pss'): number {
  const line = new RegExp(`^${measure}: +(\\d+) kB`, 'm');
  const kilobytes = familyOf(roots).reduce(
    (sum, { pid }) => sum + Number(line.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]),
    0,
  );
  return kilobytes / 1024;
}

function familyOf(roots: readonly number[]): Stat[] {
  const all = readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .flatMap(pid => readStat(Number(pid)));
  const family = all.filter(stat => roots.includes(stat.pid));
  for (const member of family) family.push(...all.filter(stat => stat.parent === member.pid));
  return family;
}

/** Empty when the process has gone meanwhile. */
function readStat(pid: number): Stat[] {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return [];
  }
  // The program's name stands in parentheses and may hold anything; the numbers after it are fields 3 and on.
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [utime, stime, cutime, cstime] = fields.slice(11, 15) as [number, number, number, number];
  return [{ pid, parent: fields[1]!, cpuMs: (utime + stime + cutime + cstime) * MS_PER_TICK }];
}
