import type { Finding } from '@patchbay/server/doctor';
import { agents } from './agents.ts';
import type { Check, Examination } from './examination.ts';
import { hosts } from './hosts.ts';
import { keys } from './keys.ts';
import { localOwner } from './local-owner.ts';
import { node } from './node.ts';
import { packages } from './packages.ts';
import { platform } from './platform.ts';
import { port } from './port.ts';

/** Everything the command line looks at besides what the server finds in its own installation. */
const CHECKS: readonly Check[] = [node, packages, platform, localOwner, port, agents, keys, hosts];

/** Runs every check. What keeps people from working comes first, then what they would want to know. */
export async function findings(examination: Examination): Promise<Finding[]> {
  const found: Finding[] = [...(examination.installation?.findings ?? [])];
  for (const { name, run } of CHECKS) {
    for (const remark of await run(examination)) found.push({ check: name, ...remark });
  }
  const order = ['problem', 'warning', 'ok'];
  return found.sort((a, b) => order.indexOf(a.verdict) - order.indexOf(b.verdict));
}
