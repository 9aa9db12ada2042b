import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Remark } from '@patchbay/server/doctor';
import { EXIT } from '../cli-error.ts';
import { shellWord } from '../text.ts';
import type { Check } from './examination.ts';

/** By which commands act as the owner: is it what a platform wrote, private, and taken by the one that runs? */
export const localOwner: Check = {
  name: 'local owner',
  async run({ platform, installation, io }) {
    if (!installation?.settings) return [];
    const file = join(installation.settings.dataDir, 'local-owner');
    const remarks: Remark[] = [];
    if (platform.kind === 'unknown' && platform.error.exitCode !== EXIT.unreachable) {
      remarks.push({ verdict: 'problem', says: platform.error.message });
    }
    const found = await stat(file).catch(() => undefined);
    if (found && io.osPlatform !== 'win32' && (found.mode & 0o077) !== 0) {
      const says = `${file} may be read by others of this machine, who are then the owner; after closing it, start the platform again for a new token.`;
      remarks.push({ verdict: 'problem', says, mend: `chmod 600 ${shellWord(file)}` });
    }
    if (platform.kind === 'asked' && platform.connection.asLocalOwner) {
      const { credential } = platform;
      if (credential === 'refused' && installation.folder?.inUse) {
        const says = `The platform at ${platform.connection.baseUrl} does not take the owner's token of this data folder: another one has that address. Stop one of the two and start the other again.`;
        remarks.push({ verdict: 'problem', says });
      }
      if (credential === 'accepted' && remarks.length === 0) {
        remarks.push({ verdict: 'ok', says: 'Commands on this machine act as the owner.' });
      }
    }
    return remarks;
  },
};
