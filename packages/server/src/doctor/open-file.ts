import { readdir, readlink, realpath } from 'node:fs/promises';

/**
 * Id of a process of this user, other than this one, that has the file open. `undefined` when there is none, and on systems
 * that do not show it under `/proc`.
 */
export async function findProcessWithOpenFile(file: string): Promise<number | undefined> {
  const target = await realpath(file);
  const processes = await readdir('/proc').catch(() => []);
  for (const name of processes) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    const folder = `/proc/${name}/fd`;
    // Processes of others, and those that end while we look, show nothing.
    for (const descriptor of await readdir(folder).catch(() => [])) {
      if ((await readlink(`${folder}/${descriptor}`).catch(() => undefined)) === target) return pid;
    }
  }
  return undefined;
}
