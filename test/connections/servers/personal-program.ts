/**
 * An MCP server as a program of one person: `whoami` answers its process and the digest of its `TOKEN` or `NOTES`, `repeat` the token itself, `shout` writes it to standard error, and
 * `arguments` how it was started.
 */
import { createHash } from 'node:crypto';
import { createInterface } from 'node:readline';

const TOKEN = process.env.TOKEN ?? process.env.NOTES ?? '';
const TOOLS: Record<string, () => string> = {
  whoami: () =>
    JSON.stringify({ pid: process.pid, digest: createHash('sha256').update(TOKEN).digest('hex') }),
  shout: () => {
    process.stderr.write(`somebody gave me ${TOKEN}\n`);
    return 'done';
  },
  repeat: () => `it is ${TOKEN}`,
  arguments: () => JSON.stringify(process.argv),
};

createInterface({ input: process.stdin }).on('line', line => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answers: Record<string, () => object> = {
    initialize: () => ({
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 'personal', version: '1.0.0' },
    }),
    'tools/list': () => ({
      tools: Object.keys(TOOLS).map(name => ({ name, inputSchema: { type: 'object' } })),
    }),
    'tools/call': () => ({ content: [{ type: 'text', text: TOOLS[params.name]!() }] }),
  };
  const result = answers[method]?.();
  const error = { code: -32601, message: 'no such method' };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...(result ? { result } : { error }) })}\n`);
});
