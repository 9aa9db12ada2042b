import { constants, type StatsFs } from 'node:fs';
import { access, readdir, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Remark, shellWord } from './finding.ts';
import { isLocked } from './folder-lock.ts';
import { findProcessWithOpenFile } from './open-file.ts';

/** Who works in a data folder. */
export interface FolderUse {
  /** A process holds the lock: a platform runs, starts or stops. */
  readonly inUse: boolean;
  /** Its process id, where the system tells us. */
  readonly pid?: number | undefined;
}

interface DataFolderFound {
  readonly remarks: readonly Remark[];
  readonly use: FolderUse;
}

/** Files whose content is for the owner alone. The lock is empty. */
const PRIVATE = /^(local-owner|node-id|vault-key|patchbay\.db.*)$/;

/** Is the folder there, ours, private, on a disk that suits a database and has room, and who has it? */
export async function examineDataFolder(
  folder: string,
  osPlatform: NodeJS.Platform,
): Promise<DataFolderFound> {
  const found = await stat(folder).catch((error: NodeJS.ErrnoException) => error);
  if (found instanceof Error) {
    return { remarks: [await absenceRemark(folder, found)], use: { inUse: false } };
  }
  if (!found.isDirectory()) {
    const remark = notAFolder(folder, folder);
    return { remarks: [remark], use: { inUse: false } };
  }
  const entries = await readdir(folder).catch(() => undefined);
  const barred = entries ? await firstBarred(folder, entries) : folder;
  const remarks: Remark[] = [];
  if (barred !== undefined) {
    remarks.push({
      verdict: 'problem',
      says: `${barred} may not be read and written by this user, so a platform started by it cannot work in the data folder; was one started as another user?`,
      mend: `sudo chown -R "$(id -un)" ${shellWord(folder)} && chmod -R u+rwX ${shellWord(folder)}`,
    });
  }
  // Windows has rights of another kind; the mode says nothing there.
  if (osPlatform !== 'win32') remarks.push(...(await privacyRemarks(folder, found.mode, entries ?? [])));
  remarks.push(...diskRemarks(folder, await statfs(folder)));
  const use = await useOf(folder, entries ?? []);
  if (remarks.length === 0) {
    const says = `The data folder ${folder} is private, writable and has room${use.inUse ? '; a platform works in it' : ''}.`;
    remarks.push({ verdict: 'ok', says });
  }
  return { remarks, use };
}

/** A folder that is missing is made by the first start, where that is allowed. */
async function absenceRemark(folder: string, { code }: NodeJS.ErrnoException): Promise<Remark> {
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    const above = await nearestAbove(folder);
    if (above && !(await stat(above)).isDirectory()) return notAFolder(folder, above);
    if (above && (await mayUse(above))) {
      return { verdict: 'ok', says: `The data folder ${folder} is made by the first start.` };
    }
    const says = `The data folder ${folder} cannot be made: this user may not write in ${above}.`;
    return { verdict: 'problem', says, mend: `sudo install -d -m 700 -o "$(id -un)" ${shellWord(folder)}` };
  }
  const says = `The data folder ${folder} cannot be looked at (${code}); check the rights of the folders above it.`;
  return { verdict: 'problem', says };
}

function notAFolder(folder: string, file: string): Remark {
  const says = `The data folder ${folder} cannot be used: ${file} is a file.`;
  return { verdict: 'problem', says, mend: `mv ${shellWord(file)} ${shellWord(`${file}.old`)}` };
}

async function nearestAbove(folder: string): Promise<string | undefined> {
  for (let above = dirname(folder); ; above = dirname(above)) {
    if (await stat(above).catch(() => undefined)) return above;
    if (above === dirname(above)) return undefined;
  }
}

async function firstBarred(folder: string, entries: readonly string[]): Promise<string | undefined> {
  if (!(await mayUse(folder))) return folder;
  for (const entry of entries) {
    const file = join(folder, entry);
    const barred = await access(file, constants.R_OK | constants.W_OK).then(
      () => false,
      // What is gone meanwhile bars nobody.
      ({ code }: NodeJS.ErrnoException) => code !== 'ENOENT',
    );
    if (barred) return file;
  }
  return undefined;
}

function mayUse(folder: string): Promise<boolean> {
  return access(folder, constants.R_OK | constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** Others may enter a folder that is not private; what matters then is what they find open in it. */
async function privacyRemarks(
  folder: string,
  folderMode: number,
  entries: readonly string[],
): Promise<Remark[]> {
  if ((folderMode & 0o077) === 0) return [];
  const open: string[] = [];
  for (const entry of entries.filter(name => PRIVATE.test(name))) {
    const found = await stat(join(folder, entry)).catch(() => undefined);
    if (found && (found.mode & 0o077) !== 0) open.push(entry);
  }
  const mend = `chmod -R go= ${shellWord(folder)}`;
  if (open.length > 0) {
    const says = `Other users of this machine can read ${open.join(', ')} in ${folder}: keys, conversations or the owner's token.`;
    return [{ verdict: 'problem', says, mend }];
  }
  return [
    { verdict: 'warning', says: `Other users of this machine can enter the data folder ${folder}.`, mend },
  ];
}

const MIB = 1024 * 1024;
const ROOM_NEEDED = 100 * MIB;
const ROOM_WANTED = 1024 * MIB;

/** File systems that other machines share, by the number Linux has for each: their locks do not protect a database. */
const SHARED_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0xff534d42, 'CIFS'],
]);

/** Exported for its test: no test can fill a disk. */
export function diskRemarks(
  folder: string,
  disk: Pick<StatsFs, 'type' | 'bavail' | 'bsize'>,
): readonly Remark[] {
  const remarks: Remark[] = [];
  const free = disk.bavail * disk.bsize;
  if (free < ROOM_WANTED) {
    const says = `The disk of the data folder ${folder} has ${Math.floor(free / MIB)} MiB left; without room nothing is stored and every turn fails. Free some, or move the folder with PATCHBAY_DATA_DIR.`;
    remarks.push({ verdict: free < ROOM_NEEDED ? 'problem' : 'warning', says });
  }
  const shared = SHARED_FILE_SYSTEMS.get(disk.type);
  if (shared) {
    const says = `The data folder ${folder} is on a network file system (${shared}), where an embedded database can be damaged; name a folder on a local disk with PATCHBAY_DATA_DIR.`;
    remarks.push({ verdict: 'warning', says });
  }
  return remarks;
}

async function useOf(folder: string, entries: readonly string[]): Promise<FolderUse> {
  const lock = join(folder, 'lock');
  if (!entries.includes('lock') || !isLocked(lock)) return { inUse: false };
  return { inUse: true, pid: await findProcessWithOpenFile(lock) };
}
