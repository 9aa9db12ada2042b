import type { OutputItem } from '@patchbay/contract/operations/conversation';
import { PlatformError } from '../../../../kernel/errors.ts';
import { MAX_BUBBLES, MAX_QUICK_REPLIES } from '../../../document/output.ts';
import { knownDataPath, readDataPath } from '../../../language/data-path.ts';
import { parseExpressions } from '../../../language/expression.ts';
import type { TurnMemory } from '../../../step/step.ts';
import { fillText, HeldValues, textOf } from '../held-values.ts';
import type { Sliced } from '../in-slices.ts';
import { withValue } from '../turn-data.ts';
import type { HttpCall } from './http-call.ts';
import type { RequestTurn } from './request-template.ts';
import { runsOn } from './runs-on.ts';

type PostResponse = NonNullable<HttpCall['postResponse']>;
type OutputInstruction = PostResponse['outputBuildInstructions'][number];
type ReplyInstruction = PostResponse['qrBuildInstructions'][number];

/** The name an entry of a list has where no other is given. */
export const ENTRY = 'entry';

/** Says what the answer of a call is to say, in order. Throws a `PlatformError` when that is too much. */
export function* buildAnswers(
  { outputBuildInstructions, qrBuildInstructions }: PostResponse,
  status: number | undefined,
  turn: RequestTurn & { readonly memory: TurnMemory },
): Sliced<void> {
  const { memory } = turn;
  for (const instruction of outputBuildInstructions) {
    if (!runsOn(instruction.httpCodeValidator, status)) continue;
    for (const data of yield* entriesOf(instruction, turn)) {
      const item = itemOf(instruction, yield* renderPlain(instruction.outputValue, { ...turn, data }));
      if (memory.output.push(item) > MAX_BUBBLES) throw tooMany(MAX_BUBBLES, 'bubbles');
    }
  }
  for (const instruction of qrBuildInstructions) {
    if (!runsOn(instruction.httpCodeValidator, status)) continue;
    for (const data of yield* entriesOf(instruction, turn)) {
      const expressions = yield* expressionsOf(instruction, { ...turn, data });
      const value = yield* renderPlain(instruction.quickReplyValue, { ...turn, data });
      if (memory.quickReplies.push({ value, ...(expressions && { expressions }) }) > MAX_QUICK_REPLIES) {
        throw tooMany(MAX_QUICK_REPLIES, 'quick replies');
      }
    }
  }
}

/** The texts of the instructions that are templates, with the name of an entry. */
export function* answerTexts({ outputBuildInstructions, qrBuildInstructions }: PostResponse) {
  for (const {
    iterationObjectName = ENTRY,
    templateFilterExpression,
    outputValue,
  } of outputBuildInstructions) {
    yield { name: iterationObjectName, texts: [templateFilterExpression ?? '', outputValue] };
  }
  for (const instruction of qrBuildInstructions) {
    const {
      iterationObjectName = ENTRY,
      templateFilterExpression,
      quickReplyValue,
      quickReplyExpressions,
    } = instruction;
    yield {
      name: iterationObjectName,
      texts: [templateFilterExpression ?? '', quickReplyValue, quickReplyExpressions ?? ''],
    };
  }
}

/** The turn's data for each entry that the filter lets through; once where there is no list to go over. */
function* entriesOf(
  {
    pathToTargetArray,
    iterationObjectName = ENTRY,
    templateFilterExpression,
  }: OutputInstruction | ReplyInstruction,
  turn: RequestTurn,
): Sliced<RequestTurn['data'][]> {
  const list =
    pathToTargetArray === undefined ? undefined : readDataPath(turn.data, knownDataPath(pathToTargetArray));
  if (pathToTargetArray !== undefined && !Array.isArray(list)) return [];
  const all = Array.isArray(list)
    ? list.map((entry: unknown) => withValue(turn.data, iterationObjectName, entry))
    : [turn.data];
  if (templateFilterExpression === undefined) return all;
  const passed: RequestTurn['data'][] = [];
  for (const data of all) {
    const verdict = (yield* renderWith(templateFilterExpression, { ...turn, data }, textOf)).trim();
    if (verdict !== '' && verdict !== 'false') passed.push(data);
  }
  return passed;
}

function* renderWith(
  text: string,
  { templates, tools, data }: RequestTurn,
  write: (value: unknown) => string,
) {
  const held = new HeldValues();
  const turn = { now: tools.clock.now(), budget: tools.budget, hold: held.hold };
  return fillText(yield* templates.render(text, data, turn), [held], write);
}

/** What comes out is rendered once more, with the rest of the answer: what an answer of a server holds is no template there. */
function renderPlain(text: string, turn: RequestTurn): Sliced<string> {
  return renderWith(text, turn, value => textOf(value).replace(/\{(?=[{%])/g, '{{ "{" }}'));
}

function itemOf({ outputType }: OutputInstruction, text: string): OutputItem {
  if (outputType === 'text') return { type: outputType, text };
  return outputType === 'image' ? { type: outputType, uri: text } : { type: outputType, value: text };
}

/** A value is one word of an expression: it cannot close it and begin another. */
function* expressionsOf(
  { quickReplyExpressions }: ReplyInstruction,
  turn: RequestTurn,
): Sliced<string | undefined> {
  if (quickReplyExpressions === undefined) return undefined;
  const text = yield* renderWith(quickReplyExpressions, turn, value => textOf(value).replace(/[(),]/g, ' '));
  return parseExpressions(text) && text;
}

function tooMany(max: number, what: string): PlatformError {
  return new PlatformError(
    'internal',
    `one turn may have ${max} ${what}; let the answers of calls say less.`,
  );
}
