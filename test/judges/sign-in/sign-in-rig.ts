import { createClient } from '@patchbay/contract/client';
import type { Role } from '@patchbay/contract/roles';
import { startBrowser } from '@patchbay/testing/browser';
import { startTestPlatform } from '@patchbay/testing/platform';
import { createJumpingClock } from '../../jumping-clock.ts';
import type { Door } from '../judge.ts';
import { type Visit, visitAs } from './person.ts';

/** A platform whose time can be put forward, a browser, and people who come to sign in. */
export interface SignInRig {
  readonly clock: ReturnType<typeof createJumpingClock>;
  urlOf(door: Door['name']): string;
  /** Somebody opens an address who is signed in nowhere yet, signs in and allows what is asked for. */
  visit(door: Door['name'], address: string): Promise<Visit>;
  close(): Promise<void>;
}

/** Nobody of them owns the agent: one role opens the operator door, with the other it is shared. */
const ROLES: Readonly<Record<Door['name'], Role>> = { operator: 'patchbay-editor', agent: 'patchbay-user' };
const PASSWORD = 'nine green kettles';

export async function openSignInRig(): Promise<SignInRig> {
  const clock = createJumpingClock();
  await using undo = new AsyncDisposableStack();
  const platform = undo.adopt(await startTestPlatform({ overrides: { clock } }), each => each.close());
  const browser = undo.adopt(await startBrowser(), each => each.close());
  const owner = createClient({ baseUrl: platform.url, token: platform.ownerToken, fetch });
  await owner.call('share_agent', { agentId: 'demo', with: `role:${ROLES.agent}` });
  let people = 0;
  const opened = undo.move();
  return {
    clock,
    urlOf: door => (door === 'operator' ? platform.operatorUrl : platform.agentUrl('demo')),
    async visit(door, address) {
      // One person may sign in so many times a minute only.
      people += 1;
      const person = { login: `person-${people}`, password: PASSWORD };
      await platform.platform.users.add({ ...person, name: person.login, roles: [ROLES[door]] });
      return visitAs(browser, person, address);
    },
    close: () => opened.disposeAsync(),
  };
}
