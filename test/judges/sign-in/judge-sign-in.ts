import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EXPECTATIONS } from '../expectations.ts';
import type { Door, Verdict } from '../judge.ts';
import { writeBrowserProgram } from './browser-program.ts';
import type { Visit } from './person.ts';
import { SIGN_IN_ERAS, type SignInEra, type SignInHost } from './sign-in-host.ts';
import type { SignInRig } from './sign-in-rig.ts';
import { firstMissing, type Step, watchPort } from './wire.ts';

/** Past the life of every access token, and short of that of what renews it. */
const TOKENS_ARE_OVER_MS = 2 * 3_600_000;

/**
 * Lets one host sign its person in at one door in one era, from the first refusal to the renewal of its token, and holds what the platform was
 * asked on the way against what the way is.
 */
export async function judgeSignIn(
  rig: SignInRig,
  host: SignInHost,
  at: { readonly door: Door['name']; readonly era: SignInEra },
): Promise<Verdict> {
  const door = { name: at.door, url: rig.urlOf(at.door) };
  const { pathname, port } = new URL(door.url);
  const home = await mkdtemp(join(tmpdir(), 'patchbay-sign-in-'));
  const visits: Visit[] = [];
  const complaints: string[] = [];
  const visit = async (address: string) => {
    try {
      visits.push(await rig.visit(at.door, address));
    } catch (error) {
      complaints.push(`The person did not get through: ${error}`);
    }
  };
  const browser = await writeBrowserProgram(home, visit);
  const wire = watchPort(Number(port));
  try {
    const { tool, args, answers } = EXPECTATIONS[at.door].call;
    const started = await host.start({ door, era: at.era, home, browser: browser.path, visit });
    try {
      for (const when of ['at first', 'when its token was over']) {
        if (when !== 'at first') rig.clock.jump(TOKENS_ARE_OVER_MS);
        const answer = await started.call(tool, args);
        if (!answer.includes(answers)) complaints.push(`${when}: '${answers}' is missing in ${answer}`);
      }
    } finally {
      await started.close();
    }
  } catch (error) {
    complaints.push(String(error));
  } finally {
    wire.stop();
    browser.close();
    await rm(home, { recursive: true, force: true });
  }
  const missing = firstMissing(wire.seen, wayOf(pathname));
  if (missing !== undefined) complaints.push(`${missing} is missing on the way: ${said(wire.seen)}`);
  const { revision } = wire.seen.findLast(({ path }) => path === pathname) ?? {};
  if (revision !== SIGN_IN_ERAS[at.era]) complaints.push(`It speaks ${revision}.`);
  complaints.push(...complaintsAbout(visits, host));
  return {
    judge: `${host.name} signing in at the ${at.door} door, ${at.era}`,
    summary: '401, metadata, registration, sign-in, consent, token, call, refresh',
    complaints,
  };
}

function wayOf(door: string): readonly Step[] {
  const call = { path: door, status: 200, method: 'POST' };
  const refused = { path: door, status: 401 };
  const token = { path: '/oauth/token', status: 200 };
  return [
    { name: 'the refusal', ...refused },
    { name: 'the document of the door', path: `/.well-known/oauth-protected-resource${door}`, status: 200 },
    {
      name: 'the document of the server',
      path: '/.well-known/oauth-authorization-server',
      status: 200,
    },
    { name: 'the registration', path: '/oauth/register', status: 201 },
    { name: 'the request of the browser', path: '/oauth/authorize', status: 303 },
    { name: 'the sign-in', path: '/sign-in', status: 303, method: 'POST' },
    { name: 'the consent', path: '/mcp-login', status: 303, method: 'POST' },
    { name: 'the token', ...token },
    { name: 'the call', ...call },
    { name: 'the refusal of the old token', ...refused },
    { name: 'the renewal', ...token },
    { name: 'the call with the new token', ...call },
  ];
}

function complaintsAbout(visits: readonly Visit[], { clientName }: SignInHost): string[] {
  const [visit, ...others] = visits;
  if (visit === undefined || others.length > 0)
    return [`The person was sent to the browser ${visits.length} times.`];
  const shown = [clientName, new URL(visit.cameBackTo).host];
  const unsaid = shown.filter(each => !visit.consent.includes(each));
  return [
    ...unsaid.map(each => `The page of consent does not say ${each}: ${visit.consent}`),
    ...visit.complaints.map(each => `The browser says: ${each}`),
  ];
}

const said = (seen: readonly { method: string; path: string; status: number }[]) =>
  seen.map(({ method, path, status }) => `${method} ${path} ${status}`).join(', ');
