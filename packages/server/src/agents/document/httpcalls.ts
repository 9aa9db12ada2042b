import { z } from 'zod';
import type { DocumentSchema } from './document-type.ts';
import { listOf, nameField, tooMany } from './fields.ts';
import { dataPathField, httpCodeValidatorField, listenedActions, propertyInstructions } from './property.ts';

const MAX_CALLS = 100;
const MAX_INSTRUCTIONS = 100;
const MAX_URL = 2_000;
const MAX_TEXT = 10_000;
const MAX_MEMBERS = 100;
/** The ceiling of `maxBatchSize` (platform.md 3.5). */
const MAX_BATCH = 1_000;
const DEFAULT_BATCH = 100;
const DEFAULT_TIMEOUT_MS = 30_000;
const MAX_TIMEOUT_MS = 600_000;
const DEFAULT_RESPONSE_BYTES = 2_000_000;
const MAX_RESPONSE_BYTES = 10_000_000;
const MAX_RETRIES = 10;

const METHODS = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

const template = z.string().max(MAX_TEXT, tooMany(MAX_TEXT, 'characters'));

/** A name that templates and rules reach the value by. */
export const dataName = z
  .string()
  .regex(/^[A-Za-z_][\w-]{0,99}$/, 'must be a plain name of letters, digits, "_" and "-"')
  .refine(name => name !== '__proto__', 'is reserved; choose another name');

/** Providers of models take no longer ones. */
const parameterName = dataName.max(64);

/** An empty text, as other platforms store it, is none. */
export const optionalDataName = z.union([z.literal('').transform(() => undefined), dataName]).optional();

/** An object of at most so many members; `problemOf` says what is wrong with a name, as a phrase. */
function members<T extends z.ZodType>(value: T, problemOf: (name: string) => string | undefined) {
  return z.record(z.string(), value).superRefine((record, context) => {
    const names = Object.keys(record);
    if (names.length > MAX_MEMBERS) context.addIssue(tooMany(MAX_MEMBERS, 'members'));
    for (const name of names) {
      const message = problemOf(name);
      if (message !== undefined) context.addIssue({ code: 'custom', path: [name], message });
    }
  });
}

function nameProblem(name: string): string | undefined {
  return name.length > 0 && name.length <= 200 ? undefined : 'must have a name of 1 to 200 characters';
}

function parameterProblem(name: string): string | undefined {
  const { success } = parameterName.safeParse(name);
  return success ? undefined : 'must be a plain name of at most 64 letters, digits, "_" and "-"';
}

const HEADERS_OF_THE_CONNECTION =
  /^(?:host|connection|content-length|transfer-encoding|upgrade|expect|te|trailer|keep-alive|x-patchbay-called-by|proxy-.*)$/i;

