import manifest from '../package.json' with { type: 'json' };
import { ERROR_TABLE, type ErrorKind } from './errors.ts';
import { sendsBody } from './operation.ts';
import { ERROR_MEANINGS, errorsOf } from './operation-errors.ts';
import { listDocs, readDocs } from './operations/docs.ts';
import { createResource } from './operations/documents.ts';
import { readFile } from './operations/files.ts';
import { discoverMcpTools } from './operations/servers.ts';
import {
  answerSchema,
  describeOperations,
  FAMILIES,
  type JsonSchema,
  type OperationReference,
  type RecordedExamples,
} from './reference.ts';
import { TIERS } from './roles.ts';

const REST_ROOT = '/api/v1';

const DESCRIPTION = [
  'Every operation of the platform, with the names, defaults and rights it also has as a tool of the operator door and as a command. The doors for MCP clients are not here: MCP describes itself.',
  'A request whose `Host` or `Origin` is not ours is refused before any of this, with status 403.',
].join('\n\n');

const SEED_NAMES = {
  name: 'Seed names',
  description: 'Paths of the reference platform: aliases of our operations, in its formats.',
};
const PROBES = { name: 'Probes', description: 'For what runs and watches the platform.' };

type Json = Record<string, unknown>;

const FILES_FAMILY = readFile.family;

/**
 * The REST surface as an OpenAPI 3.1 document, made of the definitions and of nothing else. It says nothing of an
 * installation: no address, no setting, no name. So it is the same for everybody.
 */
export function renderOpenApi(examples?: RecordedExamples): Json {
  const errors = errorResponses();
  const paths: Record<string, Json> = {};
  const add = (method: string, path: string, operation: Json) => {
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation };
  };
  for (const reference of describeOperations(examples)) {
    const { method, path } = reference.definition.rest;
    add(method, REST_ROOT + path, operationOf(reference, errors.refer));
  }
  for (const [route, operation] of Object.entries(fixedRoutes(errors.refer))) {
    const [method, path] = route.split(' ') as [string, string];
    add(method, path, operation);
  }

  return {
    openapi: '3.1.1',
    info: {
      title: 'Patchbay',
      version: manifest.version,
      summary:
        'A two-way MCP platform: every agent is an MCP server, and every MCP server is an agent’s tool.',
      description: DESCRIPTION,
      license: { name: manifest.license, identifier: manifest.license },
    },
    servers: [
      { url: '/', description: 'The platform that serves this document' },
      { url: 'http://127.0.0.1:7070', description: 'A platform on this machine with the usual settings' },
    ],
    security: [{ bearer: [] }],
    tags: [...FAMILIES, SEED_NAMES, PROBES],
    paths,
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description:
            'A user key (`oag_...`) with the scope `operator`: `npx patchbay keys create --scope operator`',
        },
        userKey: {
          type: 'http',
          scheme: 'bearer',
          description:
            'Any user key (`oag_...`), with the scope `agents` or `operator`: `npx patchbay keys create`. No agent key (`bak_...`).',
        },
      },
      schemas: { Error: errorSchema() },
      responses: errors.responses,
    },
  };
}

function operationOf(reference: OperationReference, refer: ReferErrors): Json {
  const { definition, roles, answer, frame, successStatus, example } = reference;
  const { parameters, body } = splitArguments(reference);
  return {
    operationId: definition.name,
    tags: [definition.family.name],
    summary: definition.title,
    description: definition.description,
    'x-roles': roles,
    ...(definition.rest.surface === 'agents' && { security: [{ userKey: [] }] }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: body }),
    responses: {
      [successStatus]: {
        description: 'What the operation answers',
        ...(successStatus !== 204 && {
          content: {
            'application/json': { schema: answer, ...(example && { example: example.answer }) },
            ...(frame && { 'text/event-stream': { schema: frame } }),
          },
        }),
      },
      ...refer(reference.errors),
    },
  };
}

/** Where each argument goes: into the path, and the rest into the query or the JSON body. */
function splitArguments(reference: OperationReference): { parameters: Json[]; body: Json | undefined } {
  const { definition, example } = reference;
  const { properties, required } = reference.arguments;
  const { method, path } = definition.rest;
  const names = Object.keys(properties);
  const inPath = names.filter(name => path.includes(`{${name}}`));
  const others = names.filter(name => !inPath.includes(name));

  const parameter = (place: 'path' | 'query') => (name: string) => {
    const { description, ...schema } = properties[name]!;
    const value = example?.arguments[name];
    return {
      name,
      in: place,
      ...((place === 'path' || required.includes(name)) && { required: true }),
      description,
      schema,
      ...(value !== undefined && { example: value }),
    };
  };
  const parameters = inPath.map(parameter('path'));
  if (!sendsBody(method))
    return { parameters: [...parameters, ...others.map(parameter('query'))], body: undefined };

  const schema = {
    type: 'object',
    properties: pick(properties, others),
    required: required.filter(name => others.includes(name)),
    additionalProperties: false,
  };
  const content = { schema, ...(example && { example: pick(example.arguments, others) }) };
  // Also where every argument may be left out: the body is an object, if an empty one.
  return { parameters, body: { required: true, content: { 'application/json': content } } };
}

