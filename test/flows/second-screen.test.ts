import { readFile } from 'node:fs/promises';
import { lintAgentFile, modelNeeds } from '@patchbay/server/lint';
import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { type ScriptedModel, startScriptedModel } from '@patchbay/testing/scripted-model';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestIo, type TestIo } from '../../packages/cli/src/testing/test-io.ts';
import { npmServer } from '../connections/servers/npm-server.ts';

const README = new URL('../../README.md', import.meta.url);
const NOTE = { name: 'me', entityType: 'person', observations: ['likes tea'] };

/** What a terminal shows in the end, without what moves its cursor. */
const shown = (io: TestIo) =>
  io
    .out()
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
    .replaceAll(/\u001b\[[0-9;]*[A-Za-z]/g, '')
    .replaceAll('\r', '');

describe('the second screen of the README', () => {
  let platform: TestPlatform;
  let model: ScriptedModel;
  beforeAll(async () => {
    model = await startScriptedModel();
    platform = await startTestPlatform({ env: { PATCHBAY_EGRESS_PRIVATE_HOSTS: '127.0.0.1' } });
    await platform.platform.registry.add({
      ...{ instance: 'default', name: 'notes', replace: false, by: 'test' },
      options: { command: process.execPath, args: [npmServer('memory')] },
    });
  });
  afterAll(async () => {
    await platform?.close();
    await model?.[Symbol.asyncDispose]();
  });

  const terminal = (isTerminal: boolean) =>
    createTestIo({
      ...{ home: platform.dataDir, terminal: isTerminal, lintAgentFile, modelNeeds },
      env: { PATCHBAY_URL: platform.url, PATCHBAY_KEY: platform.operatorKey },
    });
  async function patchbay(...line: string[]): Promise<void> {
    const io = terminal(false);
    expect(await io.run(...line), io.err()).toBe(0);
  }

  it('is what a terminal shows: the call that waits, a yes, and the end of the answer', async () => {
    const own = ['--model', 'openai-compatible:any', '--base-url', model.baseUrl('chat-completions')];
    const options = ['--id', 'helper', '--mcp-server', 'notes', '--mcp', '--yes'];
    await patchbay('agents', 'new', 'helper.yaml', ...own, ...options);
    await patchbay('agents', 'deploy', 'helper.yaml');
    model.play([
      { calls: [{ name: 'notes__create_entities', input: { entities: [NOTE] } }] },
      { text: 'I have noted that.' },
    ]);
    const io = terminal(true);
    const ended = io.run('chat', 'helper');
    await expect.poll(() => io.out(), { timeout: 20_000 }).toContain('you> ');
    io.stdin.write('Note that I like tea.\r');
    await expect.poll(() => io.out(), { timeout: 20_000 }).toContain('Allow this call? [y/N]');
    io.stdin.write('y\r');
    await expect.poll(() => io.out(), { timeout: 20_000 }).toContain('I have noted that.');
    io.stdin.write('\u0004');
    expect(await ended).toBe(0);

    const [screen] = /^you> [\s\S]*?^I have noted that\.$/m.exec(await readFile(README, 'utf8'))!;
    expect(shown(io)).toContain(screen);
  });
});
