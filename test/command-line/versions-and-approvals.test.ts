import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient } from '@patchbay/contract/client';
import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { createTestIo } from '../../packages/cli/src/testing/test-io.ts';
import { answeringAgent } from '../rest/rest-client.ts';

let platform: TestPlatform;
let client: ReturnType<typeof createClient>;

async function patchbay(...args: readonly string[]) {
  const io = createTestIo({
    home: platform.dataDir,
    env: { PATCHBAY_URL: platform.url, PATCHBAY_KEY: platform.operatorKey },
  });
  const exitCode = await io.run(...args);
  return { exitCode, out: io.out(), err: io.err() };
}

const deploy = (id: string, text: string) =>
  client.call('deploy_agent_file', { file: answeringAgent(id, text) });

beforeAll(async () => {
  platform = await startTestPlatform();
  client = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
});
afterAll(() => platform?.close());

describe('versions of an agent on the command line', () => {
  it('are deployed by number, shown where they run, and undeployed', async () => {
    await deploy('clerk', 'One.');
    await deploy('clerk', 'Two.');
    expect(
      await patchbay('agents', 'deploy', 'clerk', '--agent-version', '1', '--environment', 'test'),
    ).toEqual({
      exitCode: 0,
      out: 'clerk version 1: READY in test\n',
      err: '',
    });
    await patchbay('agents', 'deploy', 'clerk', '--agent-version', '1');
    expect((await patchbay('agents', 'versions', 'clerk')).out).toBe(
      ['VERSION     PRODUCTION  TEST', '2 (latest)  READY       -', '1           READY       READY', ''].join(
        '\n',
      ),
    );
    expect(JSON.parse((await patchbay('agents', 'versions', 'clerk', '--json')).out)).toMatchObject({
      latest: 2,
      running: [
        { environment: 'production', version: 2, status: 'READY' },
        { environment: 'production', version: 1 },
        { environment: 'test', version: 1 },
      ],
    });

    const { conversationId } = await client.call('create_conversation', { agentId: 'clerk' });
    const refused = await patchbay('agents', 'undeploy', 'clerk');
    expect(refused).toMatchObject({ exitCode: 1, out: 'clerk version 1 left production.\n' });
    expect(refused.err).toContain('Conversations run with version 2 of clerk');
    const ended = await patchbay(
      'agents',
      'undeploy',
      'clerk',
      '--agent-version',
      '2',
      '--end-conversations',
      '--json',
    );
    expect(JSON.parse(ended.out)).toMatchObject({ undeployed: [{ version: 2, endedConversations: true }] });
    expect(await client.call('read_conversation', { conversationId })).toMatchObject({
      conversationState: 'ENDED',
    });
    expect(await patchbay('agents', 'undeploy', 'clerk')).toMatchObject({
      exitCode: 1,
      err: 'patchbay: clerk does not run in production.\n',
    });
    expect((await patchbay('agents', 'undeploy', 'clerk', '--environment', 'test')).exitCode).toBe(0);
  });

  it('take a file where there is one of that name, and refuse what does not go together', async () => {
    await writeFile(join(platform.dataDir, 'letters'), stringify(answeringAgent('letters', 'Hello.')));
    expect((await patchbay('agents', 'deploy', 'letters')).out).toContain('letters version 1: READY');
    const mixed = await patchbay('agents', 'deploy', 'letters', '--environment', 'test');
    expect(mixed).toMatchObject({ exitCode: 2, out: '' });
    expect((await patchbay('agents', 'deploy', 'nobody')).err).toContain('Agent "nobody" not found');
    expect((await patchbay('agents', 'deploy', 'letters', '--environment', 'moon')).exitCode).toBe(2);
    await client.call('update_document', {
      type: 'agent',
      id: 'letters',
      version: 1,
      body: { workflows: ['patchbay://workflow/nowhere?version=1'] },
    });
    const holes = await patchbay('agents', 'deploy', 'demo', '--agent-version', '99');
    expect(holes.exitCode).toBe(1);
  });

  it('are compared in everything they are made of', async () => {
    await deploy('author', 'One.');
    await deploy('author', 'Two.');
    const { exitCode, out } = await patchbay('agents', 'diff', 'author');
    expect(exitCode).toBe(0);
    expect(out).toContain('workflow author: version 1 -> version 2\n');
    expect(out).toContain('output author: version 1 -> version 2\n');
    expect(out).toMatch(/- +text: One\.\n *\+ +text: Two\.\n/);
    expect(out).not.toContain('rules author');
    expect((await patchbay('agents', 'diff', 'author', '1', '2', '--exit-code')).exitCode).toBe(1);
    expect((await patchbay('agents', 'diff', 'author', '2', '2', '--exit-code')).out).toBe(
      'Versions 2 and 2 of author are the same.\n',
    );
    const backwards = await patchbay('agents', 'diff', 'author', '2', '1', '--json');
    expect(JSON.parse(backwards.out)).toMatchObject({ from: 2, to: 1, changes: expect.any(Array) });
    expect((await patchbay('agents', 'diff', 'demo')).err).toBe('patchbay: demo has one version only.\n');
    expect((await patchbay('agents', 'diff', 'author', 'first')).exitCode).toBe(2);
  });
});

