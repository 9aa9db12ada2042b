import type { Installation } from '@patchbay/server/doctor';
import type { Io } from '../io.ts';
import { identify } from './asked-platform.ts';
import type { Check } from './examination.ts';

type Settings = NonNullable<Installation['settings']>;

/** Can a platform listen where its settings say, or does it already? */
export const port: Check = {
  name: 'port',
  async run({ io, installation, platform }) {
    const settings = installation?.settings;
    if (!settings || settings.port === 0) return [];
    const ofFolder = platform.kind === 'asked' && platform.connection.asLocalOwner ? platform : undefined;
    if (ofFolder?.credential === 'accepted') {
      const { baseUrl } = ofFolder.connection;
      if (portOf(baseUrl) === settings.port) {
        return [{ verdict: 'ok', says: `The platform listens on port ${settings.port}.` }];
      }
      const says = `The settings say port ${settings.port}, and the platform that runs is at ${baseUrl}: it was started with others. Stop it and start it again.`;
      return [{ verdict: 'warning', says }];
    }
    // Somebody works in the folder and was asked at this port: what is wrong there is said about the platform.
    if (ofFolder && installation.folder?.inUse && portOf(ofFolder.connection.baseUrl) === settings.port)
      return [];
    const identity = await identify(io, localUrl(settings, settings.port));
    if (identity.kind === 'nobody') return [{ verdict: 'ok', says: `Port ${settings.port} is free.` }];
    const says =
      identity.kind === 'barred'
        ? `Port ${settings.port} belongs to another protocol, so browsers and most MCP hosts refuse to call it; take another one.`
        : `Port ${settings.port} is taken by ${identity.kind === 'patchbay' ? 'a Patchbay with another data folder' : 'another program'}, so a platform cannot start there; stop that one, or take another port.`;
    const mend = `PATCHBAY_PORT=${await freePortAfter(io, settings)} npx patchbay up`;
    return [{ verdict: 'problem', says, mend }];
  },
};

function portOf(url: string): number {
  const { port, protocol } = new URL(url);
  return Number(port || (protocol === 'https:' ? 443 : 80));
}

/** Where a platform with these settings is reached from this machine. */
export function localUrl({ host }: Settings, atPort: number): string {
  const reached = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${atPort}`;
}

/** 0 lets the system choose: only when the next ones are all taken, for it is another one each time. */
async function freePortAfter(io: Io, settings: Settings): Promise<number> {
  for (let next = settings.port + 1; next <= Math.min(settings.port + 10, 65_535); next++) {
    if ((await identify(io, localUrl(settings, next))).kind === 'nobody') return next;
  }
  return 0;
}
