import type { TestPlatform } from '@patchbay/testing/platform';

/** What the REST surface answered: JSON decoded, anything else as text. */
export interface RestAnswer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: an answer may be anything, tests look into it
  readonly body: any;
}

export interface RestOptions {
  /** `null` sends none. */
  readonly key: string | null;
  readonly body?: unknown;
  /** Sent as it is. */
  readonly raw?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One request below `/api/v1`, as a program without our client would send it. */
export async function rest(
  url: string,
  method: string,
  path: string,
  options: RestOptions,
): Promise<RestAnswer> {
  const body = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
  const response = await fetch(`${url}/api/v1${path}`, {
    method,
    headers: {
      ...(options.key !== null && { authorization: `Bearer ${options.key}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...options.headers,
    },
    ...(body !== undefined && { body }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json');
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
}

/** A key of the owner that opens agents and not the operator door. */
export async function agentsKey(platform: TestPlatform, userId = platform.platform.owner.id) {
  const { keys } = platform.platform;
  return (await keys.createUserKey(userId, { name: 'agents only', scopes: ['agents'] })).token;
}

/** An agent that answers everything with one text, as an agent file. */
export function answeringAgent(agent: string, text: string, more: { delay?: number; mcp?: boolean } = {}) {
  return {
    agent,
    name: `The ${agent}`,
    description: 'Made by a test.',
    mcp_enabled: more.mcp ?? true,
    rules: { behaviorGroups: [{ name: 'always', rules: [{ name: 'answer', actions: ['answer'] }] }] },
    output: {
      outputSet: [
        {
          action: 'answer',
          outputs: [
            { valueAlternatives: [{ type: 'text', text, ...(more.delay && { delay: more.delay }) }] },
          ],
        },
      ],
    },
  };
}
