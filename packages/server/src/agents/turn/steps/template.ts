import type { Template } from 'liquidjs';
import { Context, Liquid } from 'liquidjs';
import { Fault } from '../../../kernel/errors.ts';
import { dataPathProblem } from '../../language/data-path.ts';

/** Limits of one text. The platform is shared: no template may hold the process up or fill its memory. */
const MAX_SOURCE = 100_000;
const MAX_OUTPUT = 2_000_000;
const MAX_MEMORY = 10_000_000;
const MAX_RENDER_MS = 200;

/** Holds no state: options, tags and filters only. */
const liquid = createEngine();

function createEngine(): Liquid {
  const engine = new Liquid({
    ownPropertyOnly: true,
    strictFilters: true,
    parseLimit: MAX_SOURCE,
    memoryLimit: MAX_MEMORY,
    renderLimit: MAX_RENDER_MS,
    // The same text on every machine.
    timezoneOffset: 0,
    locale: 'en-US',
  });
  // These read other templates, and there are none to read.
  for (const tag of ['include', 'render', 'layout', 'block']) delete engine.tags[tag];
  // Chance is not a template's to use.
  delete engine.filters.sample;
  for (const name of [
    'date',
    'date_to_xmlschema',
    'date_to_rfc822',
    'date_to_string',
    'date_to_long_string',
  ]) {
    readClockFrom(engine, name);
  }
  return engine;
}

/** Makes a date filter take "now" from the turn's clock. */
function readClockFrom(engine: Liquid, name: string): void {
  const filter = engine.filters[name];
  if (typeof filter !== 'function')
    throw new Fault('LIQUID_FILTER', `liquidjs has no filter ${name} any more`);
  engine.registerFilter(name, function (value, ...args) {
    const isNow = value === 'now' || value === 'today';
    return filter.call(this, isNow ? new Date(this.context.getRegister('now')) : value, ...args);
  });
}

/** Is there anything to render? Most texts are plain, and are never parsed. */
function isTemplate(text: string): boolean {
  return text.includes('{{') || text.includes('{%');
}

/** What is wrong with a text as a template, as a phrase; `undefined` when it can be rendered. */
export function templateProblem(text: string): string | undefined {
  if (!isTemplate(text)) return undefined;
  try {
    const { globals } = liquid.analyzeSync(liquid.parse(text));
    for (const variables of Object.values(globals)) {
      for (const { segments } of variables) {
        const problem = dataPathProblem(segments);
        if (problem) return problem;
      }
    }
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

export interface TemplateCache {
  /** Renders a text; a missing value is empty. Throws a `Fault` when a limit is passed or a filter fails. */
  render(text: string, data: Readonly<Record<string, unknown>>, now: number): string;
}

/** Keeps up to `size` parsed templates, the oldest leaving first. */
export function createTemplateCache(size: number): TemplateCache {
  const parsed = new Map<string, Template[]>();
  const parse = (text: string): Template[] => {
    const known = parsed.get(text);
    if (known) return known;
    const template = liquid.parse(text);
    if (parsed.size >= size) parsed.delete(parsed.keys().next().value!);
    parsed.set(text, template);
    return template;
  };
  return {
    render(text, data, now) {
      if (!isTemplate(text)) return text;
      try {
        const context = new Context(data, liquid.options, { sync: true });
        context.setRegister('now', now);
        const rendered: string = liquid.renderSync(parse(text), context);
        if (rendered.length <= MAX_OUTPUT) return rendered;
      } catch (cause) {
        throw new Fault('TEMPLATE_FAILED', 'A template could not be rendered', { cause });
      }
      throw new Fault('TEMPLATE_TOO_LONG', `A rendered template is longer than ${MAX_OUTPUT} characters`);
    },
  };
}
