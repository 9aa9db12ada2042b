import { PlatformError } from '../../../../kernel/errors.ts';
import { isSecretName } from '../../../../kernel/redact.ts';
import type { HostFrom } from '../../../../kernel/safe-fetch.ts';
import { compileText, containsReference, type Reference } from '../../../../secrets/reference-text.ts';
import type { CompiledText } from '../../../../secrets/references.ts';
import type { StepTools } from '../../../step/step.ts';
import { fillJson, fillText, HeldValues, type Marked, textOf } from '../held-values.ts';
import { inSlices } from '../in-slices.ts';
import { isTemplate, type TemplateCache } from '../template.ts';
import type { HttpCall } from './http-call.ts';
import { type NotAnswered, notAnswered } from './outcome.ts';

/** How what is put into a body is written there. */
type BodyKind = 'json' | 'form' | 'xml' | 'text';

/** A request with its references found. */
export interface RequestTemplate {
  readonly method: HttpCall['request']['method'];
  readonly server: CompiledText;
  readonly path: CompiledText;
  readonly headers: readonly (readonly [name: string, value: CompiledText])[];
  readonly query: readonly (readonly [name: string, value: CompiledText])[];
  readonly body: CompiledText;
  readonly bodyKind: BodyKind;
  readonly contentType: string | undefined;
  readonly hostFrom: HostFrom;
}

/** Headers whose value is a secret also where the configuration writes it out. */
const CREDENTIAL_HEADER = /authorization|cookie|api-?key|token|secret|password/i;

/** A request as it is sent. */
export interface BuiltRequest {
  readonly kind: 'built';
  readonly url: URL;
  readonly method: string;
  readonly headers: Headers;
  readonly body: string | undefined;
  readonly hostFrom: HostFrom;
  /** The secret values in it. */
  readonly secrets: readonly string[];
}

