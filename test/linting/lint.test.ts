// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${vault:key} are the product's own syntax
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@patchbay/contract/client';
import { lintAgentFile } from '@patchbay/server/lint';
import type { TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { createTestIo } from '../../packages/cli/src/testing/test-io.ts';
import { DEMO_AGENT_FILE } from '../../packages/server/src/agents/demo/demo-agent.ts';
import { platforms } from '../doors/platforms.ts';
import { answeringAgent } from '../rest/rest-client.ts';

const EXAMPLES = new URL('../../examples/', import.meta.url);

/** Something is wrong in every part of it. */
const careless = {
  ...answeringAgent('careless', 'Look at ${vars:nowhere}.'),
  dictionary: { words: [{ word: 'tea', expressions: 'drink(tea)' }] },
  rules: {
    behaviorGroups: [
      {
        name: 'all',
        rules: [
          { name: 'first', actions: ['answer'] },
          { name: 'late', actions: ['other'] },
        ],
      },
    ],
  },
};

describe.each(platforms)('linting on $kind', ({ start }) => {
  let platform: TestPlatform;
  let client: ReturnType<typeof createClient>;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'patchbay-lint-'));
    platform = await start({ env: { PATCHBAY_VAULT_KEY: randomBytes(32).toString('hex') } });
    client = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
  });
  afterAll(async () => {
    await platform?.close();
    await rm(folder, { recursive: true });
  });

  async function patchbay(args: readonly string[], { offline = false, input = '' } = {}) {
    const env = offline ? {} : { PATCHBAY_URL: platform.url, PATCHBAY_KEY: platform.operatorKey };
    const io = createTestIo({ home: folder, env, lintAgentFile });
    io.stdin.end(input);
    const exitCode = await io.run(...args);
    return { exitCode, out: io.out(), err: io.err() };
  }

  it('says the same of a file and of the agent that was deployed from it', async () => {
    const ofFile = await client.call('lint_agent', { file: careless });
    await client.call('deploy_agent_file', { file: careless });
    expect(await client.call('lint_agent', { agentId: 'careless' })).toEqual(ofFile);
    expect(ofFile).toMatchObject({ agentId: 'careless', errors: 0, warnings: 4 });
    expect(ofFile.findings.map(({ code }) => code)).toEqual([
      'dead-rule',
      'unheard-action',
      'unasked-word',
      'unknown-variable',
    ]);
  });

  it('says which registered MCP servers of an agent are not there', async () => {
    const file = (mcpServerUrl: string) => ({
      ...answeringAgent('reader', 'Done.'),
      mcpcalls: { mcpServerUrl, mcpCalls: [{ name: 'read', actions: ['answer'], toolName: 'read' }] },
    });
    const found = async (url: string) => (await client.call('lint_agent', { file: file(url) })).findings;
    expect(await found('patchbay:servers/nowhere')).toEqual([
      {
        severity: 'warning',
        code: 'unknown-server',
        place: 'mcpcalls reader',
        says: 'There is no MCP server default/nowhere on this platform, so its calls come to nothing.',
        mend: 'Add it: npx patchbay servers add nowhere, with its command or address.',
      },
    ]);
    expect(await found('patchbay:servers/sales/crm')).toMatchObject([
      { mend: expect.stringContaining('servers add crm --instance sales') },
    ]);
    expect(await found('https://mcp.example.org/mcp')).toEqual([]);
    const llm = { model: 'ollama', mcpServers: ['nowhere', 'sales/crm'] };
    const { findings } = await client.call('lint_agent', { file: { agent: 'asker', name: 'Asker', llm } });
    expect(findings.map(({ code, place, says }) => `${code} | ${place} | ${says}`)).toEqual(
      ['default/nowhere', 'sales/crm'].map(
        name =>
          `unknown-server | llm asker, task "main" | There is no MCP server ${name} on this platform, so the model has none of its tools.`,
      ),
    );
    await client.call('add_server', { name: 'nowhere', options: { command: 'npx' } });
    // Another node hears of it within a moment.
    await expect.poll(async () => (await found('patchbay:servers/nowhere')).length).toBe(0);
    await client.call('remove_server', { name: 'nowhere' });
  });

  it('finds nothing in the agents people are shown', async () => {
    for (const [name, url] of [
      ['service-desk', 'http://127.0.0.1:7099'],
      ['librarian', 'http://127.0.0.1:7070/mcp'],
    ] as const) {
      await client.call('put_secret', { name: `${name}-key`, value: 'not a real key' });
      await client.call('put_variable', { name: `${name}-url`, value: url });
    }
    const files = (await readdir(EXAMPLES)).filter(name => name.endsWith('.yaml'));
    expect(files).toContain('hello.yaml');
    for (const name of files) {
      const file = parse(await readFile(new URL(name, EXAMPLES), 'utf8'));
      // Another node hears of a new variable within a moment.
      await expect
        .poll(async () => (await client.call('lint_agent', { file })).findings, { message: name })
        .toEqual([]);
    }
    expect(await client.call('lint_agent', { file: DEMO_AGENT_FILE })).toMatchObject({ findings: [] });
    expect(await client.call('lint_agent', { agentId: 'demo' })).toMatchObject({ errors: 0, findings: [] });
  });

  it('finds references to nothing, and goes on looking', async () => {
    await client.call('deploy_agent_file', { file: answeringAgent('holes', 'Here.') });
    const step = (type: string, uri: string) => ({ type, config: { uri } });
    await client.call('update_document', {
      type: 'workflow',
      id: 'holes',
      version: 1,
      body: {
        workflowSteps: [
          step('rules', 'patchbay://rules/holes?version=1'),
          step('output', 'eddi://ai.labs.output/outputstore/outputsets/holes?version=7'),
        ],
      },
    });
    const workflows = ['patchbay://workflow/holes?version=2', 'patchbay://workflow/nowhere?version=1'];
    await client.call('update_document', { type: 'agent', id: 'holes', version: 1, body: { workflows } });
    const { findings, errors } = await client.call('lint_agent', { agentId: 'holes' });
    expect(errors).toBe(2);
    expect(findings.map(({ code, place, says }) => `${code} | ${place} | ${says}`)).toEqual([
      'unknown-reference | workflow holes, step 2 (output) | patchbay://output/holes?version=7 is not there.',
      'unknown-reference | agent holes | patchbay://workflow/nowhere?version=1 is not there.',
      'unheard-action | rules holes, group "always", rule "answer" | It raises "answer", and nothing after it hears that.',
    ]);
    // As it was before it is fine.
    expect(await client.call('lint_agent', { agentId: 'holes', version: 1 })).toMatchObject({ findings: [] });
  });

  it('is for those whose agent it is, and wants one of the two', async () => {
    const editor = await platform.addPerson(['patchbay-editor']);
    const theirs = createClient({ baseUrl: platform.url, token: editor.key, fetch });
    await expect(theirs.call('lint_agent', { agentId: 'demo' })).rejects.toThrow('not found');
    await expect(client.call('lint_agent', {})).rejects.toThrow('give one of the two');
    await expect(client.call('lint_agent', { agentId: 'demo', file: careless })).rejects.toThrow(
      'one of the two',
    );
  });

  it('is a command that fails on errors, and with --strict on warnings', async () => {
    await writeFile(join(folder, 'careless.yaml'), stringify(careless));
    const plain = await patchbay(['agents', 'lint', 'careless.yaml']);
    expect(plain.exitCode).toBe(0);
    expect(plain.out).toContain(
      'warning dead-rule: rules careless, group "all", rule "late"\n  It never fires: "first" before it has no conditions and always wins.\n  Move it in front of "first", or remove it.\n',
    );
    expect(plain.out).toContain('careless: 0 errors, 4 warnings\n');
    const strict = await patchbay(['agents', 'lint', 'careless.yaml', '--strict', '--json']);
    expect(strict.exitCode).toBe(1);
    expect(JSON.parse(strict.out)).toMatchObject({ errors: 0, warnings: 4 });
    expect(strict.err).toBe('patchbay: careless.yaml: 0 errors, 4 warnings.\n');
    expect((await patchbay(['agents', 'lint', 'holes'])).exitCode).toBe(1);
    expect(await patchbay(['agents', 'lint', 'demo', '--strict'])).toMatchObject({
      exitCode: 0,
      out: 'demo: nothing found\n',
    });
    expect((await patchbay(['agents', 'lint', 'nobody'])).err).toContain('Agent "nobody" not found');
  });

  it('looks at a file also where no platform runs, but not for secrets and variables', async () => {
    const { exitCode, out, err } = await patchbay(['agents', 'lint', '-'], {
      offline: true,
      input: stringify(careless),
    });
    expect({ exitCode, err }).toEqual({
      exitCode: 0,
      err: 'No platform runs here: secrets and variables were not looked for.\n',
    });
    expect(out).toContain('careless: 0 errors, 3 warnings\n');
    const wrong = await patchbay(['agents', 'lint', '-'], { offline: true, input: 'agent: careless' });
    expect(wrong).toMatchObject({ exitCode: 1, out: '' });
    expect(wrong.err).toContain('agent file: field "name"');
    expect((await patchbay(['agents', 'lint', 'demo'], { offline: true })).exitCode).toBe(4);
  });
});
