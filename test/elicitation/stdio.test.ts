import { join } from 'node:path';
import { Client, type VersionNegotiationMode } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../repository.ts';
import { ASKER, deployAsker, PAID, PAY } from './asking-agent.ts';

describe('a host that speaks only stdio', () => {
  let platform: TestPlatform;
  beforeAll(async () => {
    platform = await startTestPlatform();
    await deployAsker(platform);
  });
  afterAll(() => platform?.close());

  it.each<{ era: string; mode: VersionNegotiationMode }>([
    { era: 'the stateless era', mode: { pin: '2026-07-28' } },
    { era: 'the older eras', mode: 'legacy' },
  ])('asks its person in $era, over `patchbay stdio`', async ({ mode }) => {
    const client = new Client(
      { name: 'host', version: '1.0.0' },
      { versionNegotiation: { mode }, capabilities: { elicitation: { form: {} } } },
    );
    const asked: string[] = [];
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      asked.push(params.message);
      return { action: 'accept', content: { decision: 'approve' } };
    });
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [join(ROOT, 'packages/cli/bin/patchbay.mjs'), 'stdio', ASKER],
        env: { PATCHBAY_DATA_DIR: platform.dataDir },
      }),
    );
    try {
      const result = await client.callTool({ name: ASKER, arguments: PAY }, { timeout: 30_000 });
      expect(asked).toHaveLength(1);
      expect((result.content as { text: string }[])[0]!.text).toBe(PAID);
    } finally {
      await client.close();
    }
  });
});
