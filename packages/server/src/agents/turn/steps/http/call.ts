import type { CompiledText } from '../../../../secrets/references.ts';
import { knownDataPath, readDataPath } from '../../../language/data-path.ts';
import type { StepTools, TurnMemory } from '../../../step/step.ts';
import { inSlices } from '../in-slices.ts';
import { compileInstructions, type Instruction, instruct } from '../instructions.ts';
import type { TemplateCache } from '../template.ts';
import { withValue } from '../turn-data.ts';
import type { Background } from './background.ts';
import { buildAnswers, ENTRY } from './build-answers.ts';
import { exchange } from './exchange.ts';
import { answerName, type HttpCall, type HttpcallsDocument, isSafe } from './http-call.ts';
import { type HttpOutcome, type NotAnswered, notAnswered, OUTCOME_UNKNOWN } from './outcome.ts';
import { type BuiltRequest, buildRequest, compileRequest, type RequestTemplate } from './request-template.ts';
import { waitBeforeRetry } from './retry.ts';
import { runsOn } from './runs-on.ts';

/** A call of a document with everything read. */
export interface PreparedCall {
  readonly call: HttpCall;
  readonly request: RequestTemplate;
  readonly before: readonly Instruction[];
  readonly after: readonly Instruction[];
}

/** Throws a `PlatformError` of kind `invalid`: see `compileRequest`. */
export function prepareCalls(
  { targetServerUrl, httpCalls }: HttpcallsDocument,
  compile: (text: string) => CompiledText,
): PreparedCall[] {
  return httpCalls.map(call => ({
    call,
    request: compileRequest(targetServerUrl, call, compile),
    before: compileInstructions(call.preRequest?.propertyInstructions ?? []),
    after: compileInstructions(call.postResponse?.propertyInstructions ?? []),
  }));
}

export interface CallTurn {
  readonly memory: TurnMemory;
  readonly tools: StepTools;
  readonly templates: TemplateCache;
  readonly background: Background;
  readonly data: Readonly<Record<string, unknown>>;
  /** Is what the call came to written down, so that it is the same when the turn goes on after a crash? */
  readonly journaled: boolean;
  /** Asked about every request right before it is sent; where it answers something, nothing is sent. */
  readonly check?: (request: BuiltRequest) => NotAnswered | undefined;
}

/** What parsing and keeping an answer costs. */
const CHARACTERS_A_STEP = 10;

/**
 * Makes a call, or one for each entry of its list, one after the other, and puts what it came to where templates, rules and
 * instructions find it. Answers with what kept it from being made; the server's own "no" is an answer.
 */
export async function makeCall(prepared: PreparedCall, turn: CallTurn): Promise<NotAnswered | undefined> {
  await instruct(prepared.before, turn);
  const { call } = prepared;
  const failed = call.isBatchCalls ? await makeBatch(prepared, turn) : await makeOne(prepared, turn);
  forgetUnsaved(call, turn.memory);
  return failed;
}

async function makeOne(prepared: PreparedCall, turn: CallTurn): Promise<NotAnswered | undefined> {
  const { call } = prepared;
  const outcome = await sendCall(prepared, turn, `the call "${call.name}"`);
  await reactTo(prepared, turn, outcome);
  return outcome.kind === 'failed' ? outcome : undefined;
}

/** Does what the configuration says about the outcome of a call that is made outside of `makeCall`, as that would have done it. */
export async function settleCall(
  prepared: PreparedCall,
  turn: CallTurn,
  outcome: HttpOutcome,
): Promise<void> {
  await instruct(prepared.before, turn);
  show(prepared.call, turn, outcome);
  await reactTo(prepared, turn, outcome);
  forgetUnsaved(prepared.call, turn.memory);
}

async function reactTo(prepared: PreparedCall, turn: CallTurn, outcome: HttpOutcome): Promise<void> {
  const { call } = prepared;
  if (outcome.kind !== 'fired' && outcome.request)
    turn.memory.remember(`httpCalls:${answerName(call)}:request`, outcome.request);
  await react(prepared, turn, outcome);
  rememberAnswer(call, turn.memory);
}

async function makeBatch(prepared: PreparedCall, turn: CallTurn): Promise<NotAnswered | undefined> {
  const { call } = prepared;
  const { calls } = turn.memory;
  const { pathToTargetArray = '', iterationObjectName, maxBatchSize } = call.preRequest!.batchRequests!;
  const name = answerName(call);
  const list = readDataPath(turn.data, knownDataPath(pathToTargetArray));
  const refused = refusedBatch(list, maxBatchSize);
  if (refused) {
    show(call, turn, refused);
    rememberAnswer(call, turn.memory);
    return refused;
  }
  const entryName = iterationObjectName ?? call.iterationObjectName ?? ENTRY;
  const results: { readonly answers: unknown[]; readonly headers: unknown[]; readonly errors: unknown[] } = {
    answers: [],
    headers: [],
    errors: [],
  };
  let failed: NotAnswered | undefined;
  for (const [index, entry] of (list as unknown[]).entries()) {
    const one = { ...turn, data: withValue(turn.data, entryName, entry) };
    const outcome = await sendCall(
      prepared,
      one,
      `the call "${call.name}", ${index + 1} of ${(list as unknown[]).length}`,
    );
    await react(prepared, one, outcome);
    results.answers.push(calls[name] ?? null);
    results.headers.push(calls[call.responseHeaderObjectName ?? ''] ?? null);
    if (calls[`${name}Error`]) results.errors.push({ index, ...(calls[`${name}Error`] as object) });
    if (outcome.kind !== 'failed') continue;
    failed ??= outcome;
    if (!call.continueOnError) break;
  }
  if (call.responseObjectName !== undefined) calls[name] = results.answers;
  if (call.responseHeaderObjectName !== undefined) calls[call.responseHeaderObjectName] = results.headers;
  delete calls[`${name}Error`];
  if (results.errors.length > 0) calls[`${name}Error`] = results.errors;
  rememberAnswer(call, turn.memory);
  return failed;
}

