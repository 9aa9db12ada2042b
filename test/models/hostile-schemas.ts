// Schemas of servers that want somebody to be busy: small to send, large when they are followed (attack 42).

type Schema = Readonly<Record<string, unknown>>;

const many = <T>(count: number, one: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => one(index));
const named = (count: number, one: (index: number) => unknown): Schema =>
  Object.fromEntries(many(count, index => [`p${index}`, one(index)]));
const to = (name: string): Schema => ({ $ref: `#/$defs/${name}` });

/** A definition that is referred to from many places. */
function everywhere(often: Schema): Schema {
  return { type: 'object', properties: named(1_500, () => to('often')), $defs: { often } };
}

function chain(length: number, link: (next: Schema) => Schema): Schema {
  const defs = many(length, index => [`d${index}`, index + 1 < length ? link(to(`d${index + 1}`)) : {}]);
  return { type: 'object', properties: { a: to('d0') }, $defs: Object.fromEntries(defs) };
}

function deep(levels: number): Schema {
  let schema: Schema = { type: 'string' };
  for (let level = 0; level < levels; level++) schema = { type: 'object', properties: { a: schema } };
  return schema;
}

const words = many(4_000, index => `word ${index}`);

export const HOSTILE: Readonly<Record<string, Schema>> = {
  'two references in each of sixty': chain(60, next => ({
    type: 'object',
    properties: { l: next, r: next },
  })),
  'two alternatives in each of sixty': chain(60, next => ({ anyOf: [next, next, { type: 'null' }] })),
  'lists of lists of lists': chain(60, next => ({ type: 'array', items: next, prefixItems: [next, next] })),
  'the root in itself, four times': {
    type: 'object',
    properties: { a: { $ref: '#' }, b: { $ref: '#' }, c: { $ref: '#' }, d: { items: { $ref: '#' } } },
  },
  'a circle of references': {
    type: 'object',
    properties: { a: to('a') },
    $defs: { a: { allOf: [to('b')] }, b: { anyOf: [to('a'), { type: 'string' }] } },
  },
  'a long description, often': everywhere({ type: 'string', description: 'x'.repeat(60_000) }),
  'a long default, often': everywhere({ default: 'x'.repeat(60_000) }),
  'long lists of values, often': everywhere({ allOf: [{ enum: words }, { enum: words }] }),
  'a long condition, often': everywhere({ not: { enum: words }, if: { enum: words } }),
  'a long tuple, often': everywhere({ prefixItems: many(4_000, index => ({ const: index })) }),
  'many members, often': everywhere({ type: 'object', properties: named(1_500, () => to('often')) }),
  'many alternatives, often': everywhere({
    anyOf: many(2_000, index => ({ type: 'string', maxLength: index })),
  }),
  'choices in choices': {
    type: 'object',
    allOf: many(60, () => ({ anyOf: many(60, index => ({ properties: { [`p${index}`]: {} } })) })),
    properties: { a: { allOf: many(60, () => ({ oneOf: many(60, index => ({ minLength: index })) })) } },
  },
  'names that are the same once they can be written': {
    type: 'object',
    properties: Object.fromEntries(many(8_000, index => [String.fromCodePoint(0x4e00 + index), {}])),
  },
  'twenty-five levels': deep(25),
  'a hundred levels': deep(100),
  'a pattern that never ends': {
    type: 'object',
    properties: {
      a: { type: 'string', pattern: '^(a+)+$' },
      b: { type: 'string', pattern: '('.repeat(20_000) },
    },
  },
  'references to elsewhere': {
    type: 'object',
    properties: { a: { $ref: 'https://evil.example/schema.json' }, b: { $ref: 'file:///etc/passwd#/a' } },
  },
};