/** What the texts of a request are filled with. */
export interface RequestTurn {
  readonly tools: StepTools;
  readonly templates: TemplateCache;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Throws a `PlatformError` of kind `invalid` for a reference that is none, and a secret that would go to a host from data. */
export function compileRequest(
  targetServerUrl: string,
  { name, request }: HttpCall,
  compile: (text: string) => CompiledText,
): RequestTemplate {
  const pairs = (members: Readonly<Record<string, string>>) =>
    Object.entries(members).map(([member, text]) => [member, compile(text)] as const);
  const { method, path, headers, queryParams, body } = request;
  const bodyKind = bodyKindOf(request.contentType, body);
  const server = compile(targetServerUrl);
  if (server.references.some(({ kind }) => kind === 'caller')) {
    throw new PlatformError(
      'invalid',
      `httpcalls document: targetServerUrl may not hold a reference to the caller, whose name would be a part of the address. Put it into the path, a query parameter or a header of "${name}".`,
    );
  }
  const outsideHeaders = [path, body, ...Object.values(queryParams)].map(compile);
  if (outsideHeaders.some(({ references }) => references.some(isCallerToken))) {
    throw new PlatformError(
      'invalid',
      `httpcalls document: \${caller:token} stands in headers only, where it is not written down on its way. Put it into a header of "${name}", such as Authorization.`,
    );
  }
  const template: RequestTemplate = {
    method,
    server,
    path: compile(path),
    headers: pairs(headers),
    query: pairs(queryParams),
    body: compile(body),
    bodyKind,
    contentType: body === '' ? undefined : request.contentType || defaultType(bodyKind),
    // A template there lets somebody else than the author of the configuration decide about the host.
    hostFrom: isTemplate(server.source) ? 'outside' : 'operator',
  };
  if (template.hostFrom === 'outside' && hasCredential(template)) {
    throw new PlatformError(
      'invalid',
      `httpcalls document: the call "${name}" has a credential, and its targetServerUrl depends on data: whoever decides about the host would get it. Write the host out.`,
    );
  }
  return template;
}

/** A secret the configuration refers to, or one it writes out in a header. */
function hasCredential(template: RequestTemplate): boolean {
  const referred = textsOf(template).some(({ references }) => references.some(isCredential));
  return (
    referred ||
    template.headers.some(([name, { source }]) => CREDENTIAL_HEADER.test(name) && !isTemplate(source))
  );
}

function isCallerToken(reference: Reference): boolean {
  return reference.kind === 'caller' && reference.what === 'token';
}

/** Is it sent as whoever talks to the agent? */
export function isSentAsCaller({ headers }: RequestTemplate): boolean {
  return headers.some(([, { references }]) => references.some(isCallerToken));
}

function isCredential(reference: Reference): boolean {
  const { kind } = reference;
  return kind === 'vault' || kind === 'caller' || (kind === 'environment' && isSecretName(reference.name));
}

/** Finds references as they are found when an agent is deployed, whatever variables of the environment it may read later. */
export function compileForCheck(text: string): CompiledText {
  return compileText(text, () => true);
}

function textsOf(template: RequestTemplate): CompiledText[] {
  const { server, path, headers, query, body } = template;
  return [server, path, body, ...headers.map(([, text]) => text), ...query.map(([, text]) => text)];
}

function bodyKindOf(contentType: string, body: string): BodyKind {
  const type = contentType.split(';')[0]!.trim().toLowerCase();
  if (type === '') return /^\s*[{[]/.test(body) ? 'json' : 'text';
  if (/[/+]json$/.test(type)) return 'json';
  if (type === 'application/x-www-form-urlencoded') return 'form';
  return /[/+](?:xml|html)$/.test(type) ? 'xml' : 'text';
}

function defaultType(kind: BodyKind): string {
  return kind === 'json' ? 'application/json' : 'text/plain; charset=utf-8';
}

/**
 * Fills in templates and references. What data puts in cannot leave its place: it is encoded as the path, the query or the kind of
 * body needs it. Gives a refusal where it would change the request, and where a reference arrived in data.
 */
export async function buildRequest(
  template: RequestTemplate,
  turn: RequestTurn,
): Promise<BuiltRequest | NotAnswered> {
  const filler = new Filler(turn, template.hostFrom);
  try {
    const server = await filler.fill(template.server, inServer);
    const path = await filler.fill(template.path, encoded);
    const url = urlOf(server, path);
    if (typeof url === 'string') return badRequest(url);
    filler.goesTo = url;
    for (const [name, text] of template.query) url.searchParams.append(name, await filler.fill(text, raw));
    const headers = new Headers();
    if (template.contentType !== undefined) headers.set('content-type', template.contentType);
    for (const [name, text] of template.headers) {
      const value = await filler.fill(text, raw);
      if (/[^\t\x20-\x7e\x80-\xff]/.test(value))
        return badRequest(`the header ${name} has characters that no header may have`);
      headers.set(name, value);
      if (CREDENTIAL_HEADER.test(name)) filler.noteCredential(value);
    }
    const body =
      template.body.source === '' ? undefined : await filler.fill(template.body, WRITERS[template.bodyKind]);
    if (template.bodyKind === 'json' && body !== undefined && !isJson(body)) {
      return badRequest('the body is no JSON after its templates were filled in');
    }
    const { method, hostFrom } = template;
    return { kind: 'built', url, method, headers, body, hostFrom, secrets: [...filler.secrets] };
  } catch (thrown) {
    if (thrown instanceof Refusal) return thrown.failure;
    throw thrown;
  }
}

/** Writes values into a text: the held ones of data, and the values of references. */
type Writer = (text: string, held: Marked, references: Marked) => string;

const raw: Writer = (text, held, references) => fillText(text, [held, references], valueText);

/** A value that is not the whole beginning of the address is one part of a host or a path, a port, or several parts of a host. */
const inServer: Writer = (text, held, references) => {
  const whole = new RegExp(`^\\s*${held.mark}`).test(text);
  return fillText(
    fillText(text, [held], value => {
      const part = textOf(value);
      if (whole || /^[\w.:-]*$/.test(part)) return part;
      throw new Refusal(
        notAnswered('BAD_REQUEST', 'what data puts into targetServerUrl would change more of it', false),
      );
    }),
    [references],
    valueText,
  );
};

/** A value is one part of a path, whatever it holds; a variable of the configuration may be several. */
const encoded: Writer = (text, held, references) =>
  fillText(
    fillText(text, [held], value => encodeURIComponent(textOf(value).toWellFormed())),
    [references],
    value => ((value as ResolvedReference).secret ? encodeURIComponent(valueText(value)) : valueText(value)),
  );

const WRITERS: Readonly<Record<BodyKind, Writer>> = {
  text: raw,
  json: (text, held, references) => fillJson(text, [held, textsIn(references)]),
  form: (text, held, references) =>
    fillText(text, [held, references], value => encodeURIComponent(valueText(value).toWellFormed())),
  xml: (text, held, references) =>
    fillText(text, [held, references], value =>
      valueText(value).replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`),
    ),
};

interface ResolvedReference {
  readonly reference: true;
  readonly text: string;
  readonly secret: boolean;
}

function valueText(value: unknown): string {
  const resolved = value as Partial<ResolvedReference> | null | undefined;
  return typeof value === 'object' && resolved?.reference === true ? resolved.text! : textOf(value);
}

function textsIn(references: Marked): Marked {
  return { mark: references.mark, at: index => valueText(references.at(index)) };
}

class Refusal extends Error {
  readonly failure: NotAnswered;
  constructor(failure: NotAnswered) {
    super(failure.message);
    this.failure = failure;
  }
}

class Filler {
  /** Every secret value that was put in. */
  readonly secrets = new Set<string>();
  /** Where the request goes, once that is known: in headers the token of the caller may stand for there. */
  goesTo: URL | undefined;
  private readonly turn: RequestTurn;
  private readonly hostFrom: HostFrom;

  constructor(turn: RequestTurn, hostFrom: HostFrom) {
    this.turn = turn;
    this.hostFrom = hostFrom;
  }

  noteCredential(value: string): void {
    this.secrets.add(value);
    this.secrets.add(value.replace(/^[A-Za-z]+ +/, ''));
  }

  async fill(compiled: CompiledText, write: Writer): Promise<string> {
    const { tools, templates, data } = this.turn;
    const held = new HeldValues();
    const text = await inSlices(
      templates.render(compiled.text, data, {
        now: tools.clock.now(),
        budget: tools.budget,
        hold: held.hold,
      }),
      tools.budget,
    );
    const values = await Promise.all(held.all.map(value => this.checked(value)));
    const references = await this.resolved(compiled);
    return write(
      text,
      { mark: held.mark, at: index => values[index] },
      { mark: compiled.mark, at: index => references[index] },
    );
  }

  /** Values of references, by their number. */
  private async resolved(compiled: CompiledText): Promise<ResolvedReference[]> {
    const values: ResolvedReference[] = [];
    for (const reference of compiled.references) {
      values.push(
        await this.resolve({ ...compiled, text: `${compiled.mark}0\uE001`, references: [reference] }),
      );
    }
    return values;
  }

  private async resolve(compiled: CompiledText): Promise<ResolvedReference> {
    const { references, conversation } = this.turn.tools;
    try {
      const { agentId, userId } = conversation;
      const token = compiled.references.some(isCallerToken) ? await this.callerToken() : undefined;
      const caller = { userId, ...(token !== undefined && { token }) };
      const { text, secrets } = await references.resolve(compiled, { agentId, caller });
      for (const secret of secrets) this.secrets.add(secret);
      return { reference: true, text, secret: secrets.length > 0 };
    } catch (thrown) {
      if (!(thrown instanceof PlatformError)) throw thrown;
      throw new Refusal(notAnswered('REFERENCE_UNRESOLVED', withoutEnd(thrown.message), false));
    }
  }

  /** Data that decides about the host decides about who gets it. */
  private async callerToken(): Promise<string | undefined> {
    if (this.goesTo === undefined || this.hostFrom !== 'operator') return undefined;
    return this.turn.tools.callerToken(this.goesTo);
  }

  /**
   * A secret that this conversation has kept may be used where its property is, unless data decides about the host; any other
   * reference in data is refused.
   */
  private async checked(value: unknown): Promise<unknown> {
    const text = textOf(value);
    if (!containsReference(text)) return value;
    const own = `\${vault:${this.turn.tools.conversation.conversationId}.`;
    if (this.hostFrom === 'operator' && text.startsWith(own) && /^[\w.-]+\}$/.test(text.slice(own.length))) {
      return (await this.resolve(compileForCheck(text))).text;
    }
    throw new Refusal(
      notAnswered(
        'REFERENCE_IN_DATA',
        'a reference to a secret or a variable arrived in data, and only the configuration may write one',
        false,
      ),
    );
  }
}

function withoutEnd(sentence: string): string {
  return sentence.replace(/\.$/, '');
}

function badRequest(message: string): NotAnswered {
  return notAnswered('BAD_REQUEST', message, false);
}

/** A phrase where the texts are no address. */
function urlOf(server: string, path: string): URL | string {
  const base = URL.parse(server);
  if (!base) return 'targetServerUrl is no address of a server';
  const end = path.search(/[?#]/);
  const parts = `${server}/${end < 0 ? path : path.slice(0, end)}`.split(/[/\\]/);
  // A value such as ".." would lead to another resource of the server.
  if (parts.some(part => /^(?:\.|%2e){1,2}$/i.test(part))) return 'the address has a part "." or ".."';
  const joined = path === '' || /^[/?#]/.test(path) ? path : `/${path}`;
  const url = URL.parse(server.replace(/\/+$/, '') + joined);
  return url?.origin === base.origin ? url : 'targetServerUrl and path are no address together';
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
