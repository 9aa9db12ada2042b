// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${vault:key} are the product's own syntax
import { PlatformError } from '../../kernel/errors.ts';
import type { ServerDefinition } from './definition.ts';
import { frozen } from './frozen.ts';
import { checkAddress, checkCaller, checkText, type TextChecks } from './transport-texts.ts';

/** The members of an mcpcalls document that say which server it is about (platform.md 9.1). */
export interface McpcallsServer {
  readonly mcpServerUrl: string;
  readonly name?: string | undefined;
  readonly transport?: string | undefined;
  readonly apiKey?: string | undefined;
  /** Milliseconds: to connect, and for a request. */
  readonly timeoutMs?: number | undefined;
  /** Empty is every tool. */
  readonly toolsWhitelist?: readonly string[] | undefined;
  readonly toolsBlacklist?: readonly string[] | undefined;
  readonly exposeResources?: boolean | undefined;
}

const DEFAULT_TIMEOUT_MS = 30_000;
/** Any case (EX-01). */
const TRANSPORTS = new Set(['http', 'https', 'streamable-http', 'streamablehttp']);

export interface ReadMcpcalls {
  readonly definition: ServerDefinition;
  /** Sentences for the log. */
  readonly warnings: readonly string[];
}

/**
 * The server an mcpcalls document means. `scope` says which document. Stored documents may ask for the older transport `sse`, with a
 * warning; one that is being saved may not. Throws a `PlatformError` of kind `invalid` that names the field: E-78, E-80, E-94.
 */
export function definitionOfMcpcalls(
  document: McpcallsServer,
  context: { readonly scope: string; readonly when: 'saving' | 'loading'; readonly texts: TextChecks },
): ReadMcpcalls {
  const { scope, when, texts } = context;
  const problems: string[] = [];
  const say = (field: string, problem: string) => problems.push(`${field} ${problem}.`);
  const transport = (document.transport ?? 'http').toLowerCase();
  const isOld = transport === 'sse';
  if (!TRANSPORTS.has(transport) && !(isOld && when === 'loading')) {
    say(
      'transport',
      'must be "http": streamable HTTP is what a literal address speaks; a program of this machine is registered first and named as patchbay:servers/<name>',
    );
  }
  checkAddress(document.mcpServerUrl, 'mcpServerUrl', texts, say);
  const apiKey = document.apiKey?.trim() ?? '';
  const callerScheme = CALLER.exec(apiKey);
  if (callerScheme) checkCaller(apiKey, 'apiKey', texts, say);
  else checkText(apiKey, 'apiKey', 'hidden', texts, say);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\u0000-\u001f\u007f]/.test(apiKey)) say('apiKey', 'must not hold control characters');
  if (problems.length > 0) {
    throw new PlatformError('invalid', `mcpcalls document: ${problems.join(' ')}`, { details: { problems } });
  }
  const { toolsWhitelist = [], toolsBlacklist = [], timeoutMs = DEFAULT_TIMEOUT_MS } = document;
  const definition = frozen({
    ref: { scope, name: document.name?.trim() || hostOf(document.mcpServerUrl) },
    transport: {
      kind: 'http',
      url: document.mcpServerUrl,
      headers: apiKey === '' || callerScheme ? {} : { authorization: withScheme(apiKey) },
      hostFrom: 'operator',
      insecureTls: false,
    },
    auth: callerScheme ? { kind: 'caller', scheme: callerScheme[1] ?? 'Bearer' } : { kind: 'none' },
    connectTimeoutMs: timeoutMs,
    callTimeoutMs: timeoutMs,
    only: toolsWhitelist.length === 0 ? undefined : [...toolsWhitelist],
    except: [...toolsBlacklist],
    prefix: '',
    maxResultBytes: undefined,
    gated: 'none',
    trusted: false,
    descriptions: 'governed',
    cost: undefined,
    expect: [],
    exposeResources: document.exposeResources ?? false,
    changedTools: 'report',
  });
  const warnings = isOld
    ? [
        `The mcpcalls document of ${definition.ref.name} asks for the transport sse, which is tried last and being given up; write "http".`,
      ]
    : [];
  return { definition, warnings };
}

/** The token of the caller, and nothing else, behind a scheme or not (E-88). */
const CALLER = /^(?:([A-Za-z][A-Za-z0-9-]{0,30}) +)?\$\{caller:token\}$/;

/** A scheme that is written stays (platform.md 9.1). */
function withScheme(apiKey: string): string {
  return /^[A-Za-z][A-Za-z0-9-]{0,30} +\S/.test(apiKey) ? apiKey : `Bearer ${apiKey}`;
}

function hostOf(url: string): string {
  return URL.parse(url.replaceAll(/\$\{[^}]*\}/g, 'x'))?.hostname ?? 'server';
}
