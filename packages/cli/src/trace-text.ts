import type { ExplainedCondition, ExplainedRule, TracedStep } from '@patchbay/contract/operations/trace';
import type { Io } from './io.ts';
import { indent, printable, writeLine } from './text.ts';

const MAX_VALUE = 200;

/** The steps of a turn for a person, on stderr: stdout has the answer alone. */
export function printTrace(io: Io, steps: readonly TracedStep[]): void {
  let turn: number | undefined;
  for (const { stepIndex, type, durationMs, changed, rules = [] } of steps) {
    if (stepIndex !== turn) writeLine(io.stderr, `turn ${stepIndex}`);
    turn = stepIndex;
    writeLine(io.stderr, `  ${type}, ${durationMs} ms`);
    for (const rule of rules) writeLine(io.stderr, indent(ruleText(rule), '    '));
    for (const [name, value] of Object.entries(changed)) {
      writeLine(io.stderr, `    ${oneLine(name)} = ${oneLine(valueText(value))}`);
    }
  }
}

function ruleText({ group, rule, fired, actions, conditions }: ExplainedRule): string {
  const outcome = fired ? `fired, raised ${actions.join(', ') || 'nothing'}` : 'did not fire';
  const head = oneLine(`${group} / ${rule}: ${outcome}`);
  return [head, ...conditions.map(conditionText)].join('\n');
}

function conditionText({ depth, type, state, asked, found }: ExplainedCondition): string {
  const mark = { SUCCESS: '+', FAIL: '-', NOT_EXECUTED: '?', ERROR: '!' }[state];
  const met = found === undefined ? '' : `; there was: ${found || 'nothing'}`;
  return indent(oneLine(`${mark} ${type} ${asked}`.trimEnd() + met), '  '.repeat(depth + 1));
}

function valueText(value: unknown): string {
  const isTexts = Array.isArray(value) && value.every(entry => typeof entry === 'string');
  const text = isTexts ? value.join(', ') : JSON.stringify(value);
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}...` : text;
}

/** Nothing a person or agent said may look like a line of ours. */
function oneLine(text: string): string {
  return printable(text).replace(/\s+/g, ' ');
}
