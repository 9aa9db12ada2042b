/**
 * Takes secrets out of what is written down for people: by the name they stand under, and by their shape wherever they
 * stand (attacks 46, one-system.md 7). Text it returns has no control characters, so it cannot start a line of its own.
 */

const REDACTED = '[redacted]';

/** A name with one of these words holds a secret ... */
const SECRET_WORDS = new Set([
  'authorization',
  'token',
  'tokens',
  'key',
  'keys',
  'apikey',
  'apikeys',
  'secret',
  'secrets',
  'password',
  'passwords',
  'passwd',
  'pwd',
  'passphrase',
  'cookie',
  'cookies',
  'jwt',
  'bearer',
  'verifier',
  'assertion',
  'pem',
]);
/** ... and so does one with a word that ends like this: `PGPASSWORD`, `accesstoken`. */
const SECRET_ENDINGS = /(?:password|passwd|secret|token|apikey|cookie)s?$/;
/** ... unless the name ends in one of these, which name or count a secret without being it. */
const HARMLESS_ENDINGS = new Set(['id', 'ids', 'name', 'names', 'count', 'kind', 'type', 'scopes']);

const WORDS = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g;

/** True for `apiKey`, `X-Agent-API-Key`, `client_secret`, `set-cookie`; false for `keyId`, `monkey`. */
export function isSecretName(name: string): boolean {
  let known = knownNames.get(name);
  if (known === undefined) {
    known = saysSecret(name);
    if (knownNames.size === MAX_KNOWN_NAMES) knownNames.clear();
    if (name.length <= MAX_KNOWN_LENGTH) knownNames.set(name, known);
  }
  return known;
}

/** The same names are looked at in every turn. */
const knownNames = new Map<string, boolean>();
const MAX_KNOWN_NAMES = 1_000;
const MAX_KNOWN_LENGTH = 100;

function saysSecret(name: string): boolean {
  const words = name.match(WORDS)?.map(word => word.toLowerCase()) ?? [];
  if (words.length > 1 && HARMLESS_ENDINGS.has(words.at(-1)!)) return false;
  return words.some(word => SECRET_WORDS.has(word) || SECRET_ENDINGS.test(word));
}

