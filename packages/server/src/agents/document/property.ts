import { z } from 'zod';
import { parseDataPath } from '../language/data-path.ts';
import type { DocumentSchema } from './document-type.ts';
import { actionField, listOf, nameField, tooMany } from './fields.ts';

const MAX_ENTRIES = 200;
const MAX_INSTRUCTIONS = 200;
const MAX_ACTIONS = 50;
const MAX_TEXT = 10_000;
/** Of a value as JSON. */
const MAX_VALUE = 50_000;

/** What a step listens for: an action, or `*` for always. */
const listenedAction = z.union([z.literal('*'), actionField]);

/** The actions a part of a step waits for; none: it never runs by itself. */
export const listenedActions = listOf(listenedAction, MAX_ACTIONS);

/** A path to data of the turn. An empty text, as other platforms store it, is none. */
export const dataPathField = z
  .string()
  .max(MAX_TEXT, tooMany(MAX_TEXT, 'characters'))
  .superRefine((text, context) => {
    const path = text === '' ? [] : parseDataPath(text);
    if (typeof path === 'string') context.addIssue(path);
  })
  .transform(text => (text === '' ? undefined : text));

/** A path that is written to: a member of a property. */
const propertyPathField = dataPathField.refine(
  text => text === undefined || /^properties[.[]/.test(text),
  'must be a path below "properties", such as "properties.address.city"',
);

const httpCode = z.int().min(100).max(599);

/** For which answers of an HTTP call an instruction runs. A list that is empty or missing says nothing. */
export const httpCodeValidatorField = z.strictObject({
  runOnHttpCode: listOf(httpCode, 100).optional(),
  skipOnHttpCode: listOf(httpCode, 100).optional(),
});

const jsonValue = <T extends z.ZodType>(schema: T) =>
  schema.refine(
    value => (JSON.stringify(value)?.length ?? 0) <= MAX_VALUE,
    tooMany(MAX_VALUE, 'characters as JSON'),
  );

const VALUES = ['valueString', 'valueInt', 'valueFloat', 'valueBoolean', 'valueObject', 'valueList'] as const;

/** Sets one property, from one of the values or from a path (platform.md 3.4). */
const propertyInstruction = z
  .strictObject({
    name: nameField,
    /** A template; every other value is stored as it is. */
    valueString: z.string().max(MAX_TEXT, tooMany(MAX_TEXT, 'characters')).optional(),
    valueInt: z.int().optional(),
    valueFloat: z.number().optional(),
    valueBoolean: z.boolean().optional(),
    valueObject: jsonValue(z.record(z.string(), z.json())).optional(),
    valueList: jsonValue(z.array(z.json())).optional(),
    /** How long it lasts: the turn, the conversation, as long as the person, or as a reference to the vault. */
    scope: z.enum(['step', 'conversation', 'longTerm', 'secret']).default('conversation'),
    /** Who else recalls a long-term property; without it the agent's own default. */
    visibility: z.enum(['self', 'group', 'global']).optional(),
    /** The value found there is stored as it is. */
    fromObjectPath: dataPathField.optional(),
    /** Writes into a member of a property instead of the property `name`. */
    toObjectPath: propertyPathField.optional(),
    /** Reads the rendered `valueString` as JSON. */
    convertToObject: z.boolean().default(false),
    /** `false` keeps a value that is there already. */
    override: z.boolean().default(true),
    /** After an HTTP call: runs although the call was not answered well. */
    runOnValidationError: z.boolean().default(false),
    httpCodeValidator: httpCodeValidatorField.optional(),
  })
  .superRefine((instruction, context) => {
    const given = [...VALUES, 'fromObjectPath' as const].filter(field => instruction[field] !== undefined);
    if (given.length !== 1) {
      context.addIssue(`must have exactly one of ${VALUES.join(', ')} or fromObjectPath`);
    }
    if (instruction.scope === 'secret' && instruction.toObjectPath !== undefined) {
      context.addIssue('a secret is kept whole: leave out toObjectPath');
    }
  });

export const propertyInstructions = listOf(propertyInstruction, MAX_INSTRUCTIONS);

const entry = z.strictObject({ actions: listenedActions, setProperties: propertyInstructions.default([]) });

/**
 * Which properties are set when which action is raised. The inline form, a list of actions beside `propertyInstructions`, is
 * read as one entry.
 */
export const propertyDocument = {
  type: 'property',
  body: z
    .strictObject({
      setOnActions: listOf(z.union([entry, listenedAction]), MAX_ENTRIES).default([]),
      propertyInstructions: propertyInstructions.optional(),
    })
    .transform((body, context) => {
      const entries = body.setOnActions.filter(part => typeof part !== 'string');
      const actions = body.setOnActions.filter(part => typeof part === 'string');
      const inline = body.propertyInstructions ?? [];
      if (actions.length > 0 !== inline.length > 0) {
        context.addIssue({
          code: 'custom',
          path: [inline.length > 0 ? 'propertyInstructions' : 'setOnActions'],
          message: 'actions in setOnActions and propertyInstructions beside it go together',
        });
      }
      if (actions.length > MAX_ACTIONS) {
        context.addIssue({
          code: 'custom',
          path: ['setOnActions'],
          message: tooMany(MAX_ACTIONS, 'actions'),
        });
      }
      return {
        setOnActions: inline.length > 0 ? [...entries, { actions, setProperties: inline }] : entries,
      };
    }),
} as const satisfies DocumentSchema;
