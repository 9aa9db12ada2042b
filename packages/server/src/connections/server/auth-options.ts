import { z } from 'zod';
import type { ServerAuth, ServerTransport } from './definition.ts';
import { type OAuthOptions, readOAuthOptions } from './oauth-options.ts';
import { parse, type Say, text, type Values } from './option-values.ts';
import { headerProblem } from './transport-options.ts';
import type { TextChecks } from './transport-texts.ts';

const MAX_NAME = 100;

const schema = z.strictObject({
  credentialName: text(MAX_NAME)
    .regex(
      /^[A-Za-z0-9][A-Za-z0-9._-]*$/,
      'must have letters, digits, ".", "_" and "-", beginning with a letter or digit',
    )
    .optional(),
  credentialHeader: text(200)
    .superRefine((name, context) => {
      const problem = headerProblem(name, '');
      if (problem !== undefined) context.addIssue(problem);
    })
    .optional(),
  credentialScheme: z
    .string('must be a text')
    .regex(
      /^(?:[A-Za-z][A-Za-z0-9-]{0,30})?$/,
      'must be the word of a scheme, such as "Bearer", or empty for none',
    )
    .optional(),
  credentialEnv: text(200)
    .regex(/^[A-Za-z_]\w*$/, 'is no name of a variable')
    .optional(),
});

const CREDENTIAL_OPTIONS = Object.keys(schema.shape);
/** Options that say as whom the server is used. */
export const AUTH_OPTIONS = ['oauth', ...CREDENTIAL_OPTIONS];

const NONE: ServerAuth = { kind: 'none' };

/** As whom the server is used (W-30 to W-32, W-70 to W-74); of what is wrong it says why, and answers `undefined`. */
export function readAuth(
  given: Values,
  transport: ServerTransport,
  texts: TextChecks,
  say: Say,
): ServerAuth | undefined {
  const own = Object.fromEntries(Object.entries(given).filter(([name]) => CREDENTIAL_OPTIONS.includes(name)));
  const values = parse(schema, own, '', CREDENTIAL_OPTIONS, say);
  if (!values) return undefined;
  const { credentialName, credentialHeader, credentialScheme, credentialEnv } = values;
  if (credentialName === undefined) {
    for (const name of Object.keys(own))
      say(name, 'says where a credential goes, and credentialName is missing: which one');
    return given.oauth === undefined ? NONE : asClient(given.oauth, transport, texts, say);
  }
  const signIn = given.oauth === undefined ? undefined : signInOptions(given.oauth, transport, texts, say);
  const principal = { kind: 'principal', credentialName } as const;
  if (transport.kind === 'stdio') {
    for (const name of ['credentialHeader', 'credentialScheme'] as const)
      if (values[name] !== undefined)
        say(name, 'is for a server with a url; a command gets the credential in credentialEnv');
    if (credentialEnv === undefined) {
      say(
        'credentialName',
        'on a command needs credentialEnv, the variable that the command reads the credential from',
      );
      return undefined;
    }
    if (Object.hasOwn(transport.env, credentialEnv))
      say('credentialEnv', 'is set in env already, and each person has their own; take it out of env');
    return { ...principal, header: '', scheme: '', env: credentialEnv, signIn: undefined };
  }
  if (credentialEnv !== undefined)
    say('credentialEnv', 'is for a command; a server with a url gets the credential in credentialHeader');
  const header = (credentialHeader ?? 'authorization').toLowerCase();
  if (Object.keys(transport.headers).some(name => name.toLowerCase() === header))
    say('credentialName', `and headers both say what is sent as ${header}; keep one`);
  return { ...principal, header, scheme: credentialScheme ?? 'Bearer', env: undefined, signIn };
}

/** How people sign in; `{}` where the server itself says all there is to know. */
function signInOptions(
  oauth: unknown,
  { kind }: ServerTransport,
  texts: TextChecks,
  say: Say,
): OAuthOptions | undefined {
  if (kind === 'stdio')
    say('oauth', 'is for a server with a url; the credential of a command is what people paste');
  return readOAuthOptions(oauth, 'oauth', texts, say);
}

/** As a client of the authorization server, the same for everybody. */
function asClient(oauth: unknown, { kind }: ServerTransport, texts: TextChecks, say: Say): ServerAuth {
  if (kind === 'stdio')
    say('oauth', 'is for a server behind an address; a program has its credentials in `env`');
  const options = readOAuthOptions(oauth, 'oauth', texts, say);
  const { clientId, clientSecret } = options ?? {};
  if (options && (clientId === undefined || clientSecret === undefined))
    say(
      'oauth',
      'needs clientId and clientSecret, of a client that is registered at the authorization server, or credentialName, for people who sign in there',
    );
  if (!options || clientId === undefined || clientSecret === undefined) return NONE;
  return { kind: 'clientCredentials', oauth: { ...options, clientId, clientSecret } };
}
