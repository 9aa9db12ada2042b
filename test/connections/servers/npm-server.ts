import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer } from 'node:net';
import { dirname, join } from 'node:path';

/** The program of a server from the npm registry, for `node`. */
export function npmServer(name: 'everything' | 'filesystem' | 'memory' | 'sequential-thinking'): string {
  const manifest = createRequire(import.meta.url).resolve(
    `@modelcontextprotocol/server-${name}/package.json`,
  );
  return join(dirname(manifest), 'dist/index.js');
}

export interface RunningServer extends AsyncDisposable {
  readonly url: string;
}

/** `server-everything` over HTTP, in a process of its own. */
export async function startEverything(
  transport: 'streamableHttp' | 'sse',
  port?: number,
): Promise<RunningServer & { readonly port: number }> {
  const chosen = port ?? (await freePort());
  const child = spawn(process.execPath, [npmServer('everything'), transport], {
    env: { PATH: process.env.PATH, PORT: String(chosen) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exited = once(child, 'exit');
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', chunk => / on port /.test(String(chunk)) && resolve());
    child.once('exit', () => reject(new Error('server-everything did not start')));
  });
  return {
    url: `http://127.0.0.1:${chosen}/${transport === 'sse' ? 'sse' : 'mcp'}`,
    port: chosen,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