function headerProblem(name: string): string | undefined {
  if (!/^[!#$%&'*+.^`|~\w-]{1,200}$/.test(name)) return 'is not the name of an HTTP header';
  return HEADERS_OF_THE_CONNECTION.test(name) ? 'is a header that the connection sets itself' : undefined;
}

const method = z.preprocess(
  value => (typeof value === 'string' ? value.toUpperCase() : value),
  z.enum(METHODS).default('GET'),
);

const request = z.strictObject({
  path: template.default(''),
  headers: members(template, headerProblem).default({}),
  queryParams: members(template, nameProblem).default({}),
  method,
  /** Of the body; also says how the values in it are escaped. */
  contentType: z
    .string()
    .max(200, tooMany(200, 'characters'))
    .regex(/^(?:[\w.+-]+\/[\w.+-]+(?:\s*;.*)?)?$/, 'must be a media type such as "application/json"')
    .default(''),
  body: z.string().max(50_000, tooMany(50_000, 'characters')).default(''),
});

const batchRequests = z.strictObject({
  /** A list in the turn's data: one request for each of its entries. */
  pathToTargetArray: dataPathField,
  iterationObjectName: optionalDataName,
  /** A longer list is refused whole. */
  maxBatchSize: z.int().min(1).max(MAX_BATCH).default(DEFAULT_BATCH),
});

const httpCodes = { httpCodeValidator: httpCodeValidatorField.optional() };

/** Over the list at the path, or once without one. */
const iteration = {
  pathToTargetArray: dataPathField.optional(),
  iterationObjectName: optionalDataName,
  /** A template; an entry for which it renders as nothing or `false` is left out. */
  templateFilterExpression: template.optional(),
};

const outputBuildInstruction = z.strictObject({
  ...iteration,
  outputType: z
    .string()
    .regex(/^[A-Za-z][\w-]{0,63}$/, 'must be a plain word such as "text"')
    .default('text'),
  outputValue: template,
  ...httpCodes,
});

const qrBuildInstruction = z.strictObject({
  ...iteration,
  quickReplyValue: template,
  quickReplyExpressions: template.optional(),
  ...httpCodes,
});

/** An answer is tried again when the value at the path is, or contains, this; with `trueIfNoMatch` when it does not. */
const responseValuePathMatcher = z.strictObject({
  valuePath: dataPathField,
  contains: z.string().max(1_000).optional(),
  equals: z.string().max(1_000).optional(),
  trueIfNoMatch: z.boolean().default(false),
});

/** What is done with the answer of a call. */
export const postInstructions = z.strictObject({
  propertyInstructions: propertyInstructions.default([]),
  outputBuildInstructions: listOf(outputBuildInstruction, MAX_INSTRUCTIONS).default([]),
  qrBuildInstructions: listOf(qrBuildInstruction, MAX_INSTRUCTIONS).default([]),
});

const retryApiCallInstruction = z.strictObject({
  maxRetries: z.int().min(0).max(MAX_RETRIES).default(3),
  /** Before the first retry; each further one waits twice as long. */
  exponentialBackoffDelayInMillis: z.int().min(0).max(60_000).default(1_000),
  retryOnHttpCodes: listOf(z.int().min(100).max(599), 100).default([]),
  responseValuePathMatchers: listOf(responseValuePathMatcher, 20).default([]),
});

const httpCall = z
  .strictObject({
    name: nameField,
    description: z.string().max(2_000, tooMany(2_000, 'characters')).optional(),
    /** Name to description: makes the call a tool of a model, which gives a text for each. Templates of the call know them by their names. */
    parameters: members(z.string().max(2_000), parameterProblem).optional(),
    actions: listenedActions.default([]),
    saveResponse: z.boolean().default(false),
    responseObjectName: optionalDataName,
    responseHeaderObjectName: optionalDataName,
    /** The turn does not wait for the answer, and hears nothing of it. */
    fireAndForget: z.boolean().default(false),
    isBatchCalls: z.boolean().default(false),
    iterationObjectName: optionalDataName,
    /** The turn goes on when the call could not be made or its outcome is unknown. */
    continueOnError: z.boolean().default(false),
    timeoutInMillis: z.int().min(1).max(MAX_TIMEOUT_MS).default(DEFAULT_TIMEOUT_MS),
    /** Of the body, after decompression. */
    maxResponseSizeInBytes: z.int().min(1).max(MAX_RESPONSE_BYTES).default(DEFAULT_RESPONSE_BYTES),
    preRequest: z
      .strictObject({
        propertyInstructions: propertyInstructions.default([]),
        batchRequests: batchRequests.optional(),
      })
      .optional(),
    request,
    postResponse: postInstructions
      .extend({ retryApiCallInstruction: retryApiCallInstruction.optional() })
      .optional(),
  })
  .superRefine((call, context) => {
    const say = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message });
    const bodyless = call.request.method === 'GET' || call.request.method === 'HEAD';
    if (bodyless && call.request.body !== '') say('request', `a ${call.request.method} request has no body`);
    if (call.isBatchCalls && call.preRequest?.batchRequests?.pathToTargetArray === undefined) {
      say('isBatchCalls', 'needs preRequest.batchRequests with a pathToTargetArray');
    }
    if (call.saveResponse && call.responseObjectName === undefined) {
      say('saveResponse', 'needs a responseObjectName, by which templates and rules find the answer');
    }
    if (call.fireAndForget && (call.saveResponse || call.postResponse !== undefined)) {
      say('fireAndForget', 'nobody waits for the answer: leave out saveResponse and postResponse');
    }
  });

/** Requests to one server, made when an action is raised (platform.md 3.5). */
export const httpcallsDocument = {
  type: 'httpcalls',
  body: z.strictObject({
    /** Its scheme, host and the beginning of every path. A template in it makes the host one from outside. */
    targetServerUrl: z
      .string()
      .max(MAX_URL, tooMany(MAX_URL, 'characters'))
      .refine(
        text => /[{$]/.test(text) || /^https?:\/\/[^/?#]/i.test(text),
        'must be the address of a server, such as "https://api.example.org"',
      ),
    httpCalls: listOf(httpCall, MAX_CALLS).superRefine((calls, context) => {
      const names = new Set<string>();
      for (const [index, { name }] of calls.entries()) {
        if (names.has(name))
          context.addIssue({ code: 'custom', path: [index, 'name'], message: 'is there twice' });
        names.add(name);
      }
    }),
  }),
} as const satisfies DocumentSchema;
