// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${vault:key} are the product's own syntax
import { describe, expect, it } from 'vitest';
import { restoreMemory, snapshotMemory } from '../checkpoint.ts';
import { readCallerContext } from '../turn-context.ts';
import { createTurnMemory, type RunningMemory } from '../turn-memory.ts';
import { propertyStep } from './property.ts';
import { loadFrom, rememberedAs, testMemory, testTools } from './test-turn.ts';

const uri = 'patchbay://property/mine?version=1';

const compile = (body: unknown) =>
  propertyStep.compile({ type: 'property', config: { uri } }, loadFrom({ 'property/mine': body }));

const instruct = (...setProperties: object[]) => ({ setOnActions: [{ actions: ['go'], setProperties }] });

async function run(body: unknown, memory: RunningMemory, tools = testTools()): Promise<RunningMemory> {
  const step = await compile(body);
  expect(await step.run(memory, tools)).toBe('continue');
  return memory;
}

describe('the property step', () => {
  it('sets values when one of its actions is raised, and only then', async () => {
    const body = {
      setOnActions: [
        { actions: ['go', 'run'], setProperties: [{ name: 'a', valueInt: 1 }] },
        { actions: ['stay'], setProperties: [{ name: 'b', valueInt: 2 }] },
        { actions: ['*'], setProperties: [{ name: 'c', valueList: [1, { d: null }] }] },
      ],
    };
    const memory = await run(body, testMemory({ actions: ['run'] }));
    expect(memory.properties).toEqual({ a: 1, c: [1, { d: null }] });
    expect(memory.kept).toEqual(memory.properties);
    expect(rememberedAs(memory, 'properties:set')).toEqual([['a', 'c']]);
  });

  it('renders valueString alone, and sees what it has just set', async () => {
    const memory = await run(
      instruct(
        { name: 'who', valueString: '{{ input | upcase }}' },
        { name: 'greeting', valueString: 'Hello {{ properties.who }}' },
        { name: 'raw', valueObject: { text: '{{ input }}' } },
      ),
      testMemory({ actions: ['go'], input: 'ann' }),
    );
    expect(memory.properties).toEqual({ who: 'ANN', greeting: 'Hello ANN', raw: { text: '{{ input }}' } });
  });

  it('stores what it finds at a path as it is, a copy that later steps do not change', async () => {
    const memory = testMemory({ actions: ['go'], context: { order: { items: ['{{ input }}'] } } });
    memory.output.push({ type: 'text', text: 'one' });
    await run(
      instruct(
        { name: 'items', fromObjectPath: 'context.order.items' },
        { name: 'said', fromObjectPath: 'memory.current.output' },
        { name: 'nothing', fromObjectPath: 'context.missing' },
      ),
      memory,
    );
    memory.output[0]!.text = 'changed';
    expect(memory.properties).toEqual({ items: ['{{ input }}'], said: [{ type: 'text', text: 'one' }] });
  });

  it('writes into a member of a property and leaves the rest of it', async () => {
    const address = { street: 'Main', tags: ['home'] };
    const memory = await run(
      instruct(
        { name: 'x', valueString: 'Bern', toObjectPath: 'properties.address.city' },
        { name: 'x', valueString: 'new', toObjectPath: 'properties.address.tags[7]' },
        { name: 'x', valueInt: 3, toObjectPath: 'properties.fresh.deep[0].n' },
      ),
      testMemory({ actions: ['go'], properties: { address } }),
    );
    expect(memory.properties).toEqual({
      address: { street: 'Main', tags: ['home', 'new'], city: 'Bern' },
      fresh: { deep: [{ n: 3 }] },
    });
    expect(address).toEqual({ street: 'Main', tags: ['home'] });
  });

  it('reads JSON where it shall, and what was said cannot add members to it', async () => {
    const memory = await run(
      instruct(
        {
          name: 'order',
          valueString: '{"note": "{{ input }}", "n": {{ properties.n }}}',
          convertToObject: true,
        },
        { name: 'text', valueString: 'no {json}', convertToObject: true },
      ),
      testMemory({ actions: ['go'], input: 'a", "admin": true, "b": "\n', properties: { n: 4 } }),
    );
    expect(memory.properties).toMatchObject({
      order: { note: 'a", "admin": true, "b": "\n', n: 4 },
      text: 'no {json}',
    });
  });

  it('keeps what is there when it may not override', async () => {
    const memory = await run(
      instruct(
        { name: 'there', valueInt: 2, override: false },
        { name: 'new', valueInt: 2, override: false },
        { name: 'x', valueInt: 2, override: false, toObjectPath: 'properties.object.a' },
      ),
      testMemory({ actions: ['go'], properties: { there: 0, object: { a: 1 } } }),
    );
    expect(memory.properties).toEqual({ there: 0, new: 2, object: { a: 1 } });
  });

  it('lets a property last as long as its scope says', async () => {
    const memory = await run(
      instruct(
        { name: 'turn', valueInt: 1, scope: 'step' },
        { name: 'conversation', valueInt: 2 },
        { name: 'person', valueInt: 3, scope: 'longTerm', visibility: 'global' },
      ),
      testMemory({ actions: ['go'] }),
    );
    expect(memory.properties).toEqual({ turn: 1, conversation: 2, person: 3 });
    expect(memory.kept).toEqual({ conversation: 2, person: 3 });
    expect(memory.longTerm).toEqual({ person: { value: 3, visibility: 'global' } });
  });

  it('hands a secret to the vault and keeps the reference, also of what was said as a secret', async () => {
    const kept: string[][] = [];
    const tools = testTools(undefined, {
      keepSecret: async (name, value) => {
        kept.push([name, value]);
        return `\${vault:ref-${name}}`;
      },
    });
    const memory = createTurnMemory({
      input: 'hunter2',
      counters: { rules: {}, actions: {}, seen: {} },
      past: [],
      properties: {},
      context: readCallerContext({ secretInput: 'true' }),
      now: () => 0,
    });
    memory.actions = ['go'];
    await run(
      instruct(
        { name: 'token', valueString: '{{ input }}', scope: 'secret' },
        { name: 'plain', valueString: '{{ input }}' },
      ),
      memory,
      tools,
    );
    expect(kept).toEqual([['token', 'hunter2']]);
    expect(memory.properties).toEqual({ token: '${vault:ref-token}', plain: '<secret input>' });
    expect(JSON.stringify(memory)).not.toContain('"value":"hunter2"');
  });

  it.each([
    { valueString: 'pin {{ input }}' },
    { fromObjectPath: 'input' },
    { valueString: '{{ memory.current.input }}' },
  ])('keeps nothing in place of a secret that is not there any more: %j', async source => {
    const kept: string[] = [];
    const tools = testTools(undefined, {
      keepSecret: async name => {
        kept.push(name);
        return 'kept';
      },
    });
    const said = testMemory({ input: 'hunter2', actions: ['go'], context: { secretInput: 'true' } });
    const snapshot = JSON.parse(JSON.stringify(snapshotMemory(said))) as ReturnType<typeof snapshotMemory>;
    const memory = restoreMemory(snapshot, () => 0);
    await expect(
      run(
        instruct(
          { name: 'other', valueString: 'a', scope: 'secret' },
          { name: 'pin', ...source, scope: 'secret' },
        ),
        memory,
        tools,
      ),
    ).rejects.toMatchObject({ kind: 'unavailable', message: expect.stringContaining('"pin"') });
    expect(kept).toEqual([]);
    expect(memory.properties).toEqual({});
    // What does not come from the secret is kept as ever.
    await run(instruct({ name: 'other', valueString: 'a', scope: 'secret' }), memory, tools);
    expect(kept).toEqual(['other']);
  });

  it('takes properties out of expressions, of the input and of the context', async () => {
    const memory = await run(
      { setOnActions: [] },
      testMemory({
        expressions: ['property(city(Bern), tags(a, b))', 'greeting(hello)', 'property(empty)'],
        context: {
          propertiesOfShop: { type: 'expressions', value: 'lang(de), property(tier(gold))' },
          other: { type: 'expressions', value: 'lang(fr)' },
        },
      }),
    );
    expect(memory.properties).toEqual({ city: 'Bern', tags: ['a', 'b'], lang: 'de', tier: 'gold' });
  });

  it('refuses a template that is none when the agent is deployed', async () => {
    await expect(compile(instruct({ name: 'a', valueString: '{{ nobody.x }}' }))).rejects.toMatchObject({
      kind: 'invalid',
      message: expect.stringContaining('$.setOnActions[0].setProperties[0].valueString'),
    });
  });
});
