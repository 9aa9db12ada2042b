import type { LanguageModelV4 } from '@ai-sdk/provider';
import { expect, it } from 'vitest';
import { createOpenedModels, type Target } from './opened-models.ts';
import { type OpenedModel, PROVIDERS, type ProviderSettings } from './providers.ts';

/** Opens models that do nothing, and knows what was opened. */
function opener() {
  const opened: { readonly model: string; readonly fetch: ProviderSettings['fetch'] }[] = [];
  const open = (model: string, { fetch }: ProviderSettings): OpenedModel => {
    opened.push({ model, fetch });
    return { model: { modelId: model } as LanguageModelV4 };
  };
  const target = (model: string): Target => ({
    ...{ provider: { ...PROVIDERS['openai-compatible'], load: async () => open }, model },
    ...{ baseUrl: 'http://model.test/v1', foreign: true },
  });
  return { opened, target };
}

const signal = () => new AbortController().signal;

it('opens a model once, and again when many others were asked since', async () => {
  const { opened, target } = opener();
  const models = createOpenedModels();
  const first = await models.open(target('first'));
  expect(await models.open(target('first'))).toBe(first);
  for (let index = 0; index < 99; index += 1) await models.open(target(`other-${index}`));
  expect(await models.open(target('first'))).toBe(first);
  for (let index = 0; index < 100; index += 1) await models.open(target(`more-${index}`));
  await models.open(target('first'));
  expect(opened.filter(({ model }) => model === 'first')).toHaveLength(2);
});

it('sends each request through the fetch that belongs to its signal, and no other one', async () => {
  const { opened, target } = opener();
  const models = createOpenedModels();
  const signals = [signal(), signal()] as const;
  await models.open(target('model'));
  for (const [index, one] of signals.entries()) models.lead(one, async () => new Response(`for ${index}`));
  const [{ fetch }] = opened as [(typeof opened)[number]];
  for (const [index, one] of signals.entries())
    expect(await (await fetch('http://model.test', { signal: one })).text()).toBe(`for ${index}`);
  expect(() => fetch('http://model.test', { signal: signal() })).toThrow('without its signal');
});