function refusedBatch(list: unknown, max: number): NotAnswered | undefined {
  if (!Array.isArray(list))
    return notAnswered('BATCH_REFUSED', 'there is no list at pathToTargetArray', false);
  if (list.length <= max) return undefined;
  return notAnswered(
    'BATCH_REFUSED',
    `the list has ${list.length} entries, and maxBatchSize is ${max}; nothing was sent`,
    false,
  );
}

/** Sends, and sends again as declared; what it came to is in the memory's `calls` for the declaration to look at. */
export async function sendCall(prepared: PreparedCall, turn: CallTurn, what: string): Promise<HttpOutcome> {
  const { tools } = turn;
  for (let attempt = 0; ; attempt += 1) {
    const outcome = await attemptOnce(prepared, turn, `${prepared.call.request.method} of ${what}`);
    show(prepared.call, turn, outcome);
    const wait = waitBeforeRetry(prepared.call, outcome, attempt, turn.data);
    if (wait === undefined) return outcome;
    await tools.clock.sleep(wait, tools.signal);
  }
}

async function attemptOnce(prepared: PreparedCall, turn: CallTurn, what: string): Promise<HttpOutcome> {
  const { tools, journaled } = turn;
  const run = () => sendOnce(prepared, turn);
  if (!journaled) return run();
  const effect = await tools.effect(what, run);
  if (effect.kind === 'done') return effect.value;
  return isSafe(prepared.call) ? run() : OUTCOME_UNKNOWN;
}

/** Builds the request inside what is journaled: a reference that is gone meanwhile makes no other call of what was done. */
async function sendOnce({ call, request }: PreparedCall, turn: CallTurn): Promise<HttpOutcome> {
  const { tools, background } = turn;
  const built = await buildRequest(request, turn);
  if (built.kind === 'failed') return built;
  const refused = turn.check?.(built);
  if (refused) return refused;
  if (!call.fireAndForget) return exchange(built, call, tools.fetch, tools.signal);
  return background.start(() => exchange(built, call, tools.fetch))
    ? { kind: 'fired' }
    : notAnswered('TOO_MANY', 'too many calls are still under way that nobody waits for', false);
}

/** Puts an outcome where the turn's data has it. */
function show(call: HttpCall, { memory, tools }: CallTurn, outcome: HttpOutcome): void {
  const { calls } = memory;
  const name = answerName(call);
  for (const suffix of ['', 'Error', 'Note']) delete calls[`${name}${suffix}`];
  if (outcome.kind === 'fired') return;
  if (outcome.kind === 'failed') {
    const { code, message, sent } = outcome;
    calls[`${name}Error`] = { code, message, sent };
    return;
  }
  const { status, body, headers, note } = outcome;
  tools.budget.work(JSON.stringify(body).length / CHARACTERS_A_STEP);
  if (call.responseObjectName !== undefined) calls[name] = body;
  if (call.responseHeaderObjectName !== undefined) calls[call.responseHeaderObjectName] = headers;
  if (note !== undefined) calls[`${name}Note`] = note;
  if (status >= 200 && status < 300) return;
  calls[`${name}Error`] = {
    code: 'HTTP_STATUS',
    message: `the server answered with ${status}`,
    sent: true,
    status,
  };
}

/** Does what the configuration says about an outcome. */
async function react(prepared: PreparedCall, turn: CallTurn, outcome: HttpOutcome): Promise<void> {
  const status = outcome.kind === 'answered' ? outcome.status : undefined;
  const instructions = prepared.after.filter(({ source }) =>
    status === undefined
      ? outcome.kind === 'failed' && source.runOnValidationError
      : runsOn(source.httpCodeValidator, status),
  );
  await instruct(instructions, turn);
  const { postResponse } = prepared.call;
  if (postResponse) await inSlices(buildAnswers(postResponse, status, turn), turn.tools.budget);
}

/** The headers have a name of their own and are always kept; the answer is where the configuration says so. */
function rememberAnswer(call: HttpCall, memory: TurnMemory): void {
  const name = answerName(call);
  const names = [
    `${name}Error`,
    `${name}Note`,
    call.responseHeaderObjectName,
    call.saveResponse ? name : undefined,
  ];
  for (const key of names) {
    if (key !== undefined && memory.calls[key] !== undefined)
      memory.remember(`httpCalls:${key}`, memory.calls[key]);
  }
}

function forgetUnsaved(call: HttpCall, memory: TurnMemory): void {
  if (!call.saveResponse) delete memory.calls[answerName(call)];
}
