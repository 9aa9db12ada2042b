import { createClient } from '@patchbay/contract/client';
import { startTestPlatform } from '@patchbay/testing/platform';
import { expect, it } from 'vitest';

it('the log names a server that is down as people do, and says where it is', async () => {
  const platform = await startTestPlatform();
  try {
    const client = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
    const script = 'console.error("no licence"); process.exit(1)';
    const options = { command: process.execPath, args: ['-e', script] };
    expect(await client.call('add_server', { name: 'billing', options, wait: true })).toMatchObject({
      state: 'unavailable',
    });
    const lines = platform.logLines() as Record<string, unknown>[];
    expect(lines.find(({ message }) => message === 'An MCP server is down')).toMatchObject({
      server: 'default/billing',
      at: process.execPath,
    });
    expect(lines.find(({ line }) => line === 'no licence')).toMatchObject({ server: 'default/billing' });
  } finally {
    await platform.close();
  }
});
