import { containsReference } from '../../../../secrets/reference-text.ts';
import type { StepTools } from '../../../step/step.ts';
import { fillText, HeldValues, textOf } from '../held-values.ts';
import { inSlices } from '../in-slices.ts';
import { isTemplate, type TemplateCache } from '../template.ts';

/** What arguments are filled with. */
export interface ArgumentsTurn {
  readonly tools: StepTools;
  readonly templates: TemplateCache;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The texts in arguments that are templates, with their paths. */
export function* argumentTexts(
  value: unknown,
  path: string,
): Generator<readonly [text: string, path: string]> {
  if (typeof value === 'string') yield [value, path];
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    yield* argumentTexts(member, Array.isArray(value) ? `${path}[${name}]` : `${path}.${name}`);
  }
}

/**
 * Arguments with their templates filled in. A text that is one expression and nothing else becomes the value it names, so that numbers and lists
 * stay what they are. `undefined` where a reference to a secret arrived in data: only the configuration may write one.
 */
export async function fillArguments(value: unknown, turn: ArgumentsTurn): Promise<unknown> {
  if (typeof value === 'string') return isTemplate(value) ? fill(value, turn) : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const list: unknown[] = [];
    for (const member of value) list.push(await fillArguments(member, turn));
    return list;
  }
  const filled: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) filled[name] = await fillArguments(member, turn);
  return filled;
}

/** A reference arrived in data. */
export class ReferenceInData extends Error {}

async function fill(source: string, { tools, templates, data }: ArgumentsTurn): Promise<unknown> {
  const held = new HeldValues();
  const turn = { now: tools.clock.now(), budget: tools.budget, hold: held.hold };
  const text = await inSlices(templates.render(source, data, turn), tools.budget);
  for (const value of held.all) if (containsReference(textOf(value))) throw new ReferenceInData();
  if (held.isOne(text)) return plain(held.at(0));
  return fillText(text, [held], textOf);
}

/** A value as JSON has it; what a template knows as nothing is an empty text. */
function plain(value: unknown): unknown {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? (JSON.parse(textOf(value)) as unknown) : value;
}