function pick(from: Readonly<Json>, names: readonly string[]): Json {
  return Object.fromEntries(names.filter(name => Object.hasOwn(from, name)).map(name => [name, from[name]]));
}

type ReferErrors = (kinds: readonly ErrorKind[]) => Json;

/** Kinds that share a status share a response; each combination is described once. */
function errorResponses(): { readonly responses: Json; readonly refer: ReferErrors } {
  const responses: Json = {};
  const refer: ReferErrors = kinds =>
    Object.fromEntries(
      [...Map.groupBy(kinds, kind => ERROR_TABLE[kind].httpStatus)].map(([status, group]) => {
        const name = group.join('_or_');
        responses[name] ??= errorResponse(group);
        return [status, { $ref: `#/components/responses/${name}` }];
      }),
    );
  return { responses, refer };
}

function errorResponse(kinds: readonly ErrorKind[]): Json {
  const rows = kinds.map(kind => ERROR_TABLE[kind]);
  const error = {
    properties: {
      type: { enum: distinct(rows.map(row => row.type)) },
      code: { enum: distinct(rows.map(row => row.agentCode)) },
    },
  };
  return {
    description: kinds
      .map(kind => `\`${ERROR_TABLE[kind].agentCode}\`: ${ERROR_MEANINGS[kind]}`)
      .join('\n\n'),
    ...(kinds.includes('rate_limited') && {
      headers: { 'Retry-After': { description: 'Seconds to wait', schema: { type: 'integer' } } },
    }),
    ...(kinds.includes('unauthenticated') && {
      headers: { 'WWW-Authenticate': { schema: { type: 'string', const: 'Bearer' } } },
    }),
    content: {
      'application/json': {
        schema: { allOf: [{ $ref: '#/components/schemas/Error' }, { properties: { error } }] },
      },
    },
  };
}

/** BX-06. Names the operation's response does not narrow are those of the whole table. */
function errorSchema(): JsonSchema {
  const rows = Object.values(ERROR_TABLE);
  return {
    type: 'object',
    description: 'Every error looks like this.',
    properties: {
      success: { const: false },
      error: {
        type: 'object',
        properties: {
          type: { type: 'string', enum: distinct(rows.map(row => row.type)) },
          code: { type: 'string', enum: distinct(rows.map(row => row.agentCode)) },
          message: { type: 'string', description: 'A sentence for people; it names the remedy' },
          details: {
            type: 'object',
            description: 'Data for programs; an internal error has its traceId here',
          },
        },
        required: ['type', 'code', 'message'],
      },
    },
    required: ['success', 'error'],
  };
}

