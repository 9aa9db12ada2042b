import { type Schema, Validator } from '@cfworker/json-schema';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROVIDERS, type SchemaDialect } from '../../packages/server/src/agents/model/providers.ts';
import { compileTools } from '../../packages/server/src/agents/model/tool-schema/compile-tools.ts';
import { HOSTILE } from './hostile-schemas.ts';
import { refusalsOf } from './provider-rules.ts';
import { BROKEN_TOOLS, PUBLIC_TOOLS } from './public-tools.ts';
import { call, tameSchema, wildSchema } from './random-schemas.ts';
import { type Rig, startRig, WAYS } from './rig.ts';

const DIALECTS: readonly SchemaDialect[] = ['anthropic', 'openai', 'gemini', 'plain'];

function compile(dialect: SchemaDialect, inputSchema: Readonly<Record<string, unknown>>) {
  const { tools, lost, quarantined, argumentsOf } = compileTools(dialect, [
    { name: 'a__b', description: 'Does it.', inputSchema },
  ]);
  return { tool: tools[0], lost, quarantined, argumentsOf };
}

function isValid(schema: object, value: unknown): boolean {
  return new Validator(schema as Schema, '2020-12').validate(value).valid;
}

describe.each(DIALECTS)('public tools that break providers, for %s', dialect => {
  it.each(PUBLIC_TOOLS)('are taken: $what ($source)', ({ schema, call }) => {
    const before = JSON.stringify(schema);
    const { tool, quarantined, argumentsOf } = compile(dialect, schema);
    expect(quarantined).toEqual([]);
    expect(refusalsOf(dialect, tool!.inputSchema)).toEqual([]);
    expect(JSON.stringify(schema)).toBe(before);

    // The call is still possible, and reaches the server as it names its arguments.
    const given = renamed(call, dialect, schema);
    expect(argumentsOf('a__b', given)).toEqual(call);
    expect(isValid(schema, call)).toBe(true);
    expect(isValid(tool!.inputSchema, given)).toBe(true);
  });
  it.each(BROKEN_TOOLS)('are set aside with the reason: $what ($source)', ({ schema }) => {
    const { tool, quarantined } = compile(dialect, schema);
    expect(tool).toBeUndefined();
    expect(quarantined).toEqual([
      { tool: 'a__b', reason: expect.stringMatching(/^Its inputSchema .{10,}\.$/) },
    ]);
  });
});

it.each(PUBLIC_TOOLS)('as it is, some provider refuses $what ($source)', ({ schema }) => {
  expect(DIALECTS.flatMap(dialect => refusalsOf(dialect, schema))).not.toEqual([]);
});

describe('public tools that break providers', () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig();
  });
  afterAll(() => rig?.[Symbol.asyncDispose]());

  it.each(WAYS)('go over the wire as they were compiled: $name', async way => {
    const offered = PUBLIC_TOOLS.map(({ schema, what }, index) => ({
      ...{ name: `s__${index}`, description: what, inputSchema: schema },
    }));
    const { tools } = compileTools(PROVIDERS[way.provider].dialect, offered);
    rig.model.play([{ text: 'Hello.' }]);
    const outcome = await rig.ask(way, { tools });
    expect(outcome).toMatchObject({ kind: 'answered', attempts: 1 });
    expect(rig.model.requests[0]!.tools).toEqual(
      tools.map(({ name, description, inputSchema }) => ({ name, description, schema: inputSchema })),
    );
  });
});

describe.each(DIALECTS)('schemas that were made to keep somebody busy, for %s', dialect => {
  it.each(Object.entries(HOSTILE))('are small in the end, or set aside: %s (attack 42)', (_, schema) => {
    const { tool, quarantined } = compile(dialect, schema);
    if (!tool) {
      expect(quarantined).toEqual([{ tool: 'a__b', reason: expect.stringMatching(/^Its inputSchema ./) }]);
      return;
    }
    expect(refusalsOf(dialect, tool.inputSchema)).toEqual([]);
    expect(JSON.stringify(tool.inputSchema).length).toBeLessThan(301_000);
  });
});

describe.each(DIALECTS)('random schemas, for %s', dialect => {
  it('are taken or set aside with the reason, and stay small', () => {
    fc.assert(
      fc.property(wildSchema, schema => {
        const { tool, quarantined, lost } = compile(dialect, schema);
        if (!tool) {
          expect(quarantined).toEqual([
            { tool: 'a__b', reason: expect.stringMatching(/^Its inputSchema ./) },
          ]);
          return;
        }
        expect(refusalsOf(dialect, tool.inputSchema)).toEqual([]);
        expect(JSON.stringify(tool.inputSchema).length).toBeLessThan(500_000);
        expect(lost.every(({ tool: of, what }) => of === 'a__b' && what !== '')).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it('take what they took, where nothing is reported as lost', () => {
    let compared = 0;
    fc.assert(
      fc.property(tameSchema, fc.array(call, { maxLength: 5 }), (schema, calls) => {
        const { tool, lost } = compile(dialect, schema);
        if (!tool || lost.length > 0) return;
        for (const given of calls) {
          if (!isValid(schema, given)) continue;
          compared++;
          expect(isValid(tool.inputSchema, renamed(given, dialect, schema))).toBe(true);
        }
      }),
      { numRuns: 300 },
    );
    expect(compared).toBeGreaterThan(10);
  });
});

/** The arguments as a model calls them. */
function renamed(
  given: Readonly<Record<string, unknown>>,
  dialect: SchemaDialect,
  schema: Readonly<Record<string, unknown>>,
) {
  const { tool, argumentsOf } = compile(dialect, schema);
  const names = Object.keys((tool!.inputSchema as { properties?: object }).properties ?? {});
  const called = new Map(names.map(name => [Object.keys(argumentsOf('a__b', { [name]: 1 }))[0]!, name]));
  return Object.fromEntries(Object.entries(given).map(([name, one]) => [called.get(name) ?? name, one]));
}
