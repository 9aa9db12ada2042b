import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Rig, startRig, WAYS, type Way } from './rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig[Symbol.asyncDispose]());

const schema = { type: 'object', properties: { mood: { type: 'string' } } };
const tools = [{ name: 'look', description: 'Looks.', inputSchema: { type: 'object', properties: {} } }];

/** Where each wire format says that the answer shall be JSON. */
const HELD: Readonly<Record<Way['wire'], (body: Record<string, unknown>) => unknown>> = {
  anthropic: body => body.output_format ?? body.output_config,
  responses: body => body.text,
  'chat-completions': body => body.response_format,
  gemini: body => (body.generationConfig as Record<string, unknown>).responseMimeType,
};

describe.each(WAYS)('An answer of $name that shall be JSON', way => {
  const held = async (request: object) => {
    rig.model.play([{ text: '{}' }]);
    expect(await rig.ask(way, request)).toMatchObject({ kind: 'answered' });
    return HELD[way.wire](rig.model.requests[0]!.body) !== undefined;
  };
  it('is held to it where the provider can', async () => {
    const can = way.wire !== 'anthropic';
    expect(await held({})).toBe(false);
    expect(await held({ json: {} })).toBe(can);
    expect(await held({ json: { schema } })).toBe(can);
  });
  it('is held to it beside tools only where the provider can do both', async () => {
    const can = way.wire !== 'anthropic' && way.wire !== 'gemini';
    expect(await held({ json: { schema }, tools })).toBe(can);
    expect(rig.model.requests[0]?.tools).toMatchObject([{ name: 'look' }]);
  });
});
