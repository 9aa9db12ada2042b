import { z } from 'zod';
import { CREATES, defineOperation, type Family, READS, REMOVES, UPDATES } from '../operation.ts';
import { ROLES } from '../roles.ts';

const family: Family = {
  name: 'People',
  description: 'Who may sign in, and as what. For admins, in person: a key lets nobody in.',
};

/** What people sign in with: letters that cannot be taken for others. */
const login = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._@+-]{0,99}$/, 'is lower-case letters, digits and . _ @ + -, 1 to 100 of them');

const person = {
  userId: z.string(),
  name: z.string(),
  /** Absent for who does not sign in with a name and a password. */
  login: z.string().optional(),
  roles: z.array(z.enum(ROLES)),
};

/** An address that works once. Nobody can be shown it again. */
const link = { link: z.string(), linkExpiresOn: z.int() };

const userId = z.string().describe('Id of the person, from list_users');
const roles = z
  .array(z.enum(ROLES))
  .min(1)
  .max(ROLES.length)
  .describe('Roles of the person; each one says by itself what it opens');

export const listUsers = defineOperation({
  name: 'list_users',
  family,
  title: 'List people',
  description: 'Everybody who may use the platform, with roles, and whether they can sign in.',
  input: z.object({
    login: z.string().optional().describe('Optional. Only the person with this login'),
    after: z.string().optional().describe('Optional. Only people after this id: the last one of a page'),
    limit: z.int().min(1).max(200).default(50).describe('Optional. People a page, 1 to 200; default: 50'),
  }),
  output: z.object({
    count: z.int(),
    users: z.array(
      z.object({
        ...person,
        hasPassword: z.boolean(),
        disabled: z.boolean(),
        /** After too many wrong passwords. */
        lockedUntil: z.int().optional(),
        createdOn: z.int(),
      }),
    ),
  }),
  errors: [],
  tier: 'admin',
  tool: false,
  annotations: READS,
  runsTurn: false,
  rest: { method: 'GET', path: '/users' },
  examples: [{ limit: 1 }],
});

export const createUser = defineOperation({
  name: 'create_user',
  family,
  title: 'Add a person',
  description:
    'Adds somebody who signs in with a login and a password. Without a password the answer has a link, good once and for a day, with which they choose one.',
  input: z.object({
    login: login.describe('What the person signs in with: lower-case letters, digits and . _ @ + -'),
    name: z.string().min(1).max(100).optional().describe('Optional. Name to show; default: the login'),
    roles,
    password: z
      .string()
      .max(1024)
      .optional()
      .describe('Optional. Their password, 12 to 256 characters. If omitted, they choose one with the link'),
  }),
  output: z.object({ ...person, link: link.link.optional(), linkExpiresOn: link.linkExpiresOn.optional() }),
  errors: ['forbidden', 'conflict'],
  tier: 'admin',
  tool: false,
  annotations: CREATES,
  runsTurn: false,
  rest: { method: 'POST', path: '/users', successStatus: 201 },
  examples: [{ login: 'anna', name: 'Anna Kovács', roles: ['patchbay-editor'] }],
});

export const setUserRoles = defineOperation({
  name: 'set_user_roles',
  family,
  title: 'Change the roles of a person',
  description:
    'Exactly these from now on, for everything they are signed in with and every key of theirs. The owner of the platform stays an admin.',
  input: z.object({ userId, roles }),
  output: z.object(person),
  errors: ['forbidden', 'not_found', 'conflict'],
  tier: 'admin',
  tool: false,
  annotations: UPDATES,
  runsTurn: false,
  rest: { method: 'PUT', path: '/users/{userId}/roles' },
  examples: [],
});

export const resetUserPassword = defineOperation({
  name: 'reset_user_password',
  family,
  title: 'Let a person choose another password',
  description:
    'Takes the password away, signs the person out everywhere, disconnects their applications and unlocks the account. The answer has a link, good once and for a day, with which they choose another one. Keys keep working.',
  input: z.object({
    userId,
    login: login
      .optional()
      .describe('Optional. For who has none yet, as people of an OpenID realm: what they sign in with here'),
  }),
  output: z.object({ ...person, ...link }),
  errors: ['forbidden', 'not_found', 'conflict'],
  tier: 'admin',
  tool: false,
  annotations: UPDATES,
  runsTurn: false,
  rest: { method: 'POST', path: '/users/{userId}/reset' },
  examples: [],
});

export const disableUser = defineOperation({
  name: 'disable_user',
  family,
  title: 'Shut a person out',
  description:
    'At once and on all nodes: signs them out, and ends their keys, those of their agents and what they have allowed applications. What is theirs stays. The owner of the platform cannot be shut out.',
  input: z.object({ userId }),
  output: z.object({ ...person, disabled: z.literal(true) }),
  errors: ['not_found', 'conflict'],
  tier: 'admin',
  tool: false,
  annotations: REMOVES,
  runsTurn: false,
  rest: { method: 'POST', path: '/users/{userId}/disable' },
  examples: [],
});

export const enableUser = defineOperation({
  name: 'enable_user',
  family,
  title: 'Let a person in again',
  description: 'They sign in as before. Keys and applications that were ended stay ended.',
  input: z.object({ userId }),
  output: z.object({ ...person, disabled: z.literal(false) }),
  errors: ['forbidden', 'not_found'],
  tier: 'admin',
  tool: false,
  annotations: UPDATES,
  runsTurn: false,
  rest: { method: 'POST', path: '/users/{userId}/enable' },
  examples: [],
});

export const createSignInLink = defineOperation({
  name: 'create_sign_in_link',
  family,
  title: 'Sign in in a browser',
  description:
    'An address that signs you in in the browser that opens it, once and within ten minutes. The one before it stops working.',
  input: z.object({}),
  output: z.object({ userId: z.string(), ...link }),
  errors: ['forbidden'],
  tier: 'account',
  tool: false,
  annotations: CREATES,
  runsTurn: false,
  rest: { method: 'POST', path: '/sign-in-links', successStatus: 201 },
  examples: [{}],
});