/** Routes that are no operations: method and path, and what is there. */
function fixedRoutes(refer: ReferErrors): Readonly<Record<string, Json>> {
  const fileSchema = answerSchema(readFile);
  return {
    [`GET ${REST_ROOT}/openapi.json`]: {
      operationId: 'openapi',
      tags: [PROBES.name],
      summary: 'This document',
      security: [],
      responses: { 200: answers('OpenAPI 3.1', 'application/json', { type: 'object' }) },
    },
    'GET /administration/docs': {
      operationId: 'administration_list_docs',
      tags: [SEED_NAMES.name],
      summary: 'List documentation pages',
      description: 'The names that list_docs answers, as an array.',
      'x-roles': TIERS[listDocs.tier],
      responses: {
        200: answers('Names of pages', 'application/json', { type: 'array', items: { type: 'string' } }),
        ...refer(['unauthenticated', 'internal']),
      },
    },
    'GET /administration/docs/{name}': {
      operationId: 'administration_read_docs',
      tags: [SEED_NAMES.name],
      summary: 'Read a documentation page',
      description: 'The markdown that read_docs answers, as text.',
      'x-roles': TIERS[readDocs.tier],
      parameters: [
        {
          name: 'name',
          in: 'path',
          required: true,
          description: 'Name of the page, without .md',
          schema: { type: 'string' },
          example: 'getting-started',
        },
      ],
      responses: {
        200: answers('Markdown', 'text/plain', { type: 'string' }),
        ...refer(['invalid', 'unauthenticated', 'not_found', 'internal']),
      },
    },
    'POST /mcpcallsstore/mcpcalls': {
      operationId: 'mcpcallsstore_create',
      tags: [SEED_NAMES.name],
      summary: 'Create an mcpcalls document',
      description: 'What create_resource does; the body is the document.',
      'x-roles': TIERS[createResource.tier],
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: { type: 'object' },
            example: { mcpServerUrl: 'https://mcp.example.com/mcp', mcpCalls: [] },
          },
        },
      },
      responses: {
        201: answers('The document, version 1', 'application/json', answerSchema(createResource)),
        ...refer(errorsOf(createResource)),
      },
    },
    'GET /mcpcallsstore/mcpcalls/discover-tools': {
      operationId: 'mcpcallsstore_discover_tools',
      tags: [SEED_NAMES.name],
      summary: 'Look at the tools of an address',
      description:
        'What discover_mcp_tools does. A key in an address may be kept by whatever stands in between: the operation takes it in its body.',
      'x-roles': TIERS[discoverMcpTools.tier],
      parameters: [
        {
          name: 'url',
          in: 'query',
          required: true,
          description: 'Where the server is',
          schema: { type: 'string' },
          example: 'http://127.0.0.1:7070/mcp',
        },
        { name: 'transport', in: 'query', description: 'http', schema: { type: 'string' } },
        {
          name: 'apiKey',
          in: 'query',
          description: 'The key itself',
          schema: { type: 'string' },
          example: 'oag_01234567...',
        },
        { name: 'limit', in: 'query', description: 'As many tools', schema: { type: 'integer' }, example: 1 },
      ],
      responses: {
        200: answers('Its tools', 'application/json', answerSchema(discoverMcpTools)),
        ...refer(errorsOf(discoverMcpTools).filter(kind => kind !== 'too_large')),
      },
    },
    [`PUT ${REST_ROOT}/files/{file_id}/content`]: {
      operationId: 'upload_file',
      tags: [FILES_FAMILY.name],
      summary: 'Upload the bytes of a file',
      description:
        'The address that presign_upload answered, which needs no other credential. The body is the file: as many bytes as were declared, of the declared type. The same bytes again change nothing.',
      security: [],
      parameters: ticketParameters(true),
      requestBody: {
        required: true,
        content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } },
      },
      responses: {
        200: answers('The file is there', 'application/json', fileSchema),
        ...refer(['invalid', 'forbidden', 'conflict', 'internal']),
      },
    },
    [`GET ${REST_ROOT}/files/{file_id}/content`]: {
      operationId: 'download_file',
      tags: [FILES_FAMILY.name],
      summary: 'The bytes of a file',
      description:
        'For its owner, or for whoever has the address that read_file answered. It comes as an attachment that no browser shows or runs.',
      security: [{ userKey: [] }],
      parameters: ticketParameters(false),
      responses: {
        200: answers('The bytes', 'application/octet-stream', { type: 'string', format: 'binary' }),
        ...refer(['unauthenticated', 'forbidden', 'not_found', 'wrong_state', 'internal']),
      },
    },
    'GET /healthz': {
      operationId: 'healthz',
      tags: [PROBES.name],
      summary: 'Does the process answer?',
      security: [],
      responses: { 200: answers('It does', 'application/json', statusSchema('ok')) },
    },
    'GET /readyz': {
      operationId: 'readyz',
      tags: [PROBES.name],
      summary: 'May requests be sent here?',
      security: [],
      responses: {
        200: answers('They may', 'application/json', readySchema()),
        503: answers('Its database does not answer', 'application/json', statusSchema('unready')),
      },
    },
    'GET /metrics': {
      operationId: 'metrics',
      tags: [PROBES.name],
      summary: 'What is counted and measured, for Prometheus',
      'x-roles': ['patchbay-admin'],
      responses: {
        200: answers('Prometheus text format', 'text/plain', { type: 'string' }),
        ...refer(['unauthenticated', 'forbidden', 'internal']),
      },
    },
  };
}

/** What makes an address of a file one of ours. */
function ticketParameters(required: boolean): Json[] {
  const parameter = (place: string, name: string, description: string, schema: JsonSchema) => ({
    name,
    in: place,
    ...((required || place === 'path') && { required: true }),
    description,
    schema,
  });
  return [
    parameter('path', 'file_id', 'Id of the file', { type: 'string' }),
    parameter('query', 'expires', 'As in the signed address', { type: 'integer' }),
    parameter('query', 'signature', 'As in the signed address', { type: 'string' }),
  ];
}

function answers(description: string, type: string, schema: JsonSchema): Json {
  return { description, content: { [type]: { schema } } };
}

function statusSchema(status: string): JsonSchema {
  return { type: 'object', properties: { status: { const: status } }, required: ['status'] };
}

function readySchema(): JsonSchema {
  const agentsInErrorCount = {
    type: 'integer',
    minimum: 0,
    description: 'Agents with a deployed version that cannot run; they stop nobody else',
  };
  return {
    type: 'object',
    properties: { status: { const: 'ready' }, agentsInErrorCount },
    required: ['status', 'agentsInErrorCount'],
  };
}

function distinct<T>(items: readonly T[]): T[] {
  return [...new Set(items)];
}
