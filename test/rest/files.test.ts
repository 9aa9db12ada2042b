import { createHash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import type { TestPlatform } from '@patchbay/testing/platform';
import { startTestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../packages/server/src/kernel/clock.ts';
import { platforms } from '../doors/platforms.ts';
import { agentsKey, type RestOptions, rest } from './rest-client.ts';

const MIB = 1024 * 1024;

/** PUT of bytes to an address, as `curl -T` does it: without a key. */
async function put(url: string, bytes: Uint8Array<ArrayBuffer> | string, type = 'text/csv') {
  const response = await fetch(url, { method: 'PUT', headers: { 'content-type': type }, body: bytes });
  return { status: response.status, body: (await response.json()) as Record<string, never> };
}

describe.each(platforms)('files on REST of $kind', ({ start }) => {
  let platform: TestPlatform;
  let key: string;
  let stranger: string;
  beforeAll(async () => {
    platform = await start({ env: { PATCHBAY_FILES_QUOTA_MIB: '64' } });
    key = await agentsKey(platform);
    stranger = await agentsKey(platform, (await platform.addPerson(['patchbay-admin'])).userId);
  });
  afterAll(() => platform?.close());

  const ask = (method: string, path: string, options: Partial<RestOptions> = {}) =>
    rest(platform.url, method, path, { key, ...options });
  const presign = (body: Record<string, unknown>, options: Partial<RestOptions> = {}) =>
    ask('POST', '/files/presign-upload', {
      body: { filename: 'sales.csv', content_type: 'text/csv', ...body },
      ...options,
    });
  const download = (path: string, options: Partial<RestOptions> = {}) =>
    fetch(`${platform.url}/api/v1${path}`, {
      headers: { authorization: `Bearer ${options.key === undefined ? key : options.key}` },
    });

  async function uploaded(text: string, declared: Record<string, unknown> = {}): Promise<string> {
    const { body } = await presign({ size: Buffer.byteLength(text), ...declared });
    expect((await put(body.upload_url, text, String(declared.content_type ?? 'text/csv'))).status).toBe(200);
    return body.file_id;
  }

  it('are declared, uploaded without a key, and read by their owner (B-80)', async () => {
    const text = 'region,sales\nnorth,7\n';
    const { status, body } = await presign({ size: text.length });
    expect(status).toBe(200);
    expect(body.file_id).toMatch(/^file_[a-z2-7]{26}$/);
    expect((await ask('GET', `/files/${body.file_id}`)).body).toMatchObject({
      file_id: body.file_id,
      status: 'pending',
    });
    const sha256 = createHash('sha256').update(text).digest('hex');
    expect(await put(body.upload_url, text)).toMatchObject({
      status: 200,
      body: { status: 'uploaded', sha256 },
    });
    const read = (await ask('GET', `/files/${body.file_id}`)).body;
    expect(read).toMatchObject({
      filename: 'sales.csv',
      content_type: 'text/csv',
      size: text.length,
      sha256,
    });
    expect(await (await fetch(read.download_url)).text()).toBe(text);
    expect(await (await download(`/files/${body.file_id}/content`)).text()).toBe(text);
  });

  it('of somebody else are not there, in the words for what is nobody’s, whatever the role (B-80)', async () => {
    const id = await uploaded('mine');
    const missing = `file_${'a'.repeat(26)}`;
    for (const path of ['', '/content']) {
      for (const method of path === '' ? ['GET', 'DELETE'] : ['GET']) {
        const foreign = await ask(method, `/files/${id}${path}`, { key: stranger });
        const unknown = await ask(method, `/files/${missing}${path}`, { key: stranger });
        expect([foreign.status, foreign.body]).toEqual([unknown.status, unknown.body]);
        expect([foreign.status, foreign.body.error.code]).toEqual([404, 'not_found']);
      }
    }
    expect((await ask('GET', '/files', { key: stranger })).body.count).toBe(0);
    for (const refused of [null, platform.agentKey])
      expect((await ask('GET', `/files/${id}`, { key: refused })).status).toBe(401);
    expect((await ask('GET', `/files/${id}`)).status).toBe(200);
  });

  it('come back byte by byte, also as large as they may be', async () => {
    const bytes = randomBytes(20 * MIB);
    const { body } = await presign({ size: bytes.length, content_type: 'application/octet-stream' });
    expect((await put(body.upload_url, bytes, 'application/octet-stream')).status).toBe(200);
    const response = await download(`/files/${body.file_id}/content`);
    expect(response.headers.get('content-length')).toBe(String(bytes.length));
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true);
    expect((await ask('DELETE', `/files/${body.file_id}`)).status).toBe(204);
    expect((await download(`/files/${body.file_id}/content`)).status).toBe(404);
  });

  it('are shown and run by no browser', async () => {
    const page = '<script>alert(1)</script>';
    const id = await uploaded(page, { filename: 'ünnep "page".html', content_type: 'text/html' });
    const { headers } = await download(`/files/${id}/content`);
    expect(headers.get('content-disposition')).toBe(
      `attachment; filename="_nnep _page_.html"; filename*=UTF-8''%C3%BCnnep%20%22page%22.html`,
    );
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toContain('sandbox');
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
  });

  it.each([
    ['no size', {}],
    ['nothing in it', { size: 0 }],
    ['too many bytes', { size: 20 * MIB + 1 }],
    ['a size that is text', { size: '12' }],
    ['half a byte', { size: 1.5 }],
    ['a path for a name', { size: 1, filename: '../../etc/passwd' }],
    ['a Windows path', { size: 1, filename: 'c:\\boot.ini' }],
    ['dots for a name', { size: 1, filename: '..' }],
    ['a line break in its name', { size: 1, filename: 'a\r\nx-header: 1' }],
    ['letters that turn around', { size: 1, filename: 'a\u202efdp.exe' }],
    ['a name of 300 characters', { size: 1, filename: 'a'.repeat(300) }],
    ['a type that is none', { size: 1, content_type: 'text' }],
    ['a header in its type', { size: 1, content_type: 'text/html\r\nx: 1' }],
    ['an owner', { size: 1, owner_id: 'somebody' }],
  ])('are not declared with %s', async (_name, declared) => {
    const { status, body } = await presign(declared);
    expect([status, body.error.code]).toEqual([400, 'invalid_param']);
  });

  it.each([
    ['another file', (url: URL) => url.pathname.replace(/file_\w/, 'file_z') + url.search],
    [
      'a later end',
      (url: URL) => `${url.pathname}?expires=9999999999999&signature=${url.searchParams.get('signature')}`,
    ],
    [
      'another signature',
      (url: URL) => `${url.pathname}${url.search.replace(/.$/, last => (last === 'A' ? 'B' : 'A'))}x`,
    ],
    ['no signature', (url: URL) => `${url.pathname}?expires=${url.searchParams.get('expires')}`],
    ['nothing', (url: URL) => url.pathname],
    ['an end that is no number', (url: URL) => `${url.pathname}?expires=1e99&signature=x`],
  ])('are not uploaded to an address with %s', async (_name, tampered) => {
    const { body } = await presign({ size: 4 });
    const address = new URL(body.upload_url);
    const answer = await put(address.origin + tampered(address), 'evil');
    expect([answer.status, answer.body.error]).toMatchObject([403, { code: 'forbidden' }]);
    expect((await ask('GET', `/files/${body.file_id}`)).body.status).toBe('pending');
  });

  it('have one address for each use: an upload’s opens no download, and the other way round', async () => {
    const { body } = await presign({ size: 4 });
    expect((await fetch(body.upload_url)).status).toBe(403);
    expect((await put(body.upload_url, 'four')).status).toBe(200);
    const { download_url } = (await ask('GET', `/files/${body.file_id}`)).body;
    expect((await put(download_url, 'evil')).status).toBe(403);
    expect(await (await fetch(download_url)).text()).toBe('four');
  });

  it.each([
    ['fewer bytes', 'thr', 'text/csv', 400],
    ['more bytes', 'a lot more than four', 'text/csv', 400],
    ['another type', 'four', 'text/html', 400],
  ])('are not taken with %s than declared, and may be sent again', async (_name, text, type, status) => {
    const { body } = await presign({ size: 4 });
    expect((await put(body.upload_url, text, type)).status).toBe(status);
    expect((await ask('GET', `/files/${body.file_id}`)).body.status).toBe('pending');
    expect(await put(body.upload_url, 'four', 'text/csv; charset=utf-8')).toMatchObject({ status: 200 });
    expect(await (await download(`/files/${body.file_id}/content`)).text()).toBe('four');
  });

  it('are uploaded once: the same bytes change nothing, others are refused', async () => {
    const { body } = await presign({ size: 4 });
    const racing = await Promise.all(
      ['four', 'five', 'four', 'nine'].map(async text => [text, await put(body.upload_url, text)] as const),
    );
    const winner = await (await download(`/files/${body.file_id}/content`)).text();
    for (const [text, { status }] of racing) expect(status).toBe(text === winner ? 200 : 409);
    expect((await put(body.upload_url, winner)).status).toBe(200);
    expect((await put(body.upload_url, 'else')).status).toBe(409);
    expect(await (await download(`/files/${body.file_id}/content`)).text()).toBe(winner);
    expect(await chunksOf(body.file_id)).toBe(1);
  });

  it('leave nothing behind when the sender goes away in the middle', async () => {
    const { body } = await presign({ size: 2 * MIB });
    await breakOff(body.upload_url, MIB + 1);
    await expect.poll(() => chunksOf(body.file_id)).toBe(0);
    expect((await put(body.upload_url, 'x'.repeat(2 * MIB))).status).toBe(200);
  });

  it('come to no more than the quota, those counted that wait for their bytes', async () => {
    const { userId } = await platform.addPerson(['patchbay-user']);
    const other = { key: await agentsKey(platform, userId) };
    const declare = () => presign({ size: 20 * MIB }, other);
    const statuses = (await Promise.all([declare(), declare(), declare(), declare(), declare()])).map(
      ({ status }) => status,
    );
    expect(statuses.toSorted()).toEqual([200, 200, 200, 409, 409]);
    const { files } = (await ask('GET', '/files?limit=1', other)).body;
    expect((await ask('DELETE', `/files/${files[0].file_id}`, other)).status).toBe(204);
    expect((await declare()).status).toBe(200);
  });

  it.each(['..%2F..%2Fetc%2Fpasswd', '%2e%2e', 'file_%00', "file_' or 1=1 --", 'x'.repeat(4_000)])(
    'are not found by %s',
    async id => {
      for (const path of [`/files/${id}`, `/files/${id}/content`])
        expect([400, 404]).toContain((await ask('GET', path)).status);
    },
  );

  async function chunksOf(fileId: string): Promise<number> {
    const row = await platform.platform.store.db
      .selectFrom('file_chunks')
      .select(eb => eb.fn.countAll<number | string>().as('chunks'))
      .where('file_id', '=', fileId)
      .executeTakeFirstOrThrow();
    return Number(row.chunks);
  }
});

describe('files, as time goes by', () => {
  let now = Date.UTC(2027, 0, 1);
  let platform: TestPlatform;
  let key: string;
  let local: string;
  beforeAll(async () => {
    platform = await startTestPlatform({
      overrides: { clock: { ...systemClock, now: () => now } },
      env: { PATCHBAY_FILES_KEEP_DAYS: '7', PATCHBAY_PUBLIC_URL: 'https://agents.example.com/patchbay' },
    });
    key = await agentsKey(platform);
    ({ url: local } = JSON.parse(await readFile(join(platform.dataDir, 'local-owner'), 'utf8')));
  });
  afterAll(() => platform?.close());

  const ask = (method: string, path: string, body?: unknown) => rest(local, method, path, { key, body });
  /** The address names the public host; the test reaches the platform behind it. */
  const here = (url: string) => {
    expect(url).toMatch(/^https:\/\/agents\.example\.com\/patchbay\/api\/v1\/files\//);
    return url.replace('https://agents.example.com/patchbay', local);
  };
  const presign = async () =>
    (await ask('POST', '/files/presign-upload', { filename: 'a.txt', content_type: 'text/plain', size: 1 }))
      .body;

  it('take no bytes after 15 minutes, and give none after 24 hours', async () => {
    const late = await presign();
    now = late.expires;
    expect((await put(here(late.upload_url), '1', 'text/plain')).status).toBe(403);
    const inTime = await presign();
    now = inTime.expires - 1;
    expect((await put(here(inTime.upload_url), '1', 'text/plain')).status).toBe(200);
    const { download_url, download_expires } = (await ask('GET', `/files/${inTime.file_id}`)).body;
    expect(download_expires - now).toBe(24 * 3_600_000);
    now = download_expires - 1;
    expect((await fetch(here(download_url))).status).toBe(200);
    now = download_expires;
    expect((await fetch(here(download_url))).status).toBe(403);
  });

  it('are removed when they were never uploaded, or kept long enough', async () => {
    const { files } = platform.platform;
    const never = await presign();
    const kept = await presign();
    await put(here(kept.upload_url), '1', 'text/plain');
    const there = async () =>
      (await ask('GET', '/files?limit=500')).body.files.map(({ file_id }: { file_id: string }) => file_id);
    await files.removeLeftovers();
    expect(await there()).toEqual(expect.arrayContaining([never.file_id, kept.file_id]));
    now += 2 * 3_600_000;
    await files.removeLeftovers();
    expect(await there()).toContain(kept.file_id);
    expect(await there()).not.toContain(never.file_id);
    now += 7 * 86_400_000;
    await files.removeLeftovers();
    expect(await there()).toEqual([]);
  });
});

/** Sends the head and so many bytes of a longer body, and hangs up. */
function breakOff(url: string, bytes: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const sent = request(url, {
    method: 'PUT',
    headers: { 'content-type': 'text/csv', 'content-length': 2 * MIB },
  });
  sent.on('error', () => resolve());
  sent.on('close', () => resolve());
  sent.write(Buffer.alloc(bytes), () => sent.destroy());
  return promise;
}
