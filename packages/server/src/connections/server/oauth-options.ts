// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${vault:key} are the product's own syntax
import { z } from 'zod';
import { isObject } from '../../kernel/json.ts';
import { isLoopbackHost } from '../../kernel/network-address.ts';
import { parse, type Say, text, trueOrFalse, withOwnNames } from './option-values.ts';
import { checkAddress, checkText, type TextChecks } from './transport-texts.ts';

/**
 * What an operator says of the authorization server of an MCP server, and of our client there: for people who sign in, and for the client
 * itself. Texts may hold references.
 */
export interface OAuthOptions {
  /** Registered there by people; without it the client says who it is by its document, or registers itself. */
  readonly clientId: string | undefined;
  /** Of a client that is not public. */
  readonly clientSecret: string | undefined;
  /** Where tokens are got, so that nothing has to be found out. */
  readonly tokenUrl: string | undefined;
  /** The only authorization server that is used; the server names one unless given. */
  readonly issuer: string | undefined;
  /** Asked for where the server asks for nothing in particular. */
  readonly scope: string | undefined;
  /** What tokens are for, in the word of providers that do not go by `resource`. */
  readonly audience: string | undefined;
  /** Whether what tokens are for is said as `resource` (RFC 8707); what the provider is known to take unless given. */
  readonly sendResource: boolean | undefined;
}

const MAX_ADDRESS = 2_000;
const MAX_ID = 2_000;
const MAX_SECRET = 8_192;
const MAX_SCOPE = 4_000;

const schema = z.strictObject({
  clientId: text(MAX_ID).optional(),
  clientSecret: text(MAX_SECRET).optional(),
  tokenUrl: text(MAX_ADDRESS).optional(),
  issuer: text(MAX_ADDRESS).optional(),
  scope: text(MAX_SCOPE).optional(),
  audience: text(MAX_ADDRESS).optional(),
  sendResource: trueOrFalse.optional(),
});

const OAUTH_OPTIONS = Object.keys(schema.shape);

/** The options under `place`, in either spelling; of what is wrong it says why, and answers `undefined`. No value is in what it says. */
export function readOAuthOptions(
  value: unknown,
  place: string,
  texts: TextChecks,
  say: Say,
): OAuthOptions | undefined {
  if (!isObject(value)) {
    say(place, 'must be an object such as { "clientId": "...", "clientSecret": "${vault:name}" }');
    return undefined;
  }
  const inside = `${place}.`;
  const values = parse(schema, withOwnNames(value, OAUTH_OPTIONS, inside, say), inside, OAUTH_OPTIONS, say);
  if (!values) return undefined;
  const options: OAuthOptions = {
    clientId: values.clientId,
    clientSecret: values.clientSecret,
    tokenUrl: values.tokenUrl,
    issuer: values.issuer,
    scope: values.scope,
    audience: values.audience,
    sendResource: values.sendResource,
  };
  checkOAuthOptions(options, name => `${inside}${name}`, texts, say);
  return options;
}

/** Looks at texts that may hold references, each named by `nameOf`. */
export function checkOAuthOptions(
  { tokenUrl, issuer, clientSecret, ...others }: OAuthOptions,
  nameOf: (member: keyof OAuthOptions) => string,
  texts: TextChecks,
  say: Say,
): void {
  for (const [name, address] of Object.entries({ tokenUrl, issuer })) {
    if (address === undefined) continue;
    const option = nameOf(name as keyof OAuthOptions);
    checkAddress(address, option, texts, say);
    // Whoever listens would get the secret (RFC 6749, 3.2).
    if (/^http:/i.test(address) && !isLoopbackHost(URL.parse(address)?.hostname ?? ''))
      say(option, 'must be an https address');
  }
  if (clientSecret !== undefined) checkText(clientSecret, nameOf('clientSecret'), 'hidden', texts, say);
  for (const name of ['clientId', 'scope', 'audience'] as const) {
    if (others[name] !== undefined) checkText(others[name], nameOf(name), 'seen', texts, say);
  }
}
