import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@patchbay/contract/client';
import { startPatchbay } from '@patchbay/server/main';
import { TOGETHER } from '../measure.ts';
import { AGENT_FILE } from '../two-rules.ts';

const door = process.argv[2];
const home = await mkdtemp(join(tmpdir(), 'patchbay-bench-'));
const platform = await startPatchbay({
  env: {
    PATCHBAY_DATA_DIR: home,
    PATCHBAY_PORT: '0',
    PATCHBAY_AGENT_DOOR_RATE: '0',
    PATCHBAY_DATABASE_URL: process.env.BENCH_DATABASE_URL || undefined,
  },
  home,
  cwd: home,
  logTo: { write: () => {} },
  interactive: false,
});
process.once('SIGTERM', async () => {
  await platform.stop();
  await rm(home, { recursive: true, force: true });
  process.exit(0);
});

const owner = JSON.parse(await readFile(join(home, 'local-owner'), 'utf8'));
const client = createClient({ baseUrl: platform.url, token: owner.token, fetch });
const { key } = await client.call('create_key', { scopes: ['agents', 'operator'] });
const headers = { Authorization: `Bearer ${key}` };

if (door === 'operator') process.send?.({ url: platform.operatorUrl, headers });
else {
  const { agentId } = await client.call('deploy_agent_file', { file: AGENT_FILE });
  const starting = Array.from({ length: TOGETHER }, () => client.call('create_conversation', { agentId }));
  const conversations = (await Promise.all(starting)).map(({ conversationId }) => conversationId);
  process.send?.({ url: platform.agentUrl(agentId), headers, conversations });
}
