import type { FolderUse, Remark } from '@patchbay/server/doctor';
import manifest from '../../package.json' with { type: 'json' };
import { EXIT } from '../cli-error.ts';
import type { AskedPlatform } from './asked-platform.ts';
import type { Check } from './examination.ts';

/** Does the platform run, answer, and have the version of this checkout? */
export const platform: Check = {
  name: 'platform',
  run: ({ platform: asked, installation }) =>
    asked.kind === 'unknown' ? absent(asked, installation?.folder) : answer(asked, installation?.folder),
};

const START = 'npx patchbay up';

function absent(
  { error }: AskedPlatform & { kind: 'unknown' },
  use: FolderUse | undefined,
): readonly Remark[] {
  // Anything else is about the file that tells the address, or about the configuration: others say it.
  if (error.exitCode !== EXIT.unreachable) return [];
  if (!use?.inUse) return [{ verdict: 'warning', says: 'No platform runs here.', mend: START }];
  const says = `${processOf(use)} works in the data folder, but no platform answers; if it is not just starting or stopping, end it.`;
  return [{ verdict: 'problem', says, mend: end(use) }];
}

function answer(
  { connection, identity, ready, credential }: AskedPlatform & { kind: 'asked' },
  use: FolderUse | undefined,
): readonly Remark[] {
  const { baseUrl, asLocalOwner } = connection;
  // Nobody works in the folder: the address in it is what a platform left that was killed.
  if (asLocalOwner && use?.inUse === false && credential !== 'accepted') {
    const says =
      'No platform runs here; the last one ended without tidying up, which the next start makes good.';
    return [{ verdict: 'warning', says, mend: START }];
  }
  switch (identity.kind) {
    case 'nobody':
    case 'barred': {
      const says = `Nobody answers at ${baseUrl}.`;
      return [{ verdict: 'problem', says, mend: asLocalOwner && use ? end(use) : undefined }];
    }
    case 'silent': {
      const who = asLocalOwner && use ? processOf(use) : `The program at ${baseUrl}`;
      const says = `${who} takes connections and does not answer them: it is stuck. End it and start the platform again; nothing that was stored is lost.`;
      return [{ verdict: 'problem', says, mend: asLocalOwner && use ? end(use) : undefined }];
    }
    case 'stranger':
      return [{ verdict: 'problem', says: `What answers at ${baseUrl} is no Patchbay; check the address.` }];
    case 'patchbay':
      return [...health(baseUrl, ready, identity.version), ...access(credential, asLocalOwner)];
  }
}

function health(baseUrl: string, ready: boolean, version: string): Remark[] {
  const remarks: Remark[] = [];
  if (!ready) {
    const says = `The platform at ${baseUrl} answers, but its database does not; what is said about the database here, or its log, tells why.`;
    remarks.push({ verdict: 'problem', says });
  }
  if (version !== manifest.version) {
    const says = `The platform at ${baseUrl} is version ${version} and this is ${manifest.version}; stop it and start it again from here.`;
    remarks.push({ verdict: 'warning', says, mend: START });
  }
  if (remarks.length === 0) {
    remarks.push({ verdict: 'ok', says: `Patchbay ${version} answers at ${baseUrl} and is ready.` });
  }
  return remarks;
}

/** The owner's token is looked at on its own. */
function access(
  credential: (AskedPlatform & { kind: 'asked' })['credential'],
  asLocalOwner: boolean,
): Remark[] {
  if (asLocalOwner) return [];
  if (credential === 'none') {
    const says = 'No key was given, so no more could be asked; give one with --key or PATCHBAY_KEY.';
    return [{ verdict: 'warning', says }];
  }
  if (credential !== 'refused') return [];
  const says =
    'The key that was given does not open the platform: it ended, or has not the scope operator. Make one there.';
  return [{ verdict: 'problem', says, mend: 'npx patchbay keys create --scope operator' }];
}

function processOf(use: FolderUse): string {
  return use.pid === undefined ? 'A process' : `Process ${use.pid}`;
}

/** What is stuck does not hear a gentler signal. */
function end(use: FolderUse): string | undefined {
  return use.pid === undefined ? undefined : `kill -9 ${use.pid}`;
}
