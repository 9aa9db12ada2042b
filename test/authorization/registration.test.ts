import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { removeEndedRecords } from '../../packages/server/src/auth/server/records.ts';
import { createJumpingClock } from '../jumping-clock.ts';
import { refusedReasons } from './refused-reasons.ts';
import { CALLBACK, codeFor, newClient, register, signedIn } from './rig.ts';

const clock = createJumpingClock();
let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform({ overrides: { clock } });
});
afterAll(() => platform.close());

const asked = async (description: object) => {
  const response = await register(platform.url, description);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};
const clientRows = () =>
  platform.platform.store.db
    .selectFrom('authorization_records')
    .selectAll()
    .where('kind', '=', 'Client')
    .execute();

describe('a client that registers (B-25)', () => {
  it('is a public one that uses codes and refresh tokens, whatever else it asked for', async () => {
    const { status, body } = await asked({
      token_endpoint_auth_method: 'private_key_jwt',
      grant_types: ['client_credentials', 'password', 'implicit'],
      response_types: ['token', 'id_token'],
      scope: 'everything',
      subject_type: 'pairwise',
      application_type: 'web',
      id_token_signed_response_alg: 'none',
    });
    expect([status, body.client_secret, body.registration_access_token]).toEqual([201, undefined, undefined]);
    expect(body).toMatchObject({
      client_id: expect.stringMatching(/^client_[a-z2-7]{26}$/),
      client_name: 'An editor',
      redirect_uris: [CALLBACK],
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      application_type: 'native',
    });
  });

  it('leaves nothing behind that would be fetched, or shown as somebody else’s (attack 12)', async () => {
    const inside = 'http://169.254.169.254/latest/meta-data';
    const { status, body } = await asked({
      ...{ logo_uri: inside, jwks_uri: inside, sector_identifier_uri: inside, tos_uri: inside },
      ...{ policy_uri: inside, request_uris: [inside], initiate_login_uri: inside, client_uri: inside },
      ...{ jwks: { keys: [] }, contacts: ['a@b.c'], software_statement: 'x.y.z', client_id: 'patchbay-mcp' },
      'client_name#hu': 'más',
    });
    expect(status).toBe(201);
    expect(body.client_id).not.toBe('patchbay-mcp');
    expect(JSON.stringify([body, await clientRows()])).not.toContain('169.254');
  });

  it.each([
    [[]],
    [undefined],
    ['http://127.0.0.1/cb'],
    [[1]],
    [Array.from({ length: 11 }, (_, at) => `http://127.0.0.1:${at + 1}/`)],
    [['http://editor.example/cb']],
    [['https://editor.example/cb#x']],
    [['https://user:pass@editor.example/cb']],
    [['https://user@editor.example/cb']],
    [['https:editor.example']],
    [['https://editor.example\\@evil.test/']],
    [['https://editor.example/ cb']],
    [['https://еditor.example/cb']],
    [['https://editor.example;sandbox/cb']],
    [['https://editor.example,evil.test/cb']],
    [["https://editor'example/cb"]],
    [['javascript:alert(1)']],
    [['JavaScript:alert(1)']],
    [['data:text/html,x']],
    [['file:///etc/passwd']],
    [['vbscript:x']],
    [['blob:https://editor.example/x']],
    [['about:blank']],
    [['ms-msdt:/id']],
    [['view-source:https://x.example']],
    [['http://127.0.0.1@evil.test/']],
    [['http://127.0.0.1.evil.test/']],
    [['http://10.0.0.1/cb']],
    [['/cb']],
    [[`https://editor.example/${'a'.repeat(2000)}`]],
    [['http://127.0.0.1/cb', 'javascript:alert(1)']],
  ])('with redirect_uris %j is refused by name (attacks 6 and 12)', async redirect_uris => {
    const { status, body } = await asked({ redirect_uris });
    expect([status, body.error]).toEqual([400, 'invalid_redirect_uri']);
    expect(body.error_description).toContain('redirect_uris');
    await expect.poll(() => refusedReasons(platform), { timeout: 2_000 }).toContain('invalid-redirect-uri');
  });

  it.each([
    ['native', ['http://localhost/cb', 'http://[::1]:3000/cb']],
    ['native', ['cursor://anysphere.cursor-retrieval/oauth/callback']],
    ['native', ['com.example.app:/callback']],
    ['native', ['https://vscode.dev/redirect', 'http://127.0.0.1:33418/']],
    ['web', ['https://claude.ai/api/mcp/auth_callback']],
  ])('is %s with %j', async (application_type, redirect_uris) => {
    expect(await asked({ redirect_uris })).toMatchObject({
      status: 201,
      body: { application_type, redirect_uris },
    });
  });

  it.each([
    '',
    ' ',
    'a'.repeat(101),
    'line\nbreak',
    'nul\0',
    '\u202Etxet',
    'zero\u200Bwidth',
    '\u2066x',
    7,
    {},
  ])('with the name %j is refused by name', async client_name => {
    const { status, body } = await asked({ client_name });
    expect([status, body.error]).toEqual([400, 'invalid_client_metadata']);
    expect(body.error_description).toMatch(/client_name|U\+0000|the JSON/);
  });

  it('with more than 8 KiB, with no JSON, or with another kind of JSON is refused', async () => {
    expect((await asked({ padding: 'a'.repeat(9_000) })).status).toBe(400);
    for (const body of ['', '{', '[]', '"x"', 'null', '{"a":1,"a":2}', '['.repeat(4_000)]) {
      const response = await fetch(`${platform.url}/oauth/register`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      });
      expect(response.status).toBe(400);
      expect(((await response.json()) as { error: string }).error).toBe('invalid_client_metadata');
    }
  });

  it('is gone after a day in which nobody has allowed it anything', async () => {
    const unused = await newClient(platform);
    const used = await newClient(platform);
    const browser = await signedIn(platform);
    await codeFor(browser, used.authorizeUrl());
    clock.jump(25 * 3_600_000);
    const late = await newClient(platform);
    // What the job does each hour.
    await removeEndedRecords({ store: platform.platform.store, clock });
    const ids = (await clientRows()).map(({ id }) => id);
    expect(ids).not.toContain(unused.id);
    expect(ids).toEqual(expect.arrayContaining([used.id, late.id]));
  });
});

