import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { PlatformError } from '../../kernel/errors.ts';
import type { DocumentSchema } from './document-type.ts';
import { parseDocument, parseStored, parseStrictly } from './parse-document.ts';

const circle = z.strictObject({ type: z.literal('circle'), radius: z.int() });
const box = z.strictObject({ type: z.literal('box'), inner: z.strictObject({ width: z.int() }) });
const free = z.looseObject({
  type: z.string().refine(type => type !== 'circle' && type !== 'box', { abort: true }),
});
const drawing = {
  type: 'output',
  body: z.strictObject({
    title: z.string().default('untitled'),
    shapes: z.array(z.union([circle, box, free])),
    layers: z
      .array(
        z.strictObject({ name: z.string(), mode: z.enum(['on', 'off']).optional() }).transform(l => l.name),
      )
      .optional(),
  }),
} as const satisfies DocumentSchema;

function refusal(body: unknown): PlatformError {
  try {
    parseDocument(drawing, body);
  } catch (error) {
    if (error instanceof PlatformError) return error;
    throw error;
  }
  throw new Error('was accepted');
}

describe('a document being written', () => {
  it('comes back with its defaults and transforms', () => {
    expect(parseDocument(drawing, { shapes: [], layers: [{ name: 'top' }] })).toEqual({
      title: 'untitled',
      shapes: [],
      layers: ['top'],
    });
  });

  it('is refused for an unknown key, naming field, type, path and the known fields there', () => {
    const error = refusal({ shapes: [], layers: [{ name: 'a' }, { name: 'b', mood: 1 }] });
    expect(error.kind).toBe('invalid');
    expect(error.message).toBe(
      'output document: field "mood" at $.layers[1].mood is unknown (known fields there: name, mode).',
    );
    expect(error.details).toEqual({ path: '$.layers[1].mood', field: 'mood', knownFields: ['name', 'mode'] });
  });

  it('is refused for a wrong value, naming the same and what is expected', () => {
    expect(refusal({ shapes: [], layers: [{ name: 'a', mode: 'dim' }] }).message).toBe(
      'output document: field "mode" at $.layers[0].mode is not valid: expected one of "on"|"off" (known fields there: name, mode).',
    );
  });

  it('is judged by the alternative its type names', () => {
    expect(refusal({ shapes: [{ type: 'box', inner: { width: 1, height: 2 } }] }).message).toBe(
      'output document: field "height" at $.shapes[0].inner.height is unknown (known fields there: width).',
    );
    expect(refusal({ shapes: [{ type: 'circle', radius: 'big' }] }).message).toContain(
      'field "radius" at $.shapes[0].radius is not valid: expected number, received string',
    );
    expect(refusal({ shapes: [{ kind: 'circle' }] }).message).toContain('field "type" at $.shapes[0].type');
    expect(parseDocument(drawing, { shapes: [{ type: 'star', points: 5 }] }).shapes).toHaveLength(1);
  });

  it('is refused as a whole when it is no object', () => {
    expect(refusal('x').message).toBe(
      'output document: the whole value is not valid: expected object, received string (known fields there: title, shapes, layers).',
    );
  });

  it('names at most five problems and counts the rest', () => {
    const message = refusal({ shapes: [], a: 1, b: 1, c: 1, d: 1, e: 1, f: 1, 'odd key': 1 }).message;
    expect(message).toContain('field "e" at $.e is unknown');
    expect(message).toMatch(/; and 2 more\.$/);
    expect(refusal({ shapes: [], 'odd key': 1 }).message).toContain('at $["odd key"]');
  });

  it('is refused when it is nested deeper than the stack, not crashed on', () => {
    const tree: z.ZodType = z.lazy(() => z.strictObject({ below: tree.optional() }));
    let deep: unknown = {};
    for (let i = 0; i < 100_000; i++) deep = { below: deep };
    expect(() => parseStrictly('tree', tree, deep)).toThrow('tree: is nested too deeply.');
  });
});

describe('a stored document', () => {
  it('is read without the keys that are not known (any more), at any depth', () => {
    const stored = {
      colour: 'red',
      shapes: [{ type: 'box', inner: { width: 1, height: 2 }, shadow: true }],
      layers: [{ name: 'top', mood: 1 }],
    };
    const before = structuredClone(stored);
    expect(parseStored(drawing, stored)).toEqual({
      title: 'untitled',
      shapes: [{ type: 'box', inner: { width: 1 } }],
      layers: ['top'],
    });
    expect(stored).toEqual(before);
  });

  it('is still refused for a wrong value', () => {
    expect(() => parseStored(drawing, { old: 1, shapes: 7 })).toThrow(
      'field "shapes" at $.shapes is not valid',
    );
  });
});
