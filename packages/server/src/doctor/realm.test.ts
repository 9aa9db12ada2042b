import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { examineRealm } from './realm.ts';

describe('the doctor at an OpenID realm', () => {
  let answer: { readonly status: number; readonly body: string };
  let issuer: string;
  const server = createServer((_, response) => response.writeHead(answer.status).end(answer.body));
  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => server.close());

  const examined = async (tokenIssuer?: string) => {
    const [remark, ...others] = await examineRealm({ issuer, tokenIssuer });
    expect(others).toEqual([]);
    return remark!;
  };

  it('looks at none where none is set', async () => {
    expect(await examineRealm({})).toEqual([]);
  });

  it('finds one that answers under its name, or the one it has in tokens', async () => {
    answer = { status: 200, body: JSON.stringify({ issuer }) };
    expect((await examined()).verdict).toBe('ok');
    answer = { status: 200, body: JSON.stringify({ issuer: 'https://sso.example' }) };
    expect((await examined('https://sso.example')).verdict).toBe('ok');
    expect(await examined()).toMatchObject({
      verdict: 'problem',
      says: expect.stringContaining('PATCHBAY_OIDC_TOKEN_ISSUER'),
    });
  });

  it('warns of one that answers something else, or nothing', async () => {
    for (const other of [
      { status: 503, body: '' },
      { status: 200, body: '<html>' },
    ]) {
      answer = other;
      expect((await examined()).verdict).toBe('warning');
    }
    const [remark] = await examineRealm({ issuer: 'http://127.0.0.1:9' });
    expect(remark).toMatchObject({ verdict: 'warning', says: expect.stringContaining('no connection') });
  });
});
