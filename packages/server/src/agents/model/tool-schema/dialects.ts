import type { SchemaDialect } from '../providers.ts';
import type { Refusals } from './mend-schema.ts';
import type { Subset } from './rebuild-schema.ts';
import { MAX_VALUES } from './value-types.ts';

/** What a provider takes of the tools of a request. */
export interface Dialect {
  /** Of a tool. */
  readonly name: RegExp;
  /** In one request. */
  readonly tools: number;
  /** Of an argument, where providers look at these. */
  readonly argument?: RegExp;
  readonly schema: Taken;
}

/** All of JSON Schema but some of it, only some of it, or the first, and the second for a schema with references. */
export type Taken =
  | { readonly refuses: Refusals; readonly takes?: undefined }
  | { readonly refuses?: undefined; readonly takes: Subset }
  | { readonly refuses: Refusals; readonly takes: Subset };

/** Grammars write out how often something may be repeated, and give up where that is often. */
const SHORT = { minLength: 64, maxLength: 64, minItems: 16, maxItems: 16 };

export const DIALECTS: Readonly<Record<SchemaDialect, Dialect>> = {
  anthropic: {
    name: /^[A-Za-z0-9_-]{1,128}$/,
    // Nothing is said of a limit: a list that long would not fit into a request.
    tools: 10_000,
    argument: /^[A-Za-z0-9_.-]{1,64}$/,
    schema: {
      refuses: {
        ...{ atRoot: ['allOf', 'anyOf', 'oneOf', '$ref'], anywhere: [], atMost: {} },
        ...{ needsStructure: false, lookaround: true },
      },
    },
  },
  // Function tools that are not strict.
  openai: {
    name: /^[A-Za-z0-9_-]{1,64}$/,
    tools: 128,
    schema: {
      refuses: {
        atRoot: ['allOf', 'anyOf', 'oneOf', 'enum', 'const', 'not', '$ref'],
        ...{ anywhere: ['propertyNames'], atMost: {}, needsStructure: true, lookaround: false },
      },
    },
  },
  // What `parametersJsonSchema` documents, in words that the older `parameters` takes as well where there are any: gateways in front of Gemini
  // still translate to it.
  gemini: {
    name: /^[A-Za-z_][A-Za-z0-9_.:-]{0,63}$/,
    tools: 512,
    argument: /^[A-Za-z_][A-Za-z0-9_]{0,63}$/,
    schema: {
      takes: {
        limits: {
          number: ['minimum', 'maximum'],
          integer: ['minimum', 'maximum'],
          array: ['minItems', 'maxItems'],
        },
        formats: { string: ['date-time'], number: ['float', 'double'], integer: ['int32', 'int64'] },
        ...{ atMost: {}, defaults: false, emptyTexts: false, untyped: false },
      },
    },
  },
  // What servers with a grammar of their own take, each of them: Ollama reads one type and no boolean schemas, llama.cpp no patterns and no long
  // limits, vLLM no patterns of names and few formats. Groq and DeepSeek document the number of tools of the interface that they copy.
  plain: {
    name: /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/,
    tools: 128,
    schema: {
      refuses: {
        atRoot: ['allOf', 'anyOf', 'oneOf', 'enum', 'const', 'not'],
        anywhere: [
          ...['pattern', 'format', 'patternProperties', 'propertyNames', 'minProperties', 'maxProperties'],
          ...[
            'uniqueItems',
            'contains',
            'minContains',
            'maxContains',
            'multipleOf',
            'not',
            'if',
            'then',
            'else',
          ],
          ...['dependentRequired', 'dependentSchemas', 'unevaluatedProperties', 'unevaluatedItems'],
          ...['$dynamicRef', '$recursiveRef', 'contentSchema'],
        ],
        ...{ atMost: SHORT, values: MAX_VALUES, needsStructure: true, lookaround: false },
      },
      takes: {
        limits: {
          string: ['minLength', 'maxLength'],
          number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
          integer: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
          array: ['minItems', 'maxItems'],
        },
        ...{ formats: {}, atMost: SHORT, defaults: true, emptyTexts: true, untyped: true },
      },
    },
  },
};
