/**
 * An MCP server as a program whose tools change: `changing-program.ts FILE`. FILE is a JSON object, tools by name with their descriptions, read at
 * each start. Each tool answers with its own name; `end` ends the program.
 */
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const tools = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as Record<string, string>;

createInterface({ input: process.stdin }).on('line', line => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === 'tools/call' && params.name === 'end') process.exit(0);
  const answers: Record<string, object> = {
    initialize: {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 'changing', version: '1.0.0' },
    },
    'tools/list': {
      tools: Object.entries({ ...tools, end: 'Ends it.' }).map(([name, description]) => ({
        ...{ name, description, inputSchema: { type: 'object' } },
      })),
    },
    'tools/call': { content: [{ type: 'text', text: params?.name }] },
    ping: {},
  };
  const result = answers[method];
  const error = { code: -32601, message: 'no such method' };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...(result ? { result } : { error }) })}\n`);
});
