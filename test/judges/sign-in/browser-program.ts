import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

export interface BrowserProgram {
  /** What BROWSER names: a program that is given an address. */
  readonly path: string;
  close(): void;
}

/** Writes a program into a folder that hands what it is to open to this process, and ends at once, as a browser that runs already does. */
export async function writeBrowserProgram(
  folder: string,
  visit: (address: string) => Promise<void>,
): Promise<BrowserProgram> {
  const server = createServer(async (request, response) => {
    const address = await text(request);
    response.end();
    await visit(address);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const path = join(folder, 'browser');
  const hand = `fetch('http://127.0.0.1:${port}', { method: 'POST', body: process.argv[1] })`;
  await writeFile(path, `#!/bin/sh\nexec "${process.execPath}" -e "${hand}" "$1"\n`, { mode: 0o700 });
  return { path, close: () => void server.close() };
}
