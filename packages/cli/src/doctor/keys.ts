import { KEY_SCOPES } from '@patchbay/contract/operations/keys';
import type { KeyState, Remark } from '@patchbay/server/doctor';
import { day, shellWord } from '../text.ts';
import type { Check } from './examination.ts';

const SOON = 14 * 86_400_000;

const DOORS = { operator: 'the operator door and REST', agents: 'the agent door' } as const;

/** Is there a key for every door, and will there be one in two weeks? */
export const keys: Check = {
  name: 'keys',
  run({ contents, io }) {
    if (!contents) return [];
    const without = KEY_SCOPES.filter(scope => !contents.keys.some(key => key.scopes.includes(scope)));
    const remarks: Remark[] = [];
    if (without.length > 0) {
      const doors = without.map(scope => DOORS[scope]).join(' and ');
      const says = `There is no key for ${doors}; commands on this machine and hosts that sign in or start the bridge need none.`;
      const mend = `npx patchbay keys create ${without.map(scope => `--scope ${scope}`).join(' ')}`;
      remarks.push({ verdict: 'warning', says, mend });
    }
    for (const key of contents.keys) {
      if (key.expiresOn !== undefined && key.expiresOn - io.now() < SOON) remarks.push(expiring(key));
    }
    if (remarks.length === 0)
      remarks.push({ verdict: 'ok', says: `There is a key for every door (${contents.keys.length}).` });
    return remarks;
  },
};

function expiring({ id, name, scopes, expiresOn }: KeyState): Remark {
  const flags = scopes.map(scope => `--scope ${scope}`).join(' ');
  return {
    verdict: 'warning',
    says: `The key ${id} (${name}) expires on ${day(expiresOn!)}; make another, give it to who uses it, and revoke this one.`,
    mend: `npx patchbay keys create ${flags} --name ${shellWord(name)}`,
  };
}
