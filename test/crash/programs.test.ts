import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPlatformProcess } from '@patchbay/testing/platform-process';
import { expect, it } from 'vitest';
import { systemClock } from '../../packages/server/src/kernel/clock.ts';
import { newPrograms } from '../connections/programs.ts';
import { npmServer } from '../connections/servers/npm-server.ts';

it('a platform that is killed leaves no MCP server running for longer than 5 s, and starts it again (attack 59)', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'patchbay-programs-'));
  const { mark, left } = newPrograms();
  try {
    const platform = await startPlatformProcess({ dataDir });
    // A shell in between, as launchers are: it hears nothing of the end of its own standard input.
    const script = `"${process.execPath}" "${npmServer('everything')}"; true`;
    const added = await platform.client.call('add_server', {
      name: 'everything',
      options: { command: 'sh', args: ['-c', script], env: { PROGRAM_TEST_MARK: mark } },
      wait: true,
    });
    expect(added).toMatchObject({ state: 'available' });
    expect((await left()).length).toBeGreaterThan(1);

    platform.process.kill('SIGKILL');
    await once(platform.process, 'exit');
    const until = Date.now() + 5_000;
    while (Date.now() < until && (await left()).length > 0) await systemClock.sleep(50);
    expect(await left()).toEqual([]);

    const again = await startPlatformProcess({ dataDir });
    const answer = () =>
      again.client.call('call_server_tool', {
        name: 'everything',
        tool: 'echo',
        arguments: { message: 'back' },
      });
    expect(await answer()).toMatchObject({ text: 'Echo: back' });
    again.process.kill('SIGTERM');
    await once(again.process, 'exit');
    expect(await left()).toEqual([]);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}, 60_000);
