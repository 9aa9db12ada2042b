import type { CompiledTools } from './compile-tools.ts';

/** Lines of one report: what is behind them is counted. */
const MAX_LINES = 20;
const MAX_LINE = 300;

/**
 * What became of the tools of an agent on the way to its provider, a line a tool: first those that the model does not get, then those of
 * which the provider does not take everything. Empty when nothing happened to any.
 */
export function describeLosses({ lost, quarantined }: Pick<CompiledTools, 'lost' | 'quarantined'>): string[] {
  const lines = [
    ...quarantined.map(({ tool, reason }) => `${tool} is not offered: ${reason}`),
    ...[...Map.groupBy(lost, ({ tool }) => tool)].map(([tool, parts]) => {
      const what = [...Map.groupBy(parts, part => part.what)].map(([name, places]) => {
        const [{ path } = { path: '' }, ...others] = places;
        const where = path === '' ? 'its arguments' : path;
        return `${name} (${where}${others.length > 0 ? ` and ${others.length} more` : ''})`;
      });
      return `${tool} is simplified: ${what.join(', ')}.`;
    }),
  ].map(line => (line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}...` : line));
  if (lines.length <= MAX_LINES) return lines;
  return [...lines.slice(0, MAX_LINES), `and ${lines.length - MAX_LINES} more tools.`];
}
