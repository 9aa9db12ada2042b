import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@patchbay/contract/client';
import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { objectText } from '../../packages/cli/src/object-file.ts';
import { createTestIo } from '../../packages/cli/src/testing/test-io.ts';
import { answeringAgent } from '../rest/rest-client.ts';
import { randomAgent } from './random-agent.ts';

let from: TestPlatform;
let to: TestPlatform;
let folder: string;

async function patchbay(platform: TestPlatform, args: readonly string[], input?: string) {
  const io = createTestIo({
    home: folder,
    env: { PATCHBAY_URL: platform.url, PATCHBAY_KEY: platform.operatorKey },
  });
  if (input !== undefined) io.stdin.end(input);
  const exitCode = await io.run(...args);
  return { exitCode, out: io.out(), err: io.err() };
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'patchbay-export-'));
  [from, to] = [await startTestPlatform(), await startTestPlatform()];
  const client = createClient({ baseUrl: from.url, token: from.operatorKey, fetch });
  const text = 'Grüße, {{ context.name }}: $' + '{vars:place} $' + '{vault:key}';
  await client.call('deploy_agent_file', { file: answeringAgent('courier', text) });
  await client.call('put_variable', { name: 'place', value: 'Budapest' });
});
afterAll(async () => {
  await from?.close();
  await to?.close();
  await rm(folder, { recursive: true });
});

describe('patchbay export and import', () => {
  it('carry an agent in one file to a platform that answers the same bytes then', async () => {
    const exported = await patchbay(from, ['export', 'courier', '--file', 'courier.yaml', '--variables']);
    expect(exported).toMatchObject({ exitCode: 0, out: '' });
    expect(exported.err).toContain('It refers to secrets, which stay here: key.');
    const imported = await patchbay(to, ['import', 'courier.yaml', '--variables', '--deploy']);
    expect(imported.exitCode).toBe(0);
    expect(imported.out).toContain('courier version 1: READY\n  saved patchbay://agent/courier?version=1\n');
    expect(imported.out).toContain(
      '  set the variable place\n  the secret key is not here: npx patchbay secrets set key\n',
    );
    const again = await patchbay(to, ['export', 'courier', '--variables']);
    expect(again.out).toBe(await readFile(join(folder, 'courier.yaml'), 'utf8'));
    expect((await patchbay(to, ['import', 'courier.yaml'])).out).toContain('nothing changed');
  });

  it('write a folder with a file for each document, JSON by name, and read standard input', async () => {
    await patchbay(from, ['export', 'courier', '--folder', 'parts']);
    expect((await readdir(join(folder, 'parts'))).toSorted()).toEqual([
      'agent',
      'export.yaml',
      'output',
      'rules',
      'workflow',
    ]);
    expect(parse(await readFile(join(folder, 'parts/output/courier.v1.yaml'), 'utf8'))).toHaveProperty(
      'outputSet',
    );
    expect((await patchbay(to, ['import', 'parts'])).out).toContain('nothing changed');

    const { out } = await patchbay(from, ['export', 'courier', '--json']);
    await patchbay(from, ['export', 'courier', '--file', 'courier.json']);
    expect(await readFile(join(folder, 'courier.json'), 'utf8')).toBe(out);
    expect((await patchbay(to, ['import', '-'], out)).out).toContain('nothing changed');
  });

  it('say in a sentence what is in the way, and change nothing', async () => {
    const { out } = await patchbay(from, ['export', 'courier', '--json']);
    await writeFile(join(folder, 'other.json'), out.replace('Grüße', 'Servus'));
    const refused = await patchbay(to, ['import', 'other.json']);
    expect(refused.exitCode).toBe(1);
    expect(refused.err).toContain('patchbay://output/courier?version=1 is here and holds something else');
    const next = await patchbay(to, ['import', 'other.json', '--next', '--json']);
    expect(JSON.parse(next.out)).toMatchObject({ agentId: 'courier', agentVersion: 2 });

    await writeFile(join(folder, 'parts/export.yaml'), 'documents: [{ type: ../.., id: x, version: 1 }]\n');
    expect((await patchbay(to, ['import', 'parts'])).err).toContain(
      'must list documents with type, id and version',
    );
    expect((await patchbay(to, ['import', 'nowhere.yaml'])).err).toBe(
      'patchbay: nowhere.yaml does not exist.\n',
    );
    expect((await patchbay(to, ['export', 'nobody'])).exitCode).toBe(1);
    expect((await patchbay(to, ['export', 'demo', '--agent-version', 'last'])).exitCode).toBe(2);
    expect((await patchbay(to, ['export', 'demo', '--file', 'a', '--folder', 'b'])).exitCode).toBe(2);
  });

  it('write YAML that reads as the same value, whatever is in it', () => {
    fc.assert(
      fc.property(randomAgent, fc.jsonValue(), (agent, value) => {
        const whole = JSON.parse(JSON.stringify({ agent, value }));
        const text = objectText('agent.yaml', whole);
        expect(JSON.stringify(parse(text))).toBe(JSON.stringify(whole));
      }),
      { numRuns: 300 },
    );
  });
});
