import { createClient } from '@patchbay/contract/client';
import { startBrowser } from '@patchbay/testing/browser';
import { startTestPlatform } from '@patchbay/testing/platform';
import { createJumpingClock } from '../../jumping-clock.ts';
import type { Door } from '../judge.ts';
import { type Person, type Visit, visitAs } from './person.ts';

/** A platform whose time can be put forward, a browser, and a person for each door. */
export interface SignInRig {
  readonly clock: ReturnType<typeof createJumpingClock>;
  urlOf(door: Door['name']): string;
  /** Somebody opens an address who is signed in nowhere yet, signs in and allows what is asked for. */
  visit(door: Door['name'], address: string): Promise<Visit>;
  close(): Promise<void>;
}

/** Neither owns the agent: one has a role that opens the operator door, with the other it is shared. */
const PEOPLE: Readonly<
  Record<Door['name'], Person & { readonly role: 'patchbay-editor' | 'patchbay-user' }>
> = {
  operator: { login: 'edda', password: 'nine green kettles', role: 'patchbay-editor' },
  agent: { login: 'ulla', password: 'four quiet harbours', role: 'patchbay-user' },
};

export async function openSignInRig(): Promise<SignInRig> {
  const clock = createJumpingClock();
  await using undo = new AsyncDisposableStack();
  const platform = undo.adopt(await startTestPlatform({ overrides: { clock } }), each => each.close());
  const browser = undo.adopt(await startBrowser(), each => each.close());
  const { users } = platform.platform;
  for (const { login, password, role } of Object.values(PEOPLE)) {
    await users.add({ name: login, login, password, roles: [role] });
  }
  const owner = createClient({ baseUrl: platform.url, token: platform.ownerToken, fetch });
  await owner.call('share_agent', { agentId: 'demo', with: 'everyone' });
  const opened = undo.move();
  return {
    clock,
    urlOf: door => (door === 'operator' ? platform.operatorUrl : platform.agentUrl('demo')),
    visit: (door, address) => visitAs(browser, PEOPLE[door], address),
    close: () => opened.disposeAsync(),
  };
}
