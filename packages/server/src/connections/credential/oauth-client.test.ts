import { describe, expect, it } from 'vitest';
import type { AuthorizationServer } from './authorization-server.ts';
import { quirksOf } from './identity-providers.ts';
import { type ClientOptions, clientAt } from './oauth-client.ts';
import type { KeptTokens } from './token-store.ts';

const issuer = 'https://sign-in.example';
const back = 'https://patchbay.example/back';
const document = 'https://patchbay.example/client.json';

function at(more: Partial<ClientOptions> = {}, readsDocuments = false) {
  const posted: unknown[] = [];
  const metadata = {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    registration_endpoint: `${issuer}/register`,
    response_types_supported: ['code'],
    client_id_metadata_document_supported: readsDocuments,
  };
  const server: AuthorizationServer = {
    url: issuer,
    issuer,
    metadata,
    resource: 'https://mcp.example',
    scopes: [],
    quirks: quirksOf(issuer),
    says: { resource: 'https://mcp.example', audience: undefined },
  };
  const client = clientAt({
    server,
    identity: { name: 'Patchbay', metadataUrl: document },
    kept: undefined,
    redirectUrl: back,
    scope: 'read',
    clock: { now: () => 5_000_000 },
    egress: {
      sent: [],
      async fetch(_url, init) {
        posted.push(JSON.parse(String(init?.body)));
        return Response.json({ client_id: 'made', redirect_uris: [back] }, { status: 201 });
      },
    },
    ...more,
  });
  return { client, posted };
}

const keptWith = (more: Partial<KeptTokens>): KeptTokens => ({
  issuer,
  metadataUrl: undefined,
  client: { client_id: 'earlier' },
  redirectUrl: back,
  scope: 'read',
  token: undefined,
  ...more,
});

describe('the client at an authorization server', () => {
  it('is the one that people registered, whatever else there is', async () => {
    const identity = { name: 'Patchbay', metadataUrl: document, registered: { id: 'by-hand', secret: 's' } };
    const { client, posted } = at({ identity, kept: keptWith({}) }, true);
    expect((await client).information).toEqual({ client_id: 'by-hand', client_secret: 's' });
    expect(posted).toEqual([]);
  });

  it('is our document, where it is read', async () => {
    const { client, posted } = at({ kept: keptWith({}) }, true);
    expect(await client).toMatchObject({ information: { client_id: document }, byOurselves: false });
    expect(posted).toEqual([]);
  });

  it('is the one that we registered earlier', async () => {
    const { client, posted } = at({ kept: keptWith({}) });
    expect(await client).toMatchObject({ information: { client_id: 'earlier' }, byOurselves: true });
    expect(posted).toEqual([]);
  });

  it.each([
    ['nothing is kept', undefined],
    ['what is kept is of another authorization server', keptWith({ issuer: 'https://other.example' })],
    ['people come back to another address', keptWith({ redirectUrl: 'https://old.example/back' })],
    [
      'its secret has run out',
      keptWith({ client: { client_id: 'earlier', client_secret: 's', client_secret_expires_at: 4_999 } }),
    ],
  ])('registers itself when %s', async (_, kept) => {
    const { client, posted } = at({ kept });
    expect(await client).toMatchObject({ information: { client_id: 'made' }, byOurselves: true });
    expect(posted).toEqual([
      {
        client_name: 'Patchbay',
        redirect_uris: [back],
        grant_types: ['authorization_code', 'refresh_token'],
        application_type: 'web',
        scope: 'read',
      },
    ]);
  });

  it('has to be there where nobody signs in', async () => {
    const { client, posted } = at({ redirectUrl: undefined });
    await expect(client).rejects.toThrow('registered beforehand');
    expect(posted).toEqual([]);
  });
});
