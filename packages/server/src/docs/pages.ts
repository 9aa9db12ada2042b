import { readdir, readFile, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { granted, type Outcome, refused } from '../kernel/result.ts';

/** An invalid name and an absent page are told apart (E-71); neither answer says where pages live (E-68). */
export type PageRefusal = { readonly reason: 'invalid-name' } | { readonly reason: 'absent' };

export interface DocsPages {
  /** Page names without `.md`, sorted. Empty when the documentation is switched off or missing. */
  list(): Promise<string[]>;
  read(name: string): Promise<Outcome<string, PageRefusal>>;
}

/** The pages of one folder. Off means that no page exists, for every surface alike (E-70). */
export function createDocsPages(options: { readonly enabled: boolean; readonly folder: string }): DocsPages {
  const { enabled, folder } = options;
  return {
    async list() {
      if (!enabled) return [];
      const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
      return entries
        .filter(entry => entry.isFile() && entry.name.endsWith('.md'))
        .map(entry => entry.name.slice(0, -'.md'.length))
        .filter(isPageName)
        .sort();
    },

    async read(name) {
      if (!isPageName(name)) return refused({ reason: 'invalid-name' });
      if (!enabled) return refused({ reason: 'absent' });
      try {
        // A link inside the folder must not lead out of it.
        const root = await realpath(folder);
        const file = await realpath(join(root, `${name}.md`));
        if (!file.startsWith(root + sep)) return refused({ reason: 'absent' });
        return granted(await readFile(file, 'utf8'));
      } catch {
        return refused({ reason: 'absent' });
      }
    },
  };
}

function isPageName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(name) && !name.includes('..');
}
