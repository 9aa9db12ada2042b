import { createHash, randomBytes } from 'node:crypto';
import type { TestPlatform } from '@patchbay/testing/platform';
import { type Browser, type BrowserAnswer, createBrowser, hiddenFields } from './browser.ts';

export const CALLBACK = 'http://127.0.0.1:33418/callback';

/** What a token endpoint answers. */
export interface TokenAnswer {
  readonly status: number;
  readonly body: Record<string, unknown> & {
    readonly access_token?: string;
    readonly refresh_token?: string;
  };
}

type FormParameters = Readonly<Record<string, string | undefined>>;

/** A client as the answer to its registration describes it. */
export interface RegisteredClient {
  readonly client_id: string;
  readonly client_secret?: string;
  readonly token_endpoint_auth_method: string;
}

/** A registered client with its verifier, and what it may do with it. */
export interface TestClient {
  readonly id: string;
  readonly verifier: string;
  /** Where it sends a browser. Parameters that are `undefined` are left out. */
  authorizeUrl(parameters?: Readonly<Record<string, string | undefined>>): string;
  redeem(
    code: string,
    parameters?: FormParameters,
    headers?: Readonly<Record<string, string>>,
  ): Promise<TokenAnswer>;
  refresh(
    token: string,
    parameters?: FormParameters,
    headers?: Readonly<Record<string, string>>,
  ): Promise<TokenAnswer>;
}

/** A browser in which the person is signed in. */
export async function signedIn(
  platform: TestPlatform,
  userId = platform.platform.owner.id,
): Promise<Browser> {
  const browser = createBrowser(platform.url);
  const { url } = await platform.platform.links.make(userId, 'sign-in');
  const page = await browser.get(url);
  await browser.post(url, hiddenFields(page));
  return browser;
}

export async function post(
  url: string,
  parameters: Readonly<Record<string, string | undefined>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<TokenAnswer> {
  const body = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) body.set(name, value);
  const response = await fetch(url, { method: 'POST', body, headers });
  const text = await response.text();
  return { status: response.status, body: text === '' ? {} : JSON.parse(text) };
}

export async function register(url: string, description: object = {}): Promise<Response> {
  return fetch(`${url}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: 'An editor', redirect_uris: [CALLBACK], ...description }),
  });
}

export async function newClient(
  { url }: { readonly url: string },
  options: { readonly id?: string; readonly description?: object; readonly redirect?: string } = {},
): Promise<TestClient> {
  const { redirect = CALLBACK } = options;
  if (options.id !== undefined) return clientOf(url, options.id, redirect);
  const { client_id: id } = (await (await register(url, options.description)).json()) as {
    client_id: string;
  };
  return clientOf(url, id, redirect);
}

export function clientOf(url: string, id: string, redirect = CALLBACK): TestClient {
  const verifier = randomBytes(32).toString('base64url');
  return {
    id,
    verifier,
    authorizeUrl(parameters = {}) {
      const search = new URLSearchParams();
      const all = {
        client_id: id,
        response_type: 'code',
        redirect_uri: redirect,
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
        state: 'a state, +unchanged/=&%',
        ...parameters,
      };
      for (const [name, value] of Object.entries(all)) if (value !== undefined) search.set(name, value);
      return `${url}/oauth/authorize?${search}`;
    },
    redeem: (code, parameters = {}, headers = {}) => {
      const form = { grant_type: 'authorization_code', code, client_id: id, redirect_uri: redirect };
      return post(`${url}/oauth/token`, { ...form, code_verifier: verifier, ...parameters }, headers);
    },
    refresh: (token, parameters = {}, headers = {}) => {
      const form = { grant_type: 'refresh_token', refresh_token: token, client_id: id };
      return post(`${url}/oauth/token`, { ...form, ...parameters }, headers);
    },
  };
}

/** How a client says who it is, as it was registered: in the form, or in the headers. */
export function proofOf({
  client_id: id,
  client_secret: secret = '',
  token_endpoint_auth_method: method,
}: RegisteredClient): readonly [FormParameters, Readonly<Record<string, string>>] {
  if (method === 'client_secret_basic')
    return [{ client_id: undefined }, { authorization: basic(id, secret) }];
  return [{ client_id: id, client_secret: method === 'client_secret_post' ? secret : undefined }, {}];
}

export function basic(id: string, secret: string): string {
  const said = [id, secret].map(encodeURIComponent).join(':');
  return `Basic ${Buffer.from(said).toString('base64')}`;
}

/** The page on which the person is asked. */
export async function consentPage(browser: Browser, url: string): Promise<BrowserAnswer> {
  return browser.follow(await browser.get(url));
}

/** What the person decides there; answers where the browser is sent in the end. */
export async function decide(
  browser: Browser,
  page: BrowserAnswer,
  decision: 'allow' | 'deny' = 'allow',
  agents: readonly string[] = ['demo'],
): Promise<BrowserAnswer> {
  return browser.follow(
    await browser.post(page.url, {
      ...hiddenFields(page),
      decision,
      agent: decision === 'allow' ? agents : [],
    }),
  );
}

/** From a client's address to its code. */
export async function codeFor(
  browser: Browser,
  url: string,
  agents: readonly string[] = ['demo'],
): Promise<string> {
  const { location } = await decide(browser, await consentPage(browser, url), 'allow', agents);
  const code = location?.searchParams.get('code');
  if (!code) throw new Error(`No code: ${location}`);
  return code;
}

export function claimsOf(token: string | undefined): Record<string, unknown> {
  return JSON.parse(Buffer.from(token!.split('.')[1]!, 'base64url').toString());
}
