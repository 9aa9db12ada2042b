/**
 * An MCP server as a program, written without the SDK: `mcp-program.ts FILE [shy | crash]`. Each call it starts on is a line in FILE.
 * A shy one ends at a first message that is not `initialize`, as some servers of the older eras do.
 */
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [file = '', kind] = process.argv.slice(2);
if (kind === 'crash') {
  process.stderr.write('Error: the database is locked\n    at open (db.js:1:1)\n');
  process.exit(7);
}

const TOOLS = ['answer', 'die', 'hang'].map(name => ({ name, inputSchema: { type: 'object' } }));
let greeted = false;

createInterface({ input: process.stdin }).on('line', line => {
  const { id, method, params } = JSON.parse(line);
  if (kind === 'shy' && !greeted && method !== 'initialize') process.exit(1);
  greeted = true;
  const answer = (result: object) =>
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
  switch (method) {
    case 'initialize':
      return answer({
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'program', version: '1' },
      });
    case 'tools/list':
      return answer({ tools: TOOLS });
    case 'tools/call':
      appendFileSync(file, `${params.name}\n`);
      if (params.name === 'die') process.exit(9);
      if (params.name === 'hang') return;
      return answer({ content: [{ type: 'text', text: `${process.pid}` }] });
  }
  if (id === undefined) return;
  const error = { code: -32601, message: `no method ${method}` };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, error })}\n`);
});