/** One look decides whether the patterns below have to run at all. */
const MAYBE_SECRET =
  /oag_|bak_|eyJ|:\/\/|=|sk-|gh[a-z]_|github_pat_|xox|-----BEGIN|bearer|basic|authorization|cookie|\w\\?["']\s*:/i;

/** The same for JSON, which has quotes and colons everywhere: names of secrets instead. */
const MAYBE_SECRET_IN_JSON =
  /oag_|bak_|eyJ|:\/\/|=|sk-|gh[a-z]_|github_pat_|xox|-----BEGIN|bearer|basic|authorization|cookie|key|token|secret|passw|pwd|passphrase|jwt|verifier|assertion|pem/i;

/** What a secret looks like in running text. The group, if any, is kept. Each pattern takes linear time. */
const SECRET_SHAPES: readonly RegExp[] = [
  /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|$)/g,
  /(\b(?:proxy-)?authorization["']?\s{0,3}[:=]\s{0,3}["']?)(?:[a-z]{1,20}\s{1,3})?[^\s"',;]+/gi,
  /(\b(?:set-)?cookie["']?\s{0,3}[:=]\s{0,3}["']?)[^\r\n"']+/gi,
  /(\b(?:bearer|dpop)\s{1,3})[\w.~+/=-]{6,}/gi,
  /(\b(?:Basic|basic)\s{1,3})(?=[a-z]{0,200}[A-Z0-9+/=])[A-Za-z0-9+/]{8,}={0,2}/g,
  /((?:oag|bak)_)[\w.~+/=-]{4,}/g,
  /\b(?:sk-|gh[pousr]_|github_pat_|xox[abeprs]-)[\w-]{8,}/g,
  /(:\/\/[^\s/@:]*:)[^\s/]*(?=@)/g,
  /((?:key|token|secret|password|passwd|pwd|passphrase|assertion|verifier)=)[^\s&"',;)]+/gi,
  /([?&](?:code|state|sig|signature)=)[^\s&"'#]+/gi,
  /((?:key|token|secret|password|passwd|pwd|passphrase|assertion|verifier)\\?["']\s{0,3}:\s{0,3}\\?["'])(?:[^"'\\]|\\[^"'])+/gi,
];

/** Words with dots between them, each looked at once: a JSON web token is among them when one of the words has its beginning. */
const DOTTED = /(?<![\w-])[\w-]+(?:\.[\w-]*)+/g;
const TOKEN_BEGINS = 'eyJ';

/** From a token on, which may have stood behind something else, to the end of the words. */
function withoutToken(dotted: string): string {
  const words = dotted.split('.');
  let at = 0;
  for (const [index, word] of words.entries()) {
    const inWord = word.indexOf(TOKEN_BEGINS);
    if (inWord >= 0 && word.length - inWord >= 8 && (words[index + 1]?.length ?? 0) >= 5) {
      return dotted.slice(0, at + inWord) + REDACTED;
    }
    at += word.length + 1;
  }
  return dotted;
}

/** C0 and C1 controls, DEL, line and paragraph separators, and the marks that turn the direction of text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

const SHORT_ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

const MAX_TEXT = 8_192;
/** Read at most this much before redacting, so that a secret cut at the end of the reading is not in the kept part. */
const MAX_READ = 4 * MAX_TEXT;
const MAX_DEPTH = 8;
const MAX_MEMBERS = 1_000;
const MAX_FRAMES = 20;
const MAX_CAUSES = 8;

/** The text without what looks like a secret, otherwise as it is. */
export function redactSecrets(text: string): string {
  if (!MAYBE_SECRET.test(text)) return text;
  let clean = text;
  for (const shape of SECRET_SHAPES) {
    clean = clean.replace(shape, (_match, kept) => `${typeof kept === 'string' ? kept : ''}${REDACTED}`);
  }
  return clean.includes(TOKEN_BEGINS) ? clean.replace(DOTTED, withoutToken) : clean;
}

/** The JSON of a value without secrets: neither under a name that holds one, nor in any text. */
export function redactedJson(value: unknown): string {
  const json = JSON.stringify(value);
  // Reading the value costs a third of writing it through a function, and most have none.
  if (!MAYBE_SECRET_IN_JSON.test(json) || !holdsSecret('', value, 0)) return json;
  return JSON.stringify(value, (name, member: unknown) =>
    typeof member === 'string' ? redactMember(name, member) : member,
  );
}

function redactMember(name: string, text: string): string {
  return text !== '' && isSecretName(name) ? REDACTED : redactSecrets(text);
}

/** True also of what is not looked at: what is deep, and what decides by itself how it is written. */
function holdsSecret(name: string, value: unknown, depth: number): boolean {
  if (typeof value === 'string') return redactMember(name, value) !== value;
  if (typeof value !== 'object' || value === null) return false;
  if (depth > MAX_LOOK_DEPTH || 'toJSON' in value) return true;
  if (Array.isArray(value)) return value.some(item => holdsSecret('', item, depth + 1));
  return Object.entries(value).some(([key, member]) => holdsSecret(key, member, depth + 1));
}

const MAX_LOOK_DEPTH = 100;

/** The text without secrets and control characters, cut after 8192 characters. */
export function redactText(text: string): string {
  let clean = redactSecrets(text.length > MAX_READ ? text.slice(0, MAX_READ) : text);
  if (clean.length > MAX_TEXT) clean = `${clean.slice(0, MAX_TEXT)}... (cut)`;
  return clean.replace(CONTROLS, escapeControl);
}

function escapeControl(character: string): string {
  return SHORT_ESCAPES[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** An error as plain data, its causes inside. */
export interface DescribedError {
  readonly name: string;
  readonly message: string;
  readonly code?: unknown;
  readonly kind?: unknown;
  readonly data?: unknown;
  readonly details?: unknown;
  readonly errors?: readonly unknown[];
  /** The places, innermost first, without the message. */
  readonly stack?: readonly string[];
  readonly cause?: unknown;
}

/**
 * A copy of the value that is safe to write down: plain data, secrets replaced, errors described with their causes,
 * cycles, depth and size bounded. Never throws.
 */
export function redactFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const walk = new Walk();
  return walk.members(Object.entries(fields), 0);
}

class Walk {
  private readonly inside = new Set<object>();
  private left = MAX_MEMBERS;

  private value(value: unknown, depth: number): unknown {
    switch (typeof value) {
      case 'string':
        return redactText(value);
      case 'number':
        return Number.isFinite(value) ? value : String(value);
      case 'boolean':
      case 'undefined':
        return value;
      case 'bigint':
        return String(value);
      case 'object':
        if (value === null) return null;
        return this.object(value, depth);
      default:
        return `[${typeof value}]`;
    }
  }

  private object(value: object, depth: number): unknown {
    if (this.inside.has(value)) return '[circular]';
    if (depth >= MAX_DEPTH) return '[too deep]';
    this.inside.add(value);
    try {
      if (value instanceof Error) return this.error(value, depth);
      if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
      if (value instanceof URL) return redactText(value.href);
      if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`;
      if (Array.isArray(value)) return this.list(value, depth);
      if (value instanceof Set) return this.list([...value], depth);
      if (value instanceof Map || value instanceof Headers || value instanceof URLSearchParams) {
        return this.members(
          [...value].map(([name, member]) => [String(name), member]),
          depth,
        );
      }
      return this.members(Object.entries(value), depth);
    } catch {
      // A getter or a proxy that throws must not cost the line.
      return '[unreadable]';
    } finally {
      this.inside.delete(value);
    }
  }

  members(entries: readonly (readonly [string, unknown])[], depth: number): Record<string, unknown> {
    const copy: Record<string, unknown> = {};
    for (const [name, member] of entries) {
      if (this.left-- <= 0) {
        copy['...'] = '(cut)';
        break;
      }
      // `defineProperty`, because assigning to `__proto__` would change the copy's prototype.
      Object.defineProperty(copy, redactText(name), {
        value: this.member(name, member, depth),
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
    return copy;
  }

  private member(name: string, member: unknown, depth: number): unknown {
    if (member === undefined || member === null || member === '' || !isSecretName(name)) {
      return this.value(member, depth + 1);
    }
    // `maxTokens: 4096` counts tokens and holds none.
    if (/tokens$/i.test(name) && typeof member === 'number') return member;
    return REDACTED;
  }

  private list(items: readonly unknown[], depth: number): unknown[] {
    const copy: unknown[] = [];
    for (const [index, item] of items.entries()) {
      if (this.left-- <= 0) {
        copy.push('... (cut)');
        break;
      }
      // Raw headers come as name, value, name, value, and as pairs.
      const before = items[index - 1];
      const named = typeof before === 'string' && before.length < 60 && isSecretName(before);
      copy.push(named ? REDACTED : this.value(item, depth + 1));
    }
    return copy;
  }

  private error(error: Error, depth: number): DescribedError {
    // Only members we know: database drivers put rows and statements on their errors.
    const { code, kind, data, details } = error as Error & Record<string, unknown>;
    const errors = error instanceof AggregateError ? error.errors : undefined;
    return {
      name: redactText(String(error.name)),
      message: redactText(String(error.message)),
      ...(code !== undefined && { code: this.value(code, depth + 1) }),
      ...(kind !== undefined && { kind: this.value(kind, depth + 1) }),
      ...(data !== undefined && { data: this.value(data, depth + 1) }),
      ...(details !== undefined && { details: this.value(details, depth + 1) }),
      ...(errors && { errors: this.list(errors.slice(0, MAX_CAUSES), depth + 1) }),
      ...(typeof error.stack === 'string' && { stack: frames(error.stack, error.message) }),
      ...(error.cause !== undefined && { cause: this.value(error.cause, depth + 1) }),
    };
  }
}

/** The stack repeats the message, which may imitate frames: it is skipped as a whole. */
function frames(stack: string, message: string): string[] {
  const start = message === '' ? -1 : stack.indexOf(message);
  return stack
    .slice(start < 0 ? 0 : start + message.length)
    .split('\n')
    .map(line => line.trim())
    .filter(line => line.startsWith('at '))
    .slice(0, MAX_FRAMES)
    .map(redactText);
}

/** What is shorter stands in too many texts by chance. */
const MIN_SCRUBBED = 4;

/**
 * Takes these very values out of a text, also as JSON, XML or HTML, in a URL or form, and in base64 wherever they begin in what was encoded: for
 * texts that may hold a secret which was put into a request, such as the answer of a server that repeats it. Values of fewer than
 * four characters stay.
 */
export function createScrubber(values: readonly string[]): (text: string) => string {
  const forms = [...new Set(values.filter(value => value.length >= MIN_SCRUBBED).flatMap(formsOf))];
  // The longest first: a shorter one may be a part of it.
  forms.sort((one, other) => other.length - one.length);
  return text => forms.reduce(withoutForm, text);
}

/** Both, one after the other, where both are there. */
export function inTurn<T extends (text: string) => string>(
  one: T | undefined,
  other: T | undefined,
): ((text: string) => string) | undefined {
  return one && other ? text => other(one(text)) : (one ?? other);
}

/** The engine compares a long form anew at each place where it may begin, which for some texts takes hours. */
const MAX_COMPARED = 200;

function withoutForm(text: string, form: string): string {
  if (form.length <= MAX_COMPARED || form.length > text.length) return text.replaceAll(form, REDACTED);
  let clean = '';
  let done = 0;
  for (const end of endsOf(form, text)) {
    clean += text.slice(done, end - form.length) + REDACTED;
    done = end;
  }
  return clean + text.slice(done);
}

/** Where the form ends in the text, each time it is there, without overlaps. Linear in both (Knuth, Morris and Pratt). */
function* endsOf(form: string, text: string): Generator<number> {
  const goOn = new Uint32Array(form.length);
  for (let at = 1, same = 0; at < form.length; at++) {
    while (same > 0 && form[at] !== form[same]) same = goOn[same - 1]!;
    if (form[at] === form[same]) same++;
    goOn[at] = same;
  }
  for (let at = 0, same = 0; at < text.length; at++) {
    while (same > 0 && text[at] !== form[same]) same = goOn[same - 1]!;
    if (text[at] === form[same]) same++;
    if (same < form.length) continue;
    yield at + 1;
    same = 0;
  }
}

/** How writers of XML and HTML spell what a text may not hold. */
const XML_ESCAPES: readonly Readonly<Record<string, string>>[] = [
  { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' },
  { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' },
  { '&': '&#38;', '<': '&#60;', '>': '&#62;', '"': '&#34;', "'": '&#39;' },
  { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '"', "'": "'" },
];

function formsOf(value: string): string[] {
  const inForm = new URLSearchParams([['', value]]).toString().slice(1);
  const inUrl = encodeURIComponent(value.toWellFormed());
  const base64 = [0, 1, 2].map(offset => base64At(Buffer.from(value, 'utf8'), offset));
  return [
    value,
    value.trim(),
    JSON.stringify(value).slice(1, -1),
    ...XML_ESCAPES.map(escapes => value.replace(/[&<>"']/g, character => escapes[character]!)),
    inUrl,
    inForm,
    ...[inUrl, inForm].map(text => text.replaceAll(/%[0-9A-F]{2}/g, hex => hex.toLowerCase())),
    ...base64,
    ...base64.map(text => text.replaceAll('+', '-').replaceAll('/', '_')),
  ].filter(form => form.length >= MIN_SCRUBBED);
}

/** The characters that are the same whatever stands before and behind, when the value begins so many bytes into a group of three. */
function base64At(bytes: Buffer, offset: number): string {
  const padded = Buffer.concat([Buffer.alloc(offset), bytes]);
  return padded.toString('base64').slice(Math.ceil((offset * 8) / 6), Math.floor((padded.length * 8) / 6));
}
