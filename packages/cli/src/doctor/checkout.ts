import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { shellWord } from '../text.ts';

/** The folder that `npm ci` was run in. */
export interface Checkout {
  readonly folder: string;
  /** Versions by package, as this version of Patchbay wants them. */
  readonly wanted: ReadonlyMap<string, string>;
  /** As they are installed; `undefined` when nothing is. */
  readonly installed: ReadonlyMap<string, string> | undefined;
  /** The command that brings the two together. */
  readonly mend: string;
}

/** Of the script that runs this; `undefined` where it is no checkout but an installed package: npm then keeps the versions. */
export async function readCheckout([script]: readonly string[]): Promise<Checkout | undefined> {
  if (script === undefined) return undefined;
  // <checkout>/packages/cli/bin/patchbay.mjs
  const folder = dirname(dirname(dirname(dirname(script))));
  const wanted = await readLock(join(folder, 'package-lock.json'));
  if (!wanted) return undefined;
  const installed = await readLock(join(folder, 'node_modules', '.package-lock.json'));
  return { folder, wanted, installed, mend: `npm ci --prefix ${shellWord(folder)}` };
}

/** Versions by package of npm's lock file, without the packages that are folders of the checkout. */
async function readLock(file: string): Promise<ReadonlyMap<string, string> | undefined> {
  try {
    const { packages } = JSON.parse(await readFile(file, 'utf8')) as {
      readonly packages: Readonly<Record<string, { readonly version?: string; readonly link?: boolean }>>;
    };
    const entries = Object.entries(packages).flatMap(([name, { version, link }]) =>
      name.startsWith('node_modules/') && version !== undefined && !link ? [[name, version] as const] : [],
    );
    return new Map(entries);
  } catch {
    return undefined;
  }
}
