import { z } from 'zod';
import { definitionOfMcpcalls } from '../../connections/server/from-mcpcalls.ts';
import { PlatformError } from '../../kernel/errors.ts';
import { compileText, containsReference } from '../../secrets/reference-text.ts';
import type { DocumentSchema } from './document-type.ts';
import { listOf, nameField, tooMany } from './fields.ts';
import { dataName, optionalDataName, postInstructions } from './httpcalls.ts';
import { listenedActions, propertyInstructions } from './property.ts';
import { registeredServer } from './registered-server.ts';

const MAX_CALLS = 100;
const MAX_TOOLS = 1_000;
const MAX_TOOL_NAME = 128;
const MAX_URL = 2_000;
const MAX_ARGUMENTS_CHARACTERS = 50_000;
const MAX_DEPTH = 20;
const MAX_TIMEOUT_MS = 600_000;

const toolName = z
  .string()
  .min(1, 'must not be empty')
  .max(MAX_TOOL_NAME, tooMany(MAX_TOOL_NAME, 'characters'));

const toolNames = listOf(toolName, MAX_TOOLS);

/** Arguments by name: texts in them are templates, at any depth, and every other value stands as it is. */
const toolArguments = z
  .record(z.string(), z.json())
  .refine(value => !Object.hasOwn(value, '__proto__'), 'must not have a member __proto__')
  .refine(
    value => JSON.stringify(value).length <= MAX_ARGUMENTS_CHARACTERS,
    tooMany(MAX_ARGUMENTS_CHARACTERS, 'characters as JSON'),
  )
  .refine(value => depthOf(value) <= MAX_DEPTH, `must be at most ${MAX_DEPTH} levels deep`);

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

/** What may have arrived is sent again only where this is said (A-67, C26). */
const retry = z.strictObject({
  /** The first one included. */
  maxAttempts: z.int().min(1).max(10).default(3),
  /** Before the second attempt. */
  backoffDelayMs: z.int().min(0).max(60_000).default(1_000),
  /** By which each further wait is longer. */
  backoffMultiplier: z.number().min(1).max(10).default(2),
  maxBackoffDelayMs: z.int().min(0).max(60_000).default(10_000),
});

const mcpCall = z
  .strictObject({
    name: nameField,
    description: z.string().max(2_000, tooMany(2_000, 'characters')).optional(),
    actions: listenedActions.default([]),
    /** As the server lists it. */
    toolName,
    toolArguments: toolArguments.default({}),
    preRequest: z.strictObject({ propertyInstructions: propertyInstructions.default([]) }).optional(),
    /** Whether later turns find the result, too. */
    saveResponse: z.boolean().default(true),
    responseObjectName: optionalDataName,
    postResponse: postInstructions.optional(),
    /** The turn goes on when the call fails. */
    continueOnError: z.boolean().default(false),
    retry: retry.optional(),
  })
  .transform((call, context) => {
    const named = call.responseObjectName ?? `${call.name}Response`;
    if (dataName.safeParse(named).success) return { ...call, responseObjectName: named };
    context.addIssue({
      code: 'custom',
      path: ['responseObjectName'],
      message: `is missing, and "${named}" is no plain name of letters, digits, "_" and "-"; templates and rules find the result by it`,
    });
    return z.NEVER;
  });

const mcpcallsBody = z.strictObject({
  /** An http or https address, or `patchbay:servers/<name>` for a registered server. */
  mcpServerUrl: z.string().trim().min(1, 'must not be empty').max(MAX_URL, tooMany(MAX_URL, 'characters')),
  name: nameField.optional(),
  transport: z.string().max(40, tooMany(40, 'characters')).optional(),
  apiKey: z.string().max(10_000, tooMany(10_000, 'characters')).optional(),
  /** Milliseconds to connect, and for each call. */
  timeoutMs: z.int().min(1).max(MAX_TIMEOUT_MS).optional(),
  toolsWhitelist: toolNames.optional(),
  toolsBlacklist: toolNames.optional(),
  exposeResources: z.boolean().default(false),
  mcpCalls: listOf(mcpCall, MAX_CALLS)
    .superRefine((calls, context) => {
      const names = new Set<string>();
      for (const [index, { name }] of calls.entries()) {
        if (names.has(name))
          context.addIssue({ code: 'custom', path: [index, 'name'], message: 'is there twice' });
        names.add(name);
      }
    })
    .default([]),
});

export type McpcallsDocument = z.output<typeof mcpcallsBody>;

/** One MCP server, and the calls of its tools that actions make (platform.md 9). */
export const mcpcallsDocument = {
  type: 'mcpcalls',
  body: mcpcallsBody,
  check: refuseAbsent,
} as const satisfies DocumentSchema<typeof mcpcallsBody>;

/** Which variables of the environment may be read is known where the document is used. */
const texts = { compile: (text: string) => compileText(text, () => true) };

/** A server that could never be called is refused when it is written, with the name of the field (EX-01, E-94). */
function refuseAbsent(document: McpcallsDocument): void {
  for (const [index, { toolArguments }] of document.mcpCalls.entries()) {
    if (!containsReference(JSON.stringify(toolArguments))) continue;
    throw new PlatformError(
      'invalid',
      `mcpcalls document: field "toolArguments" at $.mcpCalls[${index}].toolArguments holds a reference, and none is filled in there: a credential belongs to the server, in apiKey.`,
      { details: { path: `$.mcpCalls[${index}].toolArguments`, field: 'toolArguments' } },
    );
  }
  if (registeredServer(document)) return;
  definitionOfMcpcalls(document, { scope: 'mcpcalls', when: 'saving', texts });
}

export type McpCall = McpcallsDocument['mcpCalls'][number];
