import { Ajv2020 } from 'ajv/dist/2020.js';
import type { SchemaDialect } from '../../packages/server/src/agents/model/providers.ts';
import { isObject } from '../../packages/server/src/kernel/json.ts';

// What providers refuse of the schema of a tool's arguments, written down from what they document and answer; each rule has where it is from.
// Nothing here is shared with the code that it judges.

type Schema = Readonly<Record<string, unknown>>;

/** What the provider would say against it; empty when it takes it. */
export function refusalsOf(dialect: SchemaDialect, schema: object): string[] {
  return RULES[dialect](schema as Schema);
}

const RULES: Readonly<Record<SchemaDialect, (schema: Schema) => string[]>> = {
  anthropic: schema => [
    // anthropics/claude-code#586, tadata-org/fastapi_mcp#218, Dokploy/mcp#74: "It must match JSON Schema draft 2020-12".
    ...metaSchema(schema),
    ...object(schema),
    // makenotion/notion-mcp-server#341: "input_schema does not support oneOf, allOf, or anyOf at the top level".
    ...without(schema, ['oneOf', 'allOf', 'anyOf']),
    // anthropics/claude-code#79418, decocms/studio#6874: top-level keys only.
    ...Object.keys(members(schema))
      .filter(name => !/^[a-zA-Z0-9_.-]{1,64}$/.test(name))
      .map(name => `Property keys should match pattern: ${name}`),
    ...references(schema),
  ],
  openai: schema => [
    // The messages quote the meta-schema: openai/openai-agents-python#449 ("None is not of type 'object'"), smallmain/vscode-unify-chat-provider#162.
    ...metaSchema(schema),
    ...object(schema),
    // langchain-ai/langchainjs#9804: "must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level".
    ...without(schema, ['oneOf', 'anyOf', 'allOf', 'enum', 'not']),
    // github/github-mcp-server#1548: "In context=(), object schema missing properties".
    ...(isObject(schema.properties) ? [] : ['object schema missing properties']),
    ...everywhere(schema, (one, path) => [
      // digitalocean-labs/mcp-digitalocean#265, PrefectHQ/fastmcp#2464: "array schema missing items".
      ...([one.type].flat().includes('array') && one.items === undefined
        ? [`array schema missing items at ${path}`]
        : []),
      // `normalizeOpenAIJsonSchema` of @ai-sdk/openai 4.0.118 takes the first out or throws, and takes the second out.
      ...(one.propertyNames === undefined ? [] : [`propertyNames at ${path}`]),
      ...(typeof one.pattern === 'string' && /\(\?<?[=!]/.test(one.pattern) ? [`lookaround at ${path}`] : []),
    ]),
    ...references(schema),
  ],
  gemini: schema => [
    ...object(schema),
    // cloud.google.com, FunctionDeclaration: names of parameters.
    ...Object.keys(members(schema))
      .filter(name => !/^[A-Za-z_][A-Za-z0-9_]{0,63}$/.test(name))
      .map(name => `parameter name: ${name}`),
    ...everywhere(schema, (one, path) => [
      // GenerationConfig.responseJsonSchema lists what is supported; of that list, without what stands for references.
      ...Object.keys(one)
        .filter(keyword => !GEMINI.has(keyword))
        .map(keyword => `${keyword} at ${path}`),
      ...geminiNode(one, path),
    ]),
    // google-gemini/gemini-cli#5923: "exceeds the maximum allowed nesting depth".
    ...(depthOf(schema) > 8 ? ['nested too deeply'] : []),
  ],
  plain: schema => [
    ...metaSchema(schema),
    ...object(schema),
    // Those that hand requests on to OpenAI or Anthropic refuse what these refuse.
    ...without(schema, ['oneOf', 'anyOf', 'allOf', 'enum', 'not']),
    ...(isObject(schema.properties) ? [] : ['object schema missing properties']),
    ...everywhere(schema, (one, path) => [
      // codefuturist/email-mcp#58 and ggml-org/llama.cpp#25895 (patterns), ggml-org/llama.cpp#16790 (references),
      // mlc-ai/xgrammar#487 and noonghunna/club-3090#45 (patterns of names), mlc-ai/xgrammar#192 and vllm-project/vllm#16880 (what grammars lack).
      ...Object.keys(one)
        .filter(keyword => NO_GRAMMAR.has(keyword))
        .map(keyword => `${keyword} at ${path}`),
      // firecrawl/firecrawl#4512: "number of rules that are going to be repeated ... exceeds sane defaults".
      ...['maxLength', 'maxItems', 'minLength', 'minItems']
        .filter(keyword => Number(one[keyword]) > 64)
        .map(keyword => `${keyword} at ${path}`),
      // A grammar has a rule for each value.
      ...(Array.isArray(one.enum) && one.enum.length > 256 ? [`enum at ${path}`] : []),
      // ollama/ollama#10328: "cannot unmarshal array into Go struct field ... of type string".
      ...(one.type === undefined || typeof one.type === 'string' ? [] : [`type at ${path}`]),
      ...(one.type === 'array' && one.items === undefined ? [`array schema missing items at ${path}`] : []),
      // ThinkInAIXYZ/go-mcp#170: "cannot unmarshal bool".
      ...[...Object.values(members(one)), one.items ?? {}]
        .filter(inner => typeof inner === 'boolean')
        .map(() => `a boolean in ${path}`),
    ]),
    ...(depthOf(schema) > 64 ? ['nested too deeply'] : []),
  ],
};

const GEMINI = new Set([
  'type',
  'format',
  'title',
  'description',
  'enum',
  'items',
  'minItems',
  'maxItems',
  'minimum',
  'maximum',
  'anyOf',
  'properties',
  'additionalProperties',
  'required',
]);

const NO_GRAMMAR = new Set([
  ...['$ref', '$dynamicRef', 'pattern', 'format', 'patternProperties', 'propertyNames', 'dependentRequired'],
  ...['uniqueItems', 'contains', 'multipleOf', 'minProperties', 'maxProperties', 'not', 'if', 'then', 'else'],
  ...['dependentSchemas', 'unevaluatedProperties', 'unevaluatedItems'],
]);
const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']);

function geminiNode(one: Schema, path: string): string[] {
  if (one.anyOf !== undefined) {
    // vercel/ai#19000: "When using any_of, it must be the only field set".
    return Object.keys(one).length === 1 ? [] : [`fields beside anyOf at ${path}`];
  }
  const values = Array.isArray(one.enum) ? one.enum : [];
  return [
    // DaCodeChick/GhidraMCP#7 (no type), zed-industries/zed#53919 (a list of types).
    ...(TYPES.has(String(one.type)) && typeof one.type === 'string' ? [] : [`type at ${path}`]),
    // NousResearch/hermes-agent#71804.
    ...(one.type === 'array' && !isObject(one.items) ? [`items missing at ${path}`] : []),
    ...(one.additionalProperties === undefined || isObject(one.additionalProperties)
      ? []
      : [`additionalProperties at ${path}`]),
    // sbroenne/mcp-server-excel#607: "cannot be empty"; the documentation: "enum (for strings and numbers)".
    ...(Array.isArray(one.enum) && values.length === 0 ? [`empty enum at ${path}`] : []),
    ...(values.every(value => typeof value === (one.type === 'string' ? 'string' : 'number') && value !== '')
      ? []
      : [`enum at ${path}`]),
    // CherryHQ/cherry-studio#4153 quotes the formats.
    ...(one.format === undefined || FORMATS[String(one.type)]?.includes(String(one.format))
      ? []
      : [`format at ${path}`]),
    ...undefinedRequired(one, path),
  ];
}

const FORMATS: Readonly<Record<string, readonly string[]>> = {
  string: ['enum', 'date-time'],
  number: ['float', 'double'],
  integer: ['int32', 'int64'],
};

const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false });

