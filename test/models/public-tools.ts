// Schemas of tools that broke a provider for somebody, in the shape the thread shows, made small. `call` is a call that the server takes.

export interface PublicTool {
  /** Where it was reported. */
  readonly source: string;
  readonly what: string;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly call: Readonly<Record<string, unknown>>;
}

const DRAFT_7 = 'http://json-schema.org/draft-07/schema#';
const text = { type: 'string' };

function object(
  properties: Readonly<Record<string, unknown>>,
  more: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> {
  return { type: 'object', properties, ...more };
}

/** Filters in filters, as Notion's page properties and database queries have them. */
const FILTER = {
  anyOf: [
    object({ property: text, equals: { type: ['string', 'number', 'boolean'] } }, { required: ['property'] }),
    object({ and: { type: 'array', items: { $ref: '#/$defs/filter' } } }, { required: ['and'] }),
    object({ or: { type: 'array', items: { $ref: '#/$defs/filter' } } }, { required: ['or'] }),
  ],
};

export const PUBLIC_TOOLS: readonly PublicTool[] = [
  {
    source: 'zed-industries/zed#53919',
    what: 'lists of types, nested',
    schema: object({
      edit: object({ line: { type: ['integer', 'null'] }, to: { type: ['string', 'number'] } }),
    }),
    call: { edit: { line: null, to: 'a' } },
  },
  {
    source: 'vercel/ai#19000',
    what: 'a nullable object in a list (Dropbox move)',
    schema: object({
      entries: {
        type: 'array',
        items: { type: ['null', 'object'], required: ['path'], properties: { path: text, to: text } },
      },
    }),
    call: { entries: [{ path: '/a', to: '/b' }] },
  },
  {
    source: 'vercel/ai#19002',
    what: 'an enum behind a reference',
    schema: object(
      { locale: { $ref: '#/$defs/Locale' } },
      { $defs: { Locale: { type: 'string', enum: ['de', 'en'] } }, required: ['locale'] },
    ),
    call: { locale: 'de' },
  },
  {
    source: 'vercel/ai#19488',
    what: 'a condition that holds conditions',
    schema: object(
      { where: { $ref: '#/definitions/condition' } },
      {
        $schema: DRAFT_7,
        definitions: {
          condition: {
            anyOf: [
              object({ field: text, value: {} }, { required: ['field'], additionalProperties: false }),
              object(
                { all: { type: 'array', items: { $ref: '#/definitions/condition' } } },
                { required: ['all'], additionalProperties: false },
              ),
            ],
          },
        },
      },
    ),
    call: { where: { all: [{ field: 'a', value: 1 }] } },
  },
  {
    source: 'vercel/ai#3325',
    what: 'a reference to another property',
    schema: object({
      start: object({ col: text, row: { type: 'integer' } }, { required: ['col', 'row'] }),
      end: { $ref: '#/properties/start' },
    }),
    call: { start: { col: 'A', row: 1 }, end: { col: 'B', row: 2 } },
  },
  {
    source: 'anomalyco/opencode#12295',
    what: 'a reference with a description beside it',
    schema: object(
      { options: { type: 'array', items: { $ref: '#/$defs/Option', description: 'One answer.' } } },
      { $defs: { Option: object({ label: text }, { required: ['label'] }) } },
    ),
    call: { options: [{ label: 'yes' }] },
  },
  {
    source: 'zed-industries/zed#59938',
    what: 'constants in alternatives',
    schema: object({ mode: { anyOf: [{ const: 'fast', title: 'Fast' }, { const: 'slow' }] } }),
    call: { mode: 'slow' },
  },
  {
    source: 'taylorwilsdon/google_workspace_mcp#1099',
    what: 'operations told apart by a constant, optional by null',
    schema: object({
      ops: {
        type: 'array',
        items: {
          discriminator: { propertyName: 'type' },
          oneOf: [
            object({ type: { const: 'insert_text' }, text }, { required: ['type', 'text'] }),
            object(
              {
                type: { const: 'delete' },
                from: { anyOf: [{ type: 'integer' }, { type: 'null' }], default: null },
              },
              { required: ['type'] },
            ),
          ],
        },
      },
    }),
    call: { ops: [{ type: 'insert_text', text: 'a' }] },
  },
  {
    source: 'pizza-bot-app/pizza-bot#62',
    what: 'a positive number or null, null by default',
    schema: object({
      max_count: { anyOf: [{ type: 'integer', exclusiveMinimum: 0 }, { type: 'null' }], default: null },
    }),
    call: { max_count: 3 },
  },
  {
    source: 'tailcallhq/forgecode#3426',
    what: 'names of members of a map (zod record)',
    schema: object({
      answers: {
        type: 'object',
        propertyNames: { type: 'string', minLength: 1 },
        additionalProperties: text,
      },
    }),
    call: { answers: { a: 'b' } },
  },
  {
    source: 'decolua/9router#3018',
    what: 'limits of lists',
    schema: object({ ids: { type: 'array', items: text, uniqueItems: true, minItems: 1, contains: text } }),
    call: { ids: ['a'] },
  },
  {
    source: 'decolua/9router#2317',
    what: 'multiples',
    schema: object({ percent: { type: 'number', multipleOf: 0.5, minimum: 0, maximum: 100 } }),
    call: { percent: 1.5 },
  },
  {
    source: 'thClaws/thClaws#172',
    what: 'numbers to choose from',
    schema: object({ level: { type: 'integer', enum: [0, 1, 2] } }, { $schema: DRAFT_7 }),
    call: { level: 0 },
  },
  {
    source: 'sbroenne/mcp-server-excel#607',
    what: 'an empty text to choose',
    schema: object({ action: { type: 'string', enum: ['list', 'open', ''] } }),
    call: { action: 'list' },
  },
  {
    source: 'nanbingxyz/5ire#218',
    what: 'values without a type (Notion)',
    schema: object({
      sorts: { type: 'array', items: object({ direction: { enum: ['ascending', 'descending'] } }) },
    }),
    call: { sorts: [{ direction: 'ascending' }] },
  },
  {
    source: 'google-gemini/gemini-cli#5923',
    what: 'filters in filters (Notion)',
    schema: object({ filter: { $ref: '#/$defs/filter' } }, { $defs: { filter: FILTER } }),
    call: { filter: { and: [{ property: 'a', equals: 'b' }] } },
  },
  {
    source: 'makenotion/notion-mcp-server#102',
    what: 'all of several in a property',
    schema: object({
      data: {
        allOf: [
          object({ page_id: text }, { required: ['page_id'] }),
          object({ archived: { type: 'boolean' } }),
        ],
      },
    }),
    call: { data: { page_id: 'a', archived: true } },
  },
  {
    source: 'makenotion/notion-mcp-server#341',
    what: 'one of several at the root',
    schema: {
      type: 'object',
      oneOf: [
        object({ command: { const: 'create' }, title: text }, { required: ['command', 'title'] }),
        object({ command: { const: 'delete' }, id: text }, { required: ['command', 'id'] }),
      ],
    },
    call: { command: 'delete', id: 'a' },
  },
  {
    source: 'anthropics/claude-code#95504',
    what: 'conditions at the root',
    schema: object(
      { mode: { type: 'string', enum: ['small', 'large'] }, size: { type: 'integer' } },
      {
        required: ['mode'],
        allOf: [
          {
            if: { properties: { mode: { const: 'small' } } },
            // biome-ignore lint/suspicious/noThenProperty: it is a keyword of JSON Schema
            then: { properties: { size: { maximum: 10 } } },
            else: { properties: { size: { maximum: 100 } } },
          },
        ],
      },
    ),
    call: { mode: 'large', size: 50 },
  },
  {
    source: 'aliargun/mcp-server-gemini#12',
    what: 'one of two arguments',
    schema: object(
      { prompt: text, imageUrl: text, imageBase64: text },
      { required: ['prompt'], oneOf: [{ required: ['imageUrl'] }, { required: ['imageBase64'] }] },
    ),
    call: { prompt: 'a', imageUrl: 'https://a.example' },
  },
  {
    source: 'DeusData/codebase-memory-mcp#1524',
    what: 'any of two arguments',
    schema: object(
      { project: text, paths: { type: 'array', items: text }, scopes: { type: 'array', items: text } },
      { required: ['project'], anyOf: [{ required: ['paths'] }, { required: ['scopes'] }] },
    ),
    call: { project: 'a', paths: ['b'] },
  },
  {
    source: 'beautyfree/appstore-connect-mcp#2',
    what: 'brackets in names',
    schema: object(
      {
        'filter[id]': text,
        'filter[name]': { anyOf: [text, { type: 'array', items: text }] },
        filter_id_: text,
      },
      { required: ['filter[id]'] },
    ),
    call: { 'filter[id]': 'a', 'filter[name]': ['b'] },
  },
  {
    source: 'anthropics/claude-code#79418',
    what: 'names with a space, an at and more than 64 characters',
    schema: object({ 'first name': text, '@type': text, $filter: text, ['x'.repeat(70)]: text }),
    call: { 'first name': 'a', '@type': 'b', $filter: 'c', ['x'.repeat(70)]: 'd' },
  },
  {
    source: 'Dokploy/mcp#74',
    what: 'an exclusive minimum of draft 4',
    schema: object(
      { ttl: { type: 'integer', exclusiveMinimum: true, minimum: 0, maximum: 9007199254740991 } },
      { $schema: 'https://json-schema.org/draft/2020-12/schema' },
    ),
    call: { ttl: 60 },
  },
  {
    source: 'tadata-org/fastapi_mcp#218',
    what: 'words of OpenAPI',
    schema: object({
      name: {
        type: 'string',
        nullable: true,
        example: 'a',
        examples: { a: { value: 'b' } },
        readOnly: false,
      },
      at: { type: 'string', format: 'date-time' },
      count: { type: 'integer', format: 'int64' },
      id: { type: 'string', format: 'uuid' },
    }),
    call: { name: 'a', at: '2026-11-30T00:00:00Z', count: 1, id: '1b4e28ba-2fa1-11d2-883f-0016d3cca427' },
  },
  {
    source: 'PrefectHQ/fastmcp#2464',
    what: 'an optional pair',
    schema: object({
      figsize: {
        anyOf: [
          { type: 'array', prefixItems: [{ type: 'number' }, { type: 'number' }], minItems: 2, maxItems: 2 },
          { type: 'null' },
        ],
        default: [10, 6],
        title: 'Figsize',
      },
    }),
    call: { figsize: [1, 2] },
  },
  {
    source: 'anomalyco/opencode#32488',
    what: 'a pair as older drafts write it',
    schema: object({
      range: { type: 'array', items: [{ type: 'integer' }, text], additionalItems: false, maxItems: 2 },
    }),
    call: { range: [1, 'a'] },
  },
  {
    source: 'apify/apify-mcp-server#36',
    what: 'a list of nobody knows what',
    schema: object({ outputFormats: { type: 'array', default: ['markdown'], title: 'Output formats' } }),
    call: { outputFormats: ['markdown'] },
  },
  {
    source: 'openai/openai-agents-python#449',
    what: 'no arguments',
    schema: { $schema: DRAFT_7, title: 'EmptyObject', type: 'object' },
    call: {},
  },
  {
    source: 'codefuturist/email-mcp#58',
    what: 'a pattern that looks ahead (zod email)',
    schema: object({
      to: {
        type: 'array',
        items: { type: 'string', format: 'email', pattern: '^(?!\\.)(?!.*\\.\\.)[^@]+@[^@]+$' },
      },
    }),
    call: { to: ['a@b.example'] },
  },
  {
    source: 'ggml-org/llama.cpp#25895',
    what: 'a pattern in a list',
    schema: object({
      ids: {
        type: 'array',
        items: { type: 'string', pattern: '^(\\d+|imap:[A-Za-z0-9_-]+)$' },
        maxItems: 100,
      },
    }),
    call: { ids: ['1'] },
  },
  {
    source: 'firecrawl/firecrawl#4512',
    what: 'ten thousand characters at most',
    schema: object({ options: object({ prompt: { type: 'string', maxLength: 10_000 } }) }),
    call: { options: { prompt: 'a' } },
  },
  {
    source: 'ollama/ollama#10328',
    what: 'an optional argument as a list of types',
    schema: object(
      { zone: { type: ['string', 'null'], description: 'A time zone.' } },
      { required: ['zone'] },
    ),
    call: { zone: 'Europe/Vienna' },
  },
  {
    source: 'mlc-ai/xgrammar#487',
    what: 'members by the pattern of their names',
    schema: object(
      { name: text },
      { patternProperties: { '^grade$': text, '^x-': { type: 'integer' } }, required: ['name'] },
    ),
    call: { name: 'a', grade: 'B', 'x-a': 1 },
  },
  {
    source: 'DaCodeChick/GhidraMCP#7',
    what: 'members without a type',
    schema: object({
      fields: { items: { properties: { name: text, size: {} } } },
      note: { description: 'Any.' },
    }),
    call: { fields: [{ name: 'a', size: 4 }], note: 'b' },
  },
  {
    source: 'anomalyco/opencode#3140',
    what: 'a required argument that is not described',
    schema: object({ query: text }, { required: ['query', 'limit'] }),
    call: { query: 'a', limit: 1 },
  },
  {
    source: 'matthewhand/mcp-openapi-proxy#16',
    what: 'a list without items, and schemas that are true and false',
    schema: object({ tags: { type: 'array', description: 'Tags.' }, body: true, never: false }),
    call: { tags: ['a'], body: { a: 1 } },
  },
];

/** What no provider can be given: the tool is set aside with the reason. */
export const BROKEN_TOOLS: readonly Omit<PublicTool, 'call'>[] = [
  {
    source: 'smallmain/vscode-unify-chat-provider#162',
    what: 'a property that is no schema',
    schema: { type: 'object', properties: { filePath: text, type: 'object' } },
  },
  {
    source: 'esengine/DeepSeek-Reasonix#6604',
    what: 'required that is null',
    schema: { type: 'object', properties: { path: text }, required: null },
  },
  {
    source: 'openclaw/openclaw#153687',
    what: 'three thousand levels',
    schema: nested(3_000),
  },
];

function nested(levels: number): Readonly<Record<string, unknown>> {
  let schema = object({});
  for (let level = 0; level < levels; level++) schema = object({ x: schema });
  return schema;
}