describe('references on the command line', () => {
  const forms = [
    'patchbay://agent/envoy?version=1',
    'eddi://ai.labs.agent/agentstore/agents/envoy?version=1',
    'eddi://ai.labs.bot/botstore/bots/envoy?version=1',
  ];
  beforeAll(async () => {
    await deploy('envoy', 'One.');
    await deploy('envoy', 'Two.');
  });

  it.each(forms)('name an agent and its version as %s', async uri => {
    expect(JSON.parse((await patchbay('agents', 'show', uri)).out)).toMatchObject({
      agentId: 'envoy',
      version: 1,
    });
    expect((await patchbay('agents', 'deploy', uri, '--environment', 'test')).out).toBe(
      'envoy version 1: READY in test\n',
    );
    expect((await patchbay('agents', 'versions', uri)).out).toContain('2 (latest)');
    expect((await patchbay('agents', 'diff', uri)).out).toContain('output envoy: version 1 -> version 2');
    expect(JSON.parse((await patchbay('export', uri, '--json')).out)).toMatchObject({
      agent: 'envoy',
      version: 1,
    });
    expect((await patchbay('agents', 'lint', uri)).out).toBe('envoy: nothing found\n');
    expect((await patchbay('chat', uri, '--message', 'hello')).out).toBe('Two.\n');
    expect((await patchbay('agents', 'undeploy', uri, '--environment', 'test')).out).toBe(
      'envoy version 1 left test.\n',
    );
  });

  it('name a conversation by its address', async () => {
    const { conversationId, conversationUri } = await client.call('create_conversation', {
      agentId: 'envoy',
    });
    const said = await patchbay(
      'chat',
      'envoy',
      '--conversation',
      conversationUri,
      '--message',
      'hi',
      '--json',
    );
    expect(JSON.parse(said.out)).toMatchObject({ conversationId });
    expect((await patchbay('approvals', 'show', conversationUri)).out).toContain(
      `${conversationId} waits for nobody`,
    );
  });

  it('stand in what is imported in any form, steps too, and are kept in ours', async () => {
    const { out } = await patchbay('export', 'envoy', '--json');
    const text = out
      .replaceAll('envoy', 'legate')
      .replaceAll('patchbay://workflow/', 'eddi://ai.labs.workflow/workflowstore/workflows/')
      .replaceAll('patchbay://output/', 'eddi://ai.labs.output/outputstore/outputsets/')
      .replaceAll('"type": "templating"', '"type": "eddi://ai.labs.templating"');
    await writeFile(join(platform.dataDir, 'legate.json'), text);
    expect((await patchbay('import', 'legate.json', '--deploy')).exitCode).toBe(0);
    const imported = JSON.stringify(await client.call('export_agent', { agentId: 'legate' }));
    expect(imported).not.toContain('eddi:');
    expect((await patchbay('chat', 'legate', '--message', 'hello')).out).toBe('Two.\n');
  });
});

describe('approvals on the command line', () => {
  const ask = async () =>
    (await client.call('chat_with_agent', { agentId: 'demo', message: 'ask a person' })).conversationId!;
  const settled = (conversationId: string) =>
    expect
      .poll(async () => (await client.call('read_conversation', { conversationId })).conversationState)
      .not.toMatch('AWAITING_HUMAN|IN_PROGRESS');

  it('are listed and shown with what it is about', async () => {
    expect((await patchbay('approvals', 'list')).err).toBe('Nothing waits for an approval.\n');
    const conversationId = await ask();
    const { out } = await patchbay('approvals', 'list');
    expect(out).toMatch(/^CONVERSATION +AGENT +SINCE \(UTC\) +THEN +REASON\n/);
    expect(out).toContain(`${conversationId}  demo   20`);
    const shown = await patchbay('approvals', 'show', conversationId);
    expect(shown.out).toMatch(/^was asked +ask a person$/m);
    expect(shown.out).toMatch(/^pause +pause_\w+$/m);
    expect(JSON.parse((await patchbay('approvals', 'show', conversationId, '--json')).out)).toMatchObject({
      state: 'AWAITING_HUMAN',
    });
    await patchbay('approvals', 'cancel', conversationId);
  });

  it('are given, refused and cancelled, each once', async () => {
    const approved = await ask();
    expect(await patchbay('approvals', 'approve', approved, '--pause', 'pause_other')).toMatchObject({
      exitCode: 1,
    });
    const { out, exitCode } = await patchbay('approvals', 'approve', approved, '--note', 'Fine.');
    expect({ out, exitCode }).toEqual({ exitCode: 0, out: `APPROVED ${approved}.\n` });
    await settled(approved);
    expect((await patchbay('approvals', 'approve', approved)).exitCode).toBe(1);
    expect((await patchbay('approvals', 'show', approved)).out).toBe(
      `${approved} waits for nobody; it is READY.\n`,
    );

    const rejected = await ask();
    expect((await patchbay('approvals', 'reject', rejected, '--note', 'Not now.')).out).toBe(
      `REJECTED ${rejected}.\n`,
    );
    await settled(rejected);
    expect((await client.call('read_conversation_log', { conversationId: rejected })).log).toContain(
      'Not now.',
    );

    const cancelled = await ask();
    expect((await patchbay('approvals', 'cancel', cancelled)).out).toBe(`Cancelled ${cancelled}.\n`);
    expect(await client.call('read_conversation', { conversationId: cancelled })).not.toMatchObject({
      conversationState: 'AWAITING_HUMAN',
    });
    expect((await patchbay('approvals', 'show', 'conv_none')).exitCode).toBe(1);
  });
});