function metaSchema(schema: Schema): string[] {
  // A declared older draft is the declaration's business: both providers read 2020-12.
  const { $schema: _, ...rest } = schema;
  return ajv.validateSchema(rest) === true ? [] : [ajv.errorsText(ajv.errors)];
}

function object(schema: Schema): string[] {
  return schema.type === 'object' ? [] : ['the root is no object'];
}

function without(schema: Schema, keywords: readonly string[]): string[] {
  return keywords.filter(keyword => schema[keyword] !== undefined).map(keyword => `${keyword} at the root`);
}

function members(schema: unknown): Schema {
  return isObject(schema) && isObject(schema.properties) ? schema.properties : {};
}

/** "required[0]: property is not defined". */
function undefinedRequired(schema: Schema, path: string): string[] {
  return [schema.required ?? []]
    .flat()
    .filter(name => !Object.hasOwn(members(schema), String(name)))
    .map(name => `required names ${name} at ${path}`);
}

const ONE = ['items', 'additionalProperties', 'not', 'if', 'then', 'else', 'contains', 'propertyNames'];
const LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const MAPS = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'];

function inside(schema: Schema): [path: string, schema: unknown][] {
  return [
    ...ONE.map((keyword): [string, unknown] => [keyword, schema[keyword]]),
    ...LISTS.flatMap(keyword =>
      Array.isArray(schema[keyword])
        ? schema[keyword].map((one, index): [string, unknown] => [`${keyword}/${index}`, one])
        : [],
    ),
    ...MAPS.flatMap(keyword =>
      isObject(schema[keyword])
        ? Object.entries(schema[keyword]).map(([name, one]): [string, unknown] => [`${keyword}/${name}`, one])
        : [],
    ),
  ];
}

function everywhere(root: Schema, look: (schema: Schema, path: string) => string[]): string[] {
  const found: string[] = [];
  const waiting: [string, unknown][] = [['', root]];
  for (const [path, schema] of waiting) {
    if (!isObject(schema)) continue;
    found.push(...look(schema, path === '' ? 'the root' : path));
    waiting.push(...inside(schema).map(([at, one]): [string, unknown] => [`${path}/${at}`, one]));
  }
  return found;
}

/** Values in values. */
function depthOf(schema: unknown): number {
  if (!isObject(schema)) return 0;
  const around = [schema.items, schema.additionalProperties, ...Object.values(members(schema))];
  const beside = Array.isArray(schema.anyOf) ? schema.anyOf : [];
  return Math.max(0, ...around.filter(isObject).map(one => 1 + depthOf(one)), ...beside.map(depthOf));
}

function references(root: Schema): string[] {
  return everywhere(root, ({ $ref }, path) => {
    if ($ref === undefined) return [];
    const parts = String($ref).split('/');
    let at: unknown = parts[0] === '#' ? root : undefined;
    for (const part of parts.slice(1)) {
      const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
      at = isObject(at) || Array.isArray(at) ? (at as Record<string, unknown>)[key] : undefined;
    }
    return isObject(at) ? [] : [`reference to nothing at ${path}: ${$ref}`];
  });
}
