// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${vault:key} are the product's own syntax
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@patchbay/contract/client';
import { lintAgentFile, modelNeeds } from '@patchbay/server/lint';
import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { type ScriptedModel, startScriptedModel } from '@patchbay/testing/scripted-model';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createTestIo } from '../../packages/cli/src/testing/test-io.ts';

let platform: TestPlatform;
let client: ReturnType<typeof createClient>;
let model: ScriptedModel;
let folder: string;

async function patchbay(
  args: readonly string[],
  { input, terminal = false }: { input?: string; terminal?: boolean } = {},
) {
  const io = createTestIo({
    home: folder,
    terminal,
    env: { PATCHBAY_URL: platform.url, PATCHBAY_KEY: platform.operatorKey },
    lintAgentFile,
    modelNeeds,
  });
  if (input !== undefined) io.stdin.end(input);
  const exitCode = await io.run(...args);
  return { exitCode, out: io.out(), err: io.err() };
}

/** Lints, deploys and talks. */
async function use(file: string, agentId: string, ...messages: readonly string[]) {
  expect((await patchbay(['agents', 'lint', file, '--strict'])).out).toContain('nothing found');
  expect((await patchbay(['agents', 'deploy', file])).exitCode).toBe(0);
  const { conversationId } = await client.call('create_conversation', { agentId });
  const answers: (string | undefined)[] = [];
  for (const message of messages) {
    const answer = await client.call('talk_to_agent', { agentId, conversationId, message });
    answers.push(answer.status ?? answer.agentResponse);
  }
  return answers;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'patchbay-new-'));
  model = await startScriptedModel();
  platform = await startTestPlatform({
    env: {
      PATCHBAY_VAULT_KEY: randomBytes(32).toString('hex'),
      PATCHBAY_EGRESS_PRIVATE_HOSTS: '127.0.0.1',
    },
  });
  client = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
  for (const name of ['crm-key', 'openai'])
    await client.call('put_secret', { name, value: 'not a real key' });
  await client.call('add_server', {
    name: 'shelves',
    options: { url: platform.operatorUrl, headers: { authorization: `Bearer ${platform.ownerToken}` } },
    wait: true,
  });
});
afterAll(async () => {
  await platform?.close();
  await model?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

describe('agents new by options', () => {
  it('writes an agent that answers', async () => {
    const args = ['--kind', 'answer', '--id', 'shop', '--yes', '--mcp'];
    const { exitCode, out, err } = await patchbay([
      ...['agents', 'new', ...args],
      ...[
        '--question',
        'hours, when are you open=From 9 to 18.',
        '--question',
        'place,hours=12 "Station" Road: 2nd floor',
      ],
    ]);
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' });
    expect(out).toContain('Wrote shop.yaml.\n');
    expect(parse(await readFile(join(folder, 'shop.yaml'), 'utf8'))).toMatchObject({
      agent: 'shop',
      name: 'Shop',
      mcp_enabled: true,
    });
    expect(await use('shop.yaml', 'shop', 'When are you open?', 'plaec', 'what?')).toEqual([
      'From 9 to 18.',
      '12 "Station" Road: 2nd floor',
      'I know about: hours, place.',
    ]);
  });

  it('writes an agent with a form', async () => {
    const fields = ['--field', 'day=Which day?', '--field', 'people=How many are you?'];
    await patchbay(['agents', 'new', 'table.yaml', '--kind', 'form', '--id', 'table', '--yes', ...fields]);
    expect(await use('table.yaml', 'table', 'Monday', 'four', 'no', 'Tuesday', 'five', 'yes')).toEqual([
      'How many are you?',
      'day: Monday, people: four. Is that right?',
      'Which day?',
      'How many are you?',
      'day: Tuesday, people: five. Is that right?',
      'Thank you, that is noted.',
    ]);
  });

  it('writes an agent that calls an API, and waits before it writes', async () => {
    const args = [
      '--kind',
      'api',
      '--id',
      'crm',
      '--yes',
      '--server',
      'https://crm.example.com',
      '--secret',
      'crm-key',
    ];
    const { out } = await patchbay(['agents', 'new', 'crm.yaml', ...args, '--read-path', '/people']);
    expect(out).toContain('npx patchbay secrets set crm-key\n');
    const { httpcalls } = parse(await readFile(join(folder, 'crm.yaml'), 'utf8'));
    expect(httpcalls).toMatchObject({
      targetServerUrl: 'https://crm.example.com',
      httpCalls: [
        { request: { path: '/people/{{ properties.wanted }}' } },
        { request: { method: 'POST', path: '/people' } },
      ],
    });
    expect(await use('crm.yaml', 'crm', 'add', 'Ada Lovelace')).toEqual([
      'What is to be added?',
      'PAUSED_FOR_APPROVAL',
    ]);
    const open = await patchbay(['agents', 'new', '-', '--kind', 'api', '--yes', '--no-secret']);
    expect(open.out).not.toContain('vault');
  });

  it('writes an agent with a language model, which has the tools of the servers that are named', async () => {
    model.play([{ calls: [{ name: 'shelves__list_docs', input: {} }] }, { text: 'Many books.' }]);
    const { out, exitCode } = await patchbay([
      ...['agents', 'new', '--model', 'openai:gpt-x', '--id', 'reader', '--yes', '--mcp-server', 'shelves'],
      ...['--base-url', model.baseUrl('chat-completions'), '--prompt', 'You know: books.'],
    ]);
    expect({ out, exitCode }).toEqual({
      exitCode: 0,
      out: `Wrote reader.yaml.
  store the key: npx patchbay secrets set openai
  let it be asked: start the platform with PATCHBAY_EGRESS_PRIVATE_HOSTS=127.0.0.1
  look at it:    npx patchbay agents lint reader.yaml
  deploy it:     npx patchbay agents deploy reader.yaml
  talk to it:    npx patchbay chat reader
`,
    });
    expect(parse(await readFile(join(folder, 'reader.yaml'), 'utf8'))).toMatchObject({
      hitlConfig: { timeoutPolicy: 'AUTO_REJECT' },
      llm: { model: 'openai:gpt-x', apiKey: '${vault:openai}', mcpServers: ['shelves'] },
    });
    expect(await use('reader.yaml', 'reader', 'What do you have?')).toEqual(['Many books.']);
    expect(model.requests[0]).toMatchObject({
      model: 'gpt-x',
      system: 'You know: books.',
      key: 'not a real key',
    });
  });

  it('asks for no key where the model needs none, and for an address where nobody knows it', async () => {
    const local = await patchbay(['agents', 'new', '-', '--model', 'ollama:qwen3:8b', '--yes']);
    expect(parse(local.out)).toMatchObject({ agent: 'my-model', llm: { model: 'ollama:qwen3:8b' } });
    expect(local.out).not.toContain('vault');
    expect(local.out).not.toContain('EGRESS');
    const own = await patchbay(['agents', 'new', '-', '--model', 'openai-compatible:any', '--yes']);
    expect(parse(own.out).llm).toMatchObject({ baseUrl: 'http://127.0.0.1:8080/v1' });
    expect(own.out).toContain('PATCHBAY_EGRESS_PRIVATE_HOSTS=127.0.0.1');
    const hosted = await patchbay(['agents', 'new', '-', '--model', 'anthropic', '--yes']);
    expect(parse(hosted.out).llm).toMatchObject({ model: 'anthropic', apiKey: '${vault:anthropic}' });
    expect(hosted.out).not.toContain('EGRESS');
  });

  it('writes over nothing, and refuses what cannot be', async () => {
    const again = await patchbay(['agents', 'new', 'shop.yaml', '--yes']);
    expect(again).toMatchObject({
      exitCode: 1,
      err: 'patchbay: shop.yaml is there already; name another file, or give --force.\n',
    });
    expect((await patchbay(['agents', 'new', 'shop.yaml', '--yes', '--force'])).exitCode).toBe(0);
    for (const args of [
      ['--kind', 'poem'],
      ['--id', 'No Id'],
      ['--kind', 'form', '--field', 'two words=Which?'],
      ['--kind', 'form', '--field', 'a=A?', '--field', 'a=B?'],
      ['--question', 'no answer'],
      ['--question', 'a=1', '--question', 'A=2'],
      ['--kind', 'api', '--server', 'ftp://x'],
      ['--kind', 'api', '--secret', 'no name'],
      ['--model', 'antropic:claude'],
      ['--model', 'jlama'],
      ['--model', 'ollama', '--mcp-server', 'no name'],
      ['--model', 'openai-compatible:x', '--base-url', 'nowhere'],
    ]) {
      const refused = await patchbay(['agents', 'new', '-', '--yes', ...args]);
      expect({ ...refused, err: '' }, args.join(' ')).toEqual({ exitCode: 2, out: '', err: '' });
    }
    const broken = await patchbay(['agents', 'new', '-', '--yes', '--question', 'a={% if %}']);
    expect(broken).toMatchObject({ exitCode: 1, out: '' });
    expect(broken.err).toContain('Nothing was written.');
  });

  it('writes a file that can be deployed, whatever people say', async () => {
    const text = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 30 })
      .filter(value => value.trim() !== '' && !/[={}%]|^-/.test(value));
    const word = text.filter(value => /^[\p{L}\p{N} ]+$/u.test(value));
    await fc.assert(
      fc.asyncProperty(word, text, text, async (words, answer, name) => {
        const args = ['agents', 'new', '-', '--yes', '--name', name, '--question', `${words}=${answer}`];
        const { exitCode, out, err } = await patchbay(args);
        expect(err).toBe('');
        expect(exitCode).toBe(0);
        const file = parse(out);
        expect(file.name).toBe(name);
        const { findings } = await lintAgentFile(file);
        expect(findings).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });
});

describe('agents new by questions', () => {
  it('asks for what no option says, and takes the usual for an empty line', async () => {
    const input = ['form', 'visit', '', 'Plans visits.', 'y', 'day', 'Which day?', '', ''].join('\n');
    const { exitCode, out, err } = await patchbay(['agents', 'new'], { input });
    expect(exitCode).toBe(0);
    expect(out).toContain('Wrote visit.yaml.');
    expect(err).toContain('Kind of agent (answer, form, api, model) [answer]: form\n');
    expect(err).toContain('Name [Visit]: \n');
    expect(parse(await readFile(join(folder, 'visit.yaml'), 'utf8'))).toMatchObject({
      agent: 'visit',
      name: 'Visit',
      description: 'Plans visits.',
      mcp_enabled: true,
    });
    expect(await use('visit.yaml', 'visit', 'Monday')).toEqual(['day: Monday. Is that right?']);
  });

  it('asks for a model and its servers, of which it names those there are', async () => {
    const input = ['model', 'asker', '', '', 'n', 'openai:gpt-x', '', 'You ask.', 'shelves'].join('\n');
    const { out, err } = await patchbay(['agents', 'new', '-'], { input });
    expect(err).toContain('Name of the secret with its key, or none [openai]: \n');
    expect(err).toContain('MCP servers whose tools it may call, by commas (shelves; none) [none]: shelves\n');
    expect(parse(out).llm).toEqual({
      ...{
        model: 'openai:gpt-x',
        apiKey: '${vault:openai}',
        systemMessage: 'You ask.',
        mcpServers: ['shelves'],
      },
    });
  });

  it('asks a person again, and ends for a script', async () => {
    const answers = [
      'poem',
      'api',
      'No Id',
      'tickets',
      '',
      '',
      'maybe',
      'n',
      'nowhere',
      'https://t.example.com',
      '',
      '',
      'none',
    ];
    const person = await patchbay(['agents', 'new', 'tickets.yaml'], {
      input: `${answers.join('\n')}\n`,
      terminal: true,
    });
    expect(person.err).toContain('It must be one of answer, form, api, model.\n');
    expect(person.err).toContain('It must be yes or no.\n');
    expect(person).toMatchObject({ exitCode: 0 });
    expect(await use('tickets.yaml', 'tickets', 'look')).toEqual(['What are you looking for?']);

    const script = await patchbay(['agents', 'new', '-'], { input: 'poem\n' });
    expect(script).toMatchObject({ exitCode: 2, out: '' });
    expect(script.err).toContain(
      "Kind of agent (answer, form, api, model): 'poem' must be one of answer, form, api, model.",
    );
  });

  it('takes what is left as usual when the answers end where there is a usual one', async () => {
    const { exitCode, out } = await patchbay(['agents', 'new', '-'], { input: 'answer\n' });
    expect(exitCode).toBe(0);
    expect(parse(out)).toMatchObject({ agent: 'my-answer' });
  });
});
