import { createClient } from '@patchbay/contract/client';
import { startBrowser, type TestBrowser } from '@patchbay/testing/browser';
import { startLoopbackProxy } from '@patchbay/testing/loopback-proxy';
import { keysFor, startTestNode, type TestNode } from '@patchbay/testing/platform';
import { newTestDatabase } from '@patchbay/testing/stores';
import { startThirdParty } from '@patchbay/testing/third-party';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PERSONAL_ENV } from '../connections/personal-rig.ts';
import { toolCallingAgent } from '../mcpcalls/calling-agent.ts';
import { startNotesServer } from './notes-server.ts';

const LINK = /(http:\/\/\S+\/connect\/pause_\w+)/;
const AGENT = 'keeper';

const undo = new AsyncDisposableStack();
const targets: string[] = [];
let nodes: TestNode[] = [];
let browser: TestBrowser;
let start: () => Promise<void>;
let url: string;
let notes: Awaited<ReturnType<typeof startNotesServer>>;

beforeAll(async () => {
  const thirdParty = undo.use(await startThirdParty());
  notes = undo.use(await startNotesServer(thirdParty));
  const database = undo.use(await newTestDatabase());
  const proxy = undo.adopt(await startLoopbackProxy({ targets }), one => one.close());
  url = proxy.url;
  start = async () => {
    const env = { ...PERSONAL_ENV, PATCHBAY_PUBLIC_URL: url };
    nodes = await Promise.all([1, 2].map(() => startTestNode({ env, databaseUrl: database.url })));
    targets.push(...nodes.map(node => node.url));
  };
  await start();
  undo.defer(stop);
  browser = undo.adopt(await startBrowser(), one => one.close());
}, 90_000);
afterAll(() => undo.disposeAsync());

async function stop(): Promise<void> {
  targets.length = 0;
  await Promise.all(nodes.map(node => node.close()));
}

it('two people use one shared agent at a third party with its own sign-in: each is known there as themselves, on two nodes, also after a restart (W-70, W-76, W-89)', async () => {
  const keys = await keysFor(nodes[0]!.platform);
  const owner = createClient({ baseUrl: url, token: keys.operatorKey, fetch });
  await owner.call('add_server', {
    name: 'notes',
    options: { url: notes.url, credentialName: 'notes', oauth: {} },
  });
  await owner.call('deploy_agent_file', {
    file: toolCallingAgent(AGENT, {
      mcpServerUrl: 'patchbay:servers/notes',
      mcpCalls: [{ name: 'look', toolName: 'notes' }],
    }),
  });
  await owner.call('share_agent', { agentId: AGENT, with: 'everyone' });

  const people = await Promise.all(
    ['Ann', 'Bob'].map(async name => {
      const person = await keys.addPerson(['patchbay-user']);
      const client = createClient({ baseUrl: url, token: person.key, fetch });
      const talk = (conversationId?: string) =>
        client.call('chat_with_agent', { agentId: AGENT, message: 'look', conversationId });
      const waiting = await talk();
      expect(waiting.pauseType).toBe('SIGN_IN');
      return { ...person, name, client, talk, waiting, link: LINK.exec(waiting.agentResponse!)![1]! };
    }),
  );

  // Both wait while the whole platform stops and starts again.
  await stop();
  await start();

  for (const { name, userId, link } of people) {
    const page = await browser.open();
    await page.goto((await nodes[0]!.platform.links.make(userId, 'sign-in')).url);
    await page.click('main button');
    await page.waitForURL(`${url}/account`);
    await page.goto(link);
    expect(await page.textContent('main')).toContain('127.0.0.1');
    await page.click('button:has-text("Sign in there")');
    await page.fill('input[name=name]', name);
    await page.click('button');
    await page.waitForSelector('text=Connected');
    expect(page.url()).toBe(link);
    expect(page.complaints).toEqual([]);
  }

  for (const { name, client, talk, waiting } of people) {
    const conversationId = waiting.conversationId!;
    const read = () => client.call('read_conversation', { conversationId });
    await expect.poll(async () => (await read()).conversationState, { timeout: 20_000 }).toBe('READY');
    expect(JSON.stringify((await read()).conversationOutputs)).toContain(`The notes of ${name}.`);
    // Twice, so that both nodes have made calls as them.
    for (let time = 0; time < 2; time += 1)
      expect((await talk(conversationId)).agentResponse).toContain(`The notes of ${name}.`);
  }
}, 120_000);
