import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createClient, type Client as RestClient } from '@patchbay/contract/client';
import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { type ScriptedModel, startScriptedModel } from '@patchbay/testing/scripted-model';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createTestIo } from '../../packages/cli/src/testing/test-io.ts';
import { npmServer } from '../connections/servers/npm-server.ts';
import { type Answered, CLIENTS, type Stock } from '../elicitation/stock-clients.ts';

// The story of the README's second screen: the servers a person has already, an agent with a language model that uses them, and the person who
// approves what has an effect. The model is scripted and speaks as Anthropic does; everything else is real.

const TURN = { timeout: 20_000 };

describe('an agent with a language model, and one person in the loop', () => {
  let folder: string;
  let shelf: string;
  let platform: TestPlatform;
  let model: ScriptedModel;
  let rest: RestClient;
  let operator: Client;
  let agentId: string;
  const opened: Stock[] = [];
  let noted = 0;

  beforeAll(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'patchbay-story-')));
    shelf = join(folder, 'shelf');
    await mkdir(shelf);
    await writeFile(join(shelf, 'tea.txt'), 'Two boxes of green tea.');
    model = await startScriptedModel();
    platform = await startTestPlatform({ env: { PATCHBAY_EGRESS_PRIVATE_HOSTS: '127.0.0.1' } });
    rest = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
    operator = new Client({ name: 'a host', version: '1.0.0' });
    const headers = { Authorization: `Bearer ${platform.operatorKey}` };
    await operator.connect(
      new StreamableHTTPClientTransport(new URL(platform.operatorUrl), { requestInit: { headers } }),
    );
  });
  afterEach(async () => {
    for (const client of opened.splice(0)) await client.close();
  });
  afterAll(async () => {
    await operator?.close();
    await platform?.close();
    await model?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });

  // biome-ignore lint/suspicious/noExplicitAny: an answer may be anything, tests look into it
  async function operate(name: string, args: object, pieces: string[] = []): Promise<any> {
    const { isError, structuredContent, content } = await operator.callTool(
      { name, arguments: { ...args } },
      { ...TURN, onprogress: ({ message }) => pieces.push(message ?? '') },
    );
    expect(isError, JSON.stringify(content)).toBeUndefined();
    return structuredContent;
  }

  /** The model wants to write a file, and says something before and after. */
  function wantsToWrite(name: string, content: string): void {
    model.play([
      {
        text: ['I will ', 'note that.'],
        calls: [{ name: 'shelf__write_file', input: { path: join(shelf, name), content } }],
      },
      { text: ['It is ', 'settled.'] },
    ]);
  }
  const onShelf = (name: string) => readFile(join(shelf, name), 'utf8').catch(() => undefined);
  const toldOf = () => JSON.stringify(model.requests.at(-1)!.messages.at(-1));

  it('takes over the servers that a person has, from the file of another host', async () => {
    const shelfServer = { command: process.execPath, args: [npmServer('filesystem'), shelf] };
    await writeFile(join(folder, '.mcp.json'), JSON.stringify({ mcpServers: { shelf: shelfServer } }));
    // Adding a program is for whoever has the machine.
    const env = { PATCHBAY_URL: platform.url, PATCHBAY_KEY: platform.ownerToken };
    const io = createTestIo({ home: folder, env });
    expect(await io.run('servers', 'import', '.mcp.json', '--yes'), io.err()).toBe(0);
    expect(io.out()).toContain('Added shelf.');
    await expect
      .poll(async () => (await rest.call('read_server', { name: 'shelf' })).state, TURN)
      .toBe('available');
  });

  it('makes the agent in one call', async () => {
    const made = await operate('setup_agent', {
      agentName: 'Shopkeeper',
      systemPrompt: 'You keep the shelf.',
      apiKey: 'not-a-real-key',
      baseUrl: model.baseUrl('anthropic'),
      mcpServerUrls: 'patchbay:servers/shelf',
      introMessage: 'Good morning!',
    });
    expect(made).toMatchObject({
      ...{ deployed: true, provider: 'anthropic', model: 'claude-sonnet-4-6' },
      apiKeyVaultReference: expect.stringMatching(/^\$\{vault:setup\.Shopkeeper\./),
    });
    expect(JSON.stringify(made)).not.toContain('not-a-real-key');
    agentId = made.agentId;
    await rest.call('change_own_agent', { agentId, mcp_enabled: true });
  });

  it('answers at the operator door with what a tool says, word by word', async () => {
    model.play([
      { calls: [{ name: 'shelf__read_text_file', input: { path: join(shelf, 'tea.txt') } }] },
      { text: ['There are ', 'two boxes.'] },
    ]);
    const pieces: string[] = [];
    const answer = await operate('chat_with_agent', { agentId, message: 'Is there tea?' }, pieces);
    expect(pieces).toEqual(['There are ', 'two boxes.']);
    expect(answer.agentResponse).toBe('There are two boxes.');
    expect(toldOf()).toContain('Two boxes of green tea.');
    expect(model.requests[0]).toMatchObject({ system: 'You keep the shelf.', key: 'not-a-real-key' });
  });

  it('waits at the operator door before it does something, and does it once when a person says yes', async () => {
    wantsToWrite('operator.txt', 'Buy milk.');
    const waiting = await operate('chat_with_agent', { agentId, message: 'Note: buy milk.' });
    expect(waiting).toMatchObject({ status: 'PAUSED_FOR_APPROVAL', suggestNextTool: expect.any(String) });
    expect(await onShelf('operator.txt')).toBeUndefined();
    const { conversationId } = waiting;
    const status = await operate('get_approval_status', { conversationId, detail: 'full' });
    expect(JSON.stringify(status)).toContain('Buy milk.');

    await operate('resume_conversation', { conversationId, verdict: 'APPROVED' });
    await expect
      .poll(async () => (await operate('read_conversation', { conversationId })).conversationState, TURN)
      .toBe('READY');
    expect(await onShelf('operator.txt')).toBe('Buy milk.');
    const { log } = await rest.call('read_conversation_log', { conversationId });
    expect(log).toContain('It is settled.');
  });

  it.each(CLIENTS)('asks in the midst of a call at the agent door: by $client', async ({ open }) => {
    const answers: Answered[] = [
      { action: 'accept', content: { decision: 'approve' } },
      { action: 'accept', content: { decision: 'reject', note: 'Not today' } },
    ];
    const asked: string[] = [];
    const client = await open(platform.agentUrl(agentId), platform.operatorKey, ({ message }) => {
      asked.push(message);
      return answers.shift()!;
    });
    opened.push(client);

    noted += 1;
    const approved = `yes-${noted}.txt`;
    wantsToWrite(approved, 'Water the plants.');
    const pieces: string[] = [];
    const { content, structuredContent } = await client.call({ message: 'Note it.' }, piece =>
      pieces.push(piece),
    );
    expect(content[0].text).toBe('I will note that.\nIt is settled.');
    expect(pieces.filter(piece => !piece.startsWith('Fulfilling')).join('')).toBe(
      'I will note that.It is settled.',
    );
    expect(asked[0]).toContain(JSON.stringify({ path: join(shelf, approved), content: 'Water the plants.' }));
    expect(await onShelf(approved)).toBe('Water the plants.');

    wantsToWrite('no.txt', 'Something else.');
    await client.call({ message: 'Note more.', context_id: structuredContent.context_id });
    expect(await onShelf('no.txt')).toBeUndefined();
    expect(toldOf()).toContain('Not today');
  });

  it('leaves the shelf as people have approved it, and a trail of who did', async () => {
    expect((await readdir(shelf)).filter(name => !name.startsWith('yes-'))).toEqual([
      'operator.txt',
      'tea.txt',
    ]);
    expect((await readdir(shelf)).filter(name => name.startsWith('yes-'))).toHaveLength(CLIENTS.length);
    const { events } = await rest.call('list_audit_events', { limit: 100 });
    const setUp = events.find(({ operation }) => operation === 'setup_agent');
    expect(setUp).toMatchObject({ outcome: 'done', subject: { agentId } });
    expect(JSON.stringify(events)).not.toMatch(/not-a-real-key|You keep the shelf/);
  });
});
