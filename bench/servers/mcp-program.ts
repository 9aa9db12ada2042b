import { createInterface } from 'node:readline';
import { answerTo } from './echo.ts';

/** The MCP server behind the rows that go on to one, as a program. It speaks the era with a handshake, as programs do. */
createInterface({ input: process.stdin }).on('line', line => {
  const message = JSON.parse(line);
  if (message.id !== undefined)
    process.stdout.write(`${JSON.stringify(answerTo(message, { era: 'session' }))}\n`);
});
