import { createHash } from 'node:crypto';
import { parseDocumentUri } from '@patchbay/contract/ids';
import {
  type Context,
  defaultOperators,
  type Emitter,
  evalToken,
  type FilterImplOptions,
  Liquid,
  type Token,
  TokenKind,
} from 'liquidjs';

type FilterHandler = Exclude<FilterImplOptions, { readonly raw: boolean }>;

/** What a rendering is charged to; throws when it may have no more. */
export interface Charge {
  work(steps: number): void;
}

/** Longer sources are refused: what a template uses is found out in time square to its length. */
export const MAX_SOURCE = 10_000;
/** No data of a conversation is deeper; what templates pile up could be, and then reading it takes for ever. */
const MAX_DEPTH = 100;
/** Looking for a text in another may compare each character of the one with each of the other, many in a step. */
const COMPARISONS_A_STEP = 100;

/** A time zone is looked up anew for every date. */
const STEPS_A_DATE = 2_000;

const DATE_FILTERS = new Set([
  'date',
  'date_to_xmlschema',
  'date_to_rfc822',
  'date_to_string',
  'date_to_long_string',
]);
const JSON_FILTERS = new Set(['json', 'jsonify', 'inspect']);
const LOOKING_FILTERS = new Set([
  'split',
  'remove',
  'remove_first',
  'remove_last',
  'replace',
  'replace_first',
  'replace_last',
]);

const OWN_FILTERS: Readonly<Record<string, FilterHandler>> = {
  /** An id for what the text names: the same in one turn, another in every other. */
  uuid(name) {
    const turn = this.context.getRegister<string>('turn');
    const hex = createHash('sha256')
      .update(`${turn} ${String(name ?? '')}`)
      .digest('hex');
    const variant = ((Number.parseInt(hex[16]!, 16) & 3) | 8).toString(16);
    return [
      hex.slice(0, 8),
      hex.slice(8, 12),
      `8${hex.slice(13, 16)}`,
      `${variant}${hex.slice(17, 20)}`,
      hex.slice(20, 32),
    ].join('-');
  },
  extract_id: uri => parseDocumentUri(String(uri))?.id ?? '',
  extract_version: uri => parseDocumentUri(String(uri))?.version ?? '',
};
/** JSON that a filter has written. */
export class JsonText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

/** Register of a context: takes what a template puts out, and gives what stands for it. */
export const HOLD = 'hold';

/**
 * Liquid for templates of strangers: no other templates, no chance, no clock but the turn's, and everything charged before it
 * is done, by its size, to what `chargeTo` gave the context. Holds no state.
 */
export function createEngine(): Liquid {
  const engine = new Liquid({
    ownPropertyOnly: true,
    strictFilters: true,
    parseLimit: MAX_SOURCE,
    // The same text on every machine.
    timezoneOffset: 0,
    locale: 'en-US',
    operators: {
      ...defaultOperators,
      *contains(text: unknown, part: unknown, context: Context) {
        if (typeof text === 'string') chargeLooking(text, part, context);
        return yield defaultOperators.contains!(text, part, context);
      },
    },
    // Called before every output, however deep in tags; as a filter, which its type does not say.
    outputEscape: chargeOutput as unknown as (value: unknown) => string,
  });
  // These read other templates, and there are none to read.
  for (const tag of ['include', 'render', 'layout', 'block']) delete engine.tags[tag];
  for (const name of ['for', 'tablerow']) engine.registerTag(name, chargedLoop(engine.tags[name]!));
  // Chance is not a template's to use.
  delete engine.filters.sample;
  for (const [name, filter] of Object.entries(OWN_FILTERS)) engine.registerFilter(name, filter);
  for (const [name, filter] of Object.entries(engine.filters)) {
    engine.registerFilter(name, charged(name, typeof filter === 'function' ? filter : filter.handler));
  }
  return engine;
}

type TagClass = Liquid['tags'][string];

/** A loop, with the list of its members charged that the library makes of an object before the first one, however few it is for. */
function chargedLoop(Loop: TagClass): TagClass {
  const { render } = Loop.prototype as { render(context: Context, emitter: Emitter): unknown };
  return class extends Loop {
    declare collection: Token;
    override *render(context: Context, emitter: Emitter): Generator<unknown, unknown, unknown> {
      if (this.collection.kind === TokenKind.PropertyAccess) {
        const members = yield evalToken(this.collection, context);
        if (typeof members === 'object' && members !== null)
          context.memoryLimit.use(Object.keys(members).length);
      }
      return yield render.call(this, context, emitter);
    }
  };
}

/** Has the library charge what it measures itself. Its own unit is one character or one member of a list. */
export function chargeTo(charge: Charge): Pick<Context, 'memoryLimit' | 'renderLimit'> {
  const memoryLimit = {
    use(count: unknown) {
      const steps = Number(count);
      if (steps > 0) charge.work(steps);
    },
    check() {},
  };
  // Nodes are charged by whoever runs them; the class of the library cannot be told from this.
  return { memoryLimit, renderLimit: { use() {}, check() {} } } as unknown as Pick<
    Context,
    'memoryLimit' | 'renderLimit'
  >;
}

function charged(name: string, handler: FilterHandler): FilterHandler {
  if (LOOKING_FILTERS.has(name)) {
    return function (value, part, ...rest) {
      chargeLooking(value, part, this.context);
      chargeFor(rest, this.context);
      return handler.call(this, value, part, ...rest);
    };
  }
  if (JSON_FILTERS.has(name)) {
    return function (value) {
      chargeFor(value, this.context);
      // Without the width of an indentation, which would multiply what is deep.
      const json: unknown = handler.call(this, value);
      return isHeld(this.context) ? new JsonText(typeof json === 'string' ? json : 'null') : json;
    };
  }
  if (DATE_FILTERS.has(name)) {
    return function (value, ...args) {
      this.context.memoryLimit.use(STEPS_A_DATE);
      chargeFor([value, ...args], this.context);
      const isNow = value === 'now' || value === 'today';
      return handler.call(this, isNow ? new Date(this.context.getRegister<number>('now')) : value, ...args);
    };
  }
  return function (value, ...args) {
    chargeFor(value, this.context);
    for (const arg of args) chargeFor(arg, this.context);
    return handler.call(this, value, ...args);
  };
}

const chargeOutput: FilterHandler = function (value) {
  chargeFor(value, this.context);
  const hold: unknown = this.context.getRegister(HOLD);
  return typeof hold === 'function' ? (hold(value) as unknown) : value;
};

function isHeld(context: Context): boolean {
  return typeof (context.getRegister(HOLD) as unknown) === 'function';
}

function chargeLooking(text: unknown, part: unknown, context: Context): void {
  const comparisons = chargeFor(text, context) * chargeFor(part, context);
  context.memoryLimit.use(comparisons / COMPARISONS_A_STEP);
}

/** Charges all that writing the value would write and reading it would read; returns how much that is. */
function chargeFor(value: unknown, context: Context, depth = 0): number {
  if (typeof value === 'string') {
    context.memoryLimit.use(value.length);
    return value.length;
  }
  if (typeof value !== 'object' || value === null) return 1;
  if (depth === MAX_DEPTH) throw new Error(`A value is nested deeper than ${MAX_DEPTH}.`);
  const parts: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  context.memoryLimit.use(parts.length);
  let size = parts.length;
  for (const part of parts) size += chargeFor(part, context, depth + 1);
  return size;
}
