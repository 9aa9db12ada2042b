import { createClient } from '@patchbay/contract/client';
import { startTestPlatform } from '@patchbay/testing/platform';
import { expect, it } from 'vitest';
import { createBrowser, hiddenFields } from '../authorization/browser.ts';
import { toolCallingAgent } from '../mcpcalls/calling-agent.ts';
import { guard, PERSONAL_ENV } from './personal-rig.ts';
import { faultServers } from './servers/fault-servers.ts';

const { serverWith } = faultServers();
const BASE = 'https://apps.example/bay';

it('a person who connects to a server gives their credential to the platform and to no neighbour behind the same proxy (our own)', async () => {
  const server = await serverWith('whoami');
  const token = guard(server).knows('ann');
  const platform = await startTestPlatform({ env: { ...PERSONAL_ENV, PATCHBAY_PUBLIC_URL: BASE } });
  try {
    const owner = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
    await owner.call('add_server', { name: 'notes', options: { url: server.url, credentialName: 'notes' } });
    const file = toolCallingAgent('keeper', {
      mcpServerUrl: 'patchbay:servers/notes',
      mcpCalls: [{ name: 'look', toolName: 'whoami' }],
    });
    await owner.call('deploy_agent_file', { file });
    const waiting = await owner.call('chat_with_agent', { agentId: 'keeper', message: 'look' });
    expect(waiting.pauseType).toBe('SIGN_IN');
    const link = /https:\/\/\S+\/connect\/pause_\w+/.exec(waiting.agentResponse!)![0];

    /** What else the browser was sent to. */
    const elsewhere: string[] = [];
    const browser = createBrowser(BASE, async (url, init) => {
      if (!url.startsWith(`${BASE}/`)) {
        elsewhere.push(url);
        return new Response('Not ours', { status: 404 });
      }
      const headers = new Headers(init.headers);
      return fetch(platform.url + url.slice(BASE.length), { ...init, headers });
    });
    const nobody = await browser.follow(await browser.get(link));
    expect(nobody.url).toBe(
      `${BASE}/sign-in?return_to=${encodeURIComponent(new URL(link).pathname.slice(4))}`,
    );
    const { url } = await platform.platform.links.make(platform.platform.owner.id, 'sign-in');
    await browser.post(url, hiddenFields(await browser.get(url)), { origin: 'https://apps.example' });

    const page = await browser.get(link);
    const actions = [...page.text.matchAll(/<form method="post" action="([^"]*)"/g)].map(([, to]) => to!);
    expect(actions.length).toBeGreaterThan(0);
    expect(actions).toEqual(actions.map(() => new URL(link).pathname));
    const fields = { ...hiddenFields(page), action: '', server: 'default/notes', token };
    const given = await browser.post(link, fields, { origin: 'https://apps.example' });
    const done = await browser.follow(given);
    expect([done.url, done.status]).toEqual([link, 200]);
    expect(elsewhere).toEqual([]);
    expect(await owner.call('list_credentials', {})).toMatchObject({ count: 1 });
  } finally {
    await platform.close();
  }
});
