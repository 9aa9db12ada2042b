import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PROVIDERS } from '../../packages/server/src/agents/model/providers.ts';
import { type Rig, startRig, WAYS } from './rig.ts';

let rig: Rig;
let elsewhere: Rig;
beforeEach(async () => {
  [rig, elsewhere] = await Promise.all([startRig([{ text: 'Hi.' }]), startRig([{ text: 'Caught.' }])]);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  await rig[Symbol.asyncDispose]();
  await elsewhere[Symbol.asyncDispose]();
});

/** What the packages of the providers would read, and what their documentation names. */
const VARIABLES = [
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_AUTH_TOKEN',
  'OPENAI_API_KEY',
  'OPENAI_ORGANIZATION',
  'GOOGLE_GENERATIVE_AI_API_KEY',
  'GEMINI_API_KEY',
  'MISTRAL_API_KEY',
  'XAI_API_KEY',
];
const ADDRESSES = ['ANTHROPIC_BASE_URL', 'OPENAI_BASE_URL', 'GOOGLE_GENERATIVE_AI_BASE_URL'];
const PROXIES = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'];

function fillEnvironment(): void {
  for (const name of VARIABLES) vi.stubEnv(name, 'ambient-key');
  for (const name of [...ADDRESSES, ...PROXIES]) vi.stubEnv(name, elsewhere.model.url);
  vi.stubGlobal('fetch', () => Promise.reject(new Error('the ambient fetch was called')));
}

// The rows of the table of ways that talk to a provider's own address, too.
const OWN = (['anthropic', 'gemini'] as const).map(provider => ({
  ...WAYS.find(way => way.provider === provider)!,
  name: `${PROVIDERS[provider].title} at its own address`,
  own: true,
}));

describe.each([...WAYS, ...OWN])('$name', way => {
  it('is asked with nothing from the environment of the process', async () => {
    fillEnvironment();
    expect(await rig.ask(way)).toMatchObject({ kind: 'answered' });
    expect(elsewhere.model.requests).toHaveLength(0);
    expect(rig.model.requests).toHaveLength(1);
    expect(rig.model.requests[0]?.key).toBe('key-of-the-task');
    expect(JSON.stringify(rig.model.requests[0]?.headers)).not.toContain('ambient-key');
  });

  it('gets no key of the environment where the task has none', async () => {
    fillEnvironment();
    const outcome = await rig.ask(way, { apiKey: undefined });
    const sent = JSON.stringify(rig.model.requests.map(({ headers }) => headers));
    expect(sent).not.toContain('ambient-key');
    // Its own address is not even asked without a key.
    expect(outcome.kind).toBe(way.own ? 'failed' : 'answered');
  });
});
