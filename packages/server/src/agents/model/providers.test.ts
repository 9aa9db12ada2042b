import { describe, expect, it } from 'vitest';
import { PROVIDERS, readProvider } from './providers.ts';

describe('readProvider', () => {
  it.each(Object.keys(PROVIDERS))('knows %s', name =>
    expect(readProvider(name)).toEqual({ ok: true, value: name }),
  );
  it('knows Gemini by the name of its maker, too', () =>
    expect(readProvider('google')).toEqual({ ok: true, value: 'gemini' }));
  it.each(['gemini-vertex', 'azure-openai', 'bedrock', 'oracle-genai', 'toString', ''])(
    'refuses %j with the list of those it knows',
    name => {
      const read = readProvider(name);
      expect(read.ok ? '' : read.refusal.message).toBe(
        `There is no provider ${JSON.stringify(name)}. Known are ${Object.keys(PROVIDERS).join(', ')}.`,
      );
    },
  );
  it('says which one is probably meant', () => {
    const read = readProvider('antropic');
    expect(read.ok ? '' : read.refusal.message).toContain('did you mean "anthropic"?');
  });
});

describe('each provider', () => {
  it.each(Object.entries(PROVIDERS))('%s opens its model without asking the environment', async (_, row) => {
    const open = await row.load();
    const fetch = () => Promise.reject(new Error('not called'));
    const settings = { baseUrl: 'http://127.0.0.1:9/v1', foreign: true, fetch };
    expect(open('some-model', settings)).toMatchObject({
      model: { specificationVersion: 'v4', modelId: 'some-model' },
    });
  });
});
