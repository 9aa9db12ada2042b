/**
 * An MCP server as a program that keeps what it is told in its memory and nowhere else: `witness-program.ts [deaf | dying | stubborn]`. `keep` adds a text to
 * what it has, `recall` answers all of it, `pid` answers the process. A deaf one never answers, a dying one ends with its last words, a stubborn one ends for nobody.
 * Each start is a line in the file of `STARTS`; without the file of `NEEDS` it ends at once.
 */
import { appendFileSync, existsSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [kind] = process.argv.slice(2);
const { STARTS, NEEDS } = process.env;
if (STARTS) appendFileSync(STARTS, `${process.pid}\n`);
if (NEEDS && !existsSync(NEEDS)) process.exit(3);
if (kind === 'dying') {
  process.stderr.write('Error: the database is locked\n    at open (db.js:1:1)\n');
  process.exit(7);
}
if (kind === 'stubborn') {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => undefined);
  setInterval(() => undefined, 1_000);
}
const kept: string[] = [];
const TOOLS: Record<string, (args: { text?: string }) => string> = {
  keep: ({ text = '' }) => `${kept.push(text)}`,
  recall: () => JSON.stringify(kept),
  pid: () => `${process.pid}`,
};

createInterface({ input: process.stdin }).on('line', line => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined || kind === 'deaf') return;
  const answers: Record<string, () => object> = {
    initialize: () => ({
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 'witness', version: '1.0.0' },
    }),
    'tools/list': () => ({
      tools: Object.keys(TOOLS).map(name => ({ name, inputSchema: { type: 'object' } })),
    }),
    'tools/call': () => ({ content: [{ type: 'text', text: TOOLS[params.name]!(params.arguments) }] }),
  };
  const result = answers[method]?.();
  const error = { code: -32601, message: 'no such method' };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...(result ? { result } : { error }) })}\n`);
});
