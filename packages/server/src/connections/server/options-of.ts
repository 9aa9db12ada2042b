import type { ServerAuth, ServerDefinition } from './definition.ts';
import type { OAuthOptions } from './oauth-options.ts';
import { shownAddress } from './server-address.ts';

/** Written in the place of a value that nobody is shown. */
const HIDDEN = '(set)';

/**
 * The options that mean this definition, in the words of the capability front-end without what is as it is by default, but for times and sizes,
 * which defaults of a later version do not change: what is stored of a server. A function of a cost is left out.
 */
export function optionsOf(definition: ServerDefinition): Record<string, unknown> {
  const { transport, auth, ref, only, except, expect, cost } = definition;
  return {
    ...(transport.kind === 'http'
      ? {
          url: transport.url,
          ...filled('headers', transport.headers),
          ...(transport.insecureTls && { insecureTls: true }),
        }
      : {
          command: transport.command,
          ...(transport.args.length > 0 && { args: transport.args }),
          ...filled('env', transport.env),
          ...(transport.cwd !== undefined && { cwd: transport.cwd }),
          ...(transport.isolation !== 'shared' && { isolation: transport.isolation }),
        }),
    ...(auth.kind === 'clientCredentials' && { oauth: given(auth.oauth) }),
    ...credentialOptions(definition),
    ...(only && { only }),
    ...(except.length > 0 && { except }),
    ...(definition.prefix !== ref.name && { prefix: definition.prefix }),
    timeout: definition.callTimeoutMs,
    connectTimeout: definition.connectTimeoutMs,
    ...(definition.maxResultBytes !== undefined && { maxResultBytes: definition.maxResultBytes }),
    ...(definition.gated !== 'not-read-only' && { gated: gateOption(definition.gated) }),
    ...(definition.trusted && { trusted: true }),
    ...(definition.descriptions === 'governed' && { descriptions: 'governed' }),
    ...(typeof cost === 'object' && { cost }),
    ...(expect.length > 0 && {
      expect: expect.map(tool =>
        tool.arguments === undefined ? tool.name : { name: tool.name, arguments: tool.arguments },
      ),
    }),
    ...(definition.changedTools === 'hold' && { changedTools: 'hold' }),
  };
}

/** Names, and no values: nobody's credential is in a definition. */
function credentialOptions({ auth, transport }: ServerDefinition): Record<string, unknown> {
  if (auth.kind !== 'principal') return {};
  const { credentialName, header, scheme, env, signIn } = auth;
  if (transport.kind === 'stdio') return { credentialName, credentialEnv: env };
  return {
    credentialName,
    ...(header !== 'authorization' && { credentialHeader: header }),
    ...(scheme !== 'Bearer' && { credentialScheme: scheme }),
    ...(signIn && { oauth: given(signIn) }),
  };
}

function gateOption(gated: ServerDefinition['gated']): unknown {
  return typeof gated === 'string' ? gated === 'all' : gated;
}

/** The same for people: of headers, variables and the query of an address only that they are set, unless they are references. */
export function shownOptions(definition: ServerDefinition): Record<string, unknown> {
  const { transport, auth, cost } = definition;
  const options = optionsOf(definition);
  const oauth = oauthOf(auth);
  if (oauth) options.oauth = shownOAuth(oauth);
  if (typeof cost === 'function') options.cost = '(a function)';
  if (transport.kind === 'stdio') return { ...options, ...filled('env', hidden(transport.env)) };
  return { ...options, url: shownAddress(transport.url), ...filled('headers', hidden(transport.headers)) };
}

function oauthOf(auth: ServerAuth): OAuthOptions | undefined {
  if (auth.kind === 'principal') return auth.signIn;
  return auth.kind === 'clientCredentials' ? auth.oauth : undefined;
}

/** Without what nobody gave. */
function given(oauth: OAuthOptions): Partial<OAuthOptions> {
  return Object.fromEntries(Object.entries(oauth).filter(([, value]) => value !== undefined));
}

function shownOAuth(oauth: OAuthOptions): Partial<OAuthOptions> {
  const { clientSecret, tokenUrl, issuer } = oauth;
  return {
    ...given(oauth),
    ...(clientSecret !== undefined && hidden({ clientSecret })),
    ...(tokenUrl !== undefined && { tokenUrl: shownAddress(tokenUrl) }),
    ...(issuer !== undefined && { issuer: shownAddress(issuer) }),
  };
}

function filled(name: string, members: Readonly<Record<string, string>>): Record<string, unknown> {
  return Object.keys(members).length === 0 ? {} : { [name]: members };
}

/** A text that holds a reference may hold a literal beside it: only the references are shown. */
function hidden(members: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => {
      const references = value.match(/(?<!\$)\$\{(?:vault|eddivault|vars):[^{}]*\}/g);
      return [name, references ? references.join(' ') : HIDDEN];
    }),
  );
}