describe('very many that register', () => {
  it('are let in so many a minute, and no more (attack 12)', async () => {
    const flooded = await startTestPlatform();
    try {
      const answers = await Promise.all(Array.from({ length: 90 }, () => register(flooded.url)));
      const statuses = answers.map(({ status }) => status);
      expect(statuses.filter(status => status === 201)).toHaveLength(60);
      expect(statuses.filter(status => status === 429)).toHaveLength(30);
      expect(answers.find(({ status }) => status === 429)?.headers.get('retry-after')).toBe('60');
      await expect.poll(() => refusedReasons(flooded), { timeout: 2_000 }).toContain('too-often');
    } finally {
      await flooded.close();
    }
  });

  it('take the place of the oldest that nobody allows anything, when there are ten thousand (attack 12)', async () => {
    const full = await startTestPlatform();
    try {
      const { db } = full.platform.store;
      const kept = await newClient(full);
      await codeFor(await signedIn(full), kept.authorizeUrl());
      await sql`
        with recursive n (i) as (select 1 union all select i + 1 from n where i < 9999)
        insert into authorization_records (kind, id, payload, created_at)
        select 'Client', 'old_' || i, '{}', ${Date.now()} + i from n`.execute(db);
      await newClient(full);
      const ids = (
        await db.selectFrom('authorization_records').select('id').where('kind', '=', 'Client').execute()
      ).map(({ id }) => id);
      expect(ids).toHaveLength(10_000);
      expect(ids).not.toContain('old_1');
      expect(ids).toEqual(expect.arrayContaining([kept.id, 'old_2', 'old_9999']));
    } finally {
      await full.close();
    }
  });
});
