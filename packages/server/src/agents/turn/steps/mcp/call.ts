import { type CallOutcome, type CallRecord, unknownCall } from '../../../../connections/call/outcome.ts';
import type { ServerDefinition } from '../../../../connections/server/definition.ts';
import { storable } from '../../../../connections/tool/json-value.ts';
import { PlatformError } from '../../../../kernel/errors.ts';
import type { McpCall } from '../../../document/mcpcalls.ts';
import type { StepTools, TurnMemory } from '../../../step/step.ts';
import { askToSignIn, type SignIns, whyNotMade } from '../ask-to-sign-in.ts';
import { buildAnswers } from '../http/build-answers.ts';
import { runsOn } from '../http/runs-on.ts';
import { inSlices } from '../in-slices.ts';
import { type Instruction, instruct } from '../instructions.ts';
import { measureCall } from '../measure-call.ts';
import type { TemplateCache } from '../template.ts';
import { fillArguments, ReferenceInData } from './arguments.ts';

/** A call of a document with everything read. */
export interface PreparedCall {
  readonly call: McpCall;
  readonly before: readonly Instruction[];
  readonly after: readonly Instruction[];
}

export interface CallTurn {
  readonly memory: TurnMemory;
  readonly tools: StepTools;
  readonly templates: TemplateCache;
  readonly data: Readonly<Record<string, unknown>>;
  /** Or why there is none. */
  readonly server: ServerDefinition | CallError;
  readonly signIns: SignIns;
}

/** What the instructions behind a call take its outcome for (platform.md 9.2). */
const ANSWERED = 200;
const FAILED = 500;
/** What parsing and keeping an answer costs. */
const CHARACTERS_A_STEP = 10;
/** Of an error (EX-11). */
const MAX_ERROR = 500;

/** Why a call has no good answer, as rules and templates find it. */
export interface CallError {
  readonly code: string;
  readonly message: string;
  /** False when nothing can have arrived. */
  readonly sent: boolean;
}

/** What a call came to for the rest of the turn. */
interface Shown {
  readonly error: CallError | undefined;
  /** There is nobody to call: a warning, and nothing that ends a turn (E-102, platform.md 9.2). */
  readonly isAbsent: boolean;
}

/**
 * Makes a call and puts what it came to where templates, rules and instructions find it. Answers with what kept it from being answered well;
 * `undefined` when nothing did, and when there was nobody to call.
 */
export async function makeCall(prepared: PreparedCall, turn: CallTurn): Promise<CallError | undefined> {
  const { call } = prepared;
  const { memory } = turn;
  await instruct(prepared.before, turn);
  const { error: failed, isAbsent } = show(call, turn, await callOnce(call, turn));
  const status = failed ? FAILED : ANSWERED;
  await instruct(
    prepared.after.filter(
      ({ source }) => (failed && source.runOnValidationError) || runsOn(source.httpCodeValidator, status),
    ),
    turn,
  );
  if (call.postResponse) await inSlices(buildAnswers(call.postResponse, status, turn), turn.tools.budget);
  const name = call.responseObjectName;
  for (const key of [`${name}Error`, `${name}Note`, ...(call.saveResponse ? [name] : [])]) {
    if (memory.mcpCalls[key] === undefined) continue;
    memory.remember(`mcpCalls:${key}`, memory.mcpCalls[key], { audited: key !== name });
  }
  return isAbsent ? undefined : failed;
}

/**
 * Once, whatever happens to this node; again only where the configuration says that it may be repeated, and, as nothing was sent, when the person
 * has signed in.
 */
async function callOnce(call: McpCall, turn: CallTurn): Promise<CallOutcome | CallError> {
  const { tools, server, memory } = turn;
  const { agentId, conversationId, userId, spokenBy } = tools.conversation;
  if ('code' in server) return server;
  let filled: unknown;
  try {
    filled = await fillArguments(call.toolArguments, turn);
  } catch (thrown) {
    if (!(thrown instanceof ReferenceInData)) throw thrown;
    return {
      code: 'REFERENCE_IN_DATA',
      message:
        'a reference to a secret or a variable arrived in data, and only the configuration may write one',
      sent: false,
    };
  }
  const { spentUsd = 0 } = memory.counters;
  const run = () =>
    tools.mcp.call({
      server,
      tool: call.toolName,
      arguments: filled as Readonly<Record<string, unknown>>,
      driver: 'rule',
      judge: ({ name, annotations }) =>
        tools.approvals.judge({ source: 'mcp', name, exposedName: exposedBy(server, name), annotations }),
      callFor: { agentId, conversationId, userId, spokenBy, callerToken: tools.callerToken },
      turn: memory,
      retry: call.retry,
      budget: tools.callBudgetUsd === undefined ? undefined : { limitUsd: tools.callBudgetUsd, spentUsd },
      signal: tools.signal,
      onInterrupted: record => measure(call, memory, record),
    });
  const what = `the tool "${call.toolName}" for the call "${call.name}"`;
  let effect = await tools.effect(what, run);
  while (effect.kind === 'done' && effect.value.kind === 'needs-sign-in') {
    if (!(await askToSignIn([effect.value], turn.signIns, tools)))
      return notSignedIn(effect.value, call, turn);
    effect = await tools.effect(what, run);
  }
  if (effect.kind === 'done') return effect.value;
  if (call.retry) return run();
  measure(call, memory, unknownCall(server, call.toolName));
  return {
    code: 'OUTCOME_UNKNOWN',
    message:
      'it was cut off while it was under way, so it may have been carried out or not; it is not called again',
    sent: true,
  };
}

function notSignedIn(
  waits: Extract<CallOutcome, { kind: 'needs-sign-in' }>,
  call: McpCall,
  { memory, signIns }: CallTurn,
): CallError {
  measure(call, memory, waits.record);
  return { ...whyNotMade(waits, signIns), sent: false };
}

function exposedBy({ prefix }: ServerDefinition, name: string): string {
  return prefix === '' ? name : `${prefix}__${name}`;
}

/** Puts an outcome where the turn's data has it. */
function show(call: McpCall, { memory, tools }: CallTurn, outcome: CallOutcome | CallError): Shown {
  const { mcpCalls } = memory;
  const name = call.responseObjectName;
  for (const suffix of ['', 'Error', 'Note']) delete mcpCalls[`${name}${suffix}`];
  if ('record' in outcome) measure(call, memory, outcome.record);
  const error = errorOf(outcome);
  if (error) mcpCalls[`${name}Error`] = error;
  if (!('kind' in outcome) || outcome.kind !== 'answered') return { error, isAbsent: isAbsent(error!) };
  const { value, cut, outside, suspicious, isError } = outcome.result;
  const { length } = typeof value === 'string' ? value : JSON.stringify(value);
  tools.budget.work(length / CHARACTERS_A_STEP);
  if (!isError) mcpCalls[name] = value;
  const notes = [
    ...(cut ? ['It is longer than it may be, and was cut.'] : []),
    ...(outside && suspicious.length > 0
      ? [`It comes from outside and holds what looks like instructions: ${suspicious.join(', ')}.`]
      : []),
  ];
  if (notes.length > 0) mcpCalls[`${name}Note`] = notes.join(' ');
  return { error, isAbsent: false };
}

function measure({ name }: McpCall, memory: TurnMemory, record: CallRecord): void {
  measureCall(memory, `mcpCalls:${name}:call`, record);
}

function errorOf(outcome: CallOutcome | CallError): CallError | undefined {
  if (!('kind' in outcome)) return outcome;
  switch (outcome.kind) {
    case 'answered':
      return outcome.result.isError
        ? { code: 'TOOL_ERROR', message: cutError(outcome.result.text), sent: true }
        : undefined;
    case 'refused':
      return { code: outcome.code, message: cutError(outcome.message), sent: false };
    case 'needs-approval':
      return { code: 'DENIED', message: cutError(outcome.reason), sent: false };
    case 'needs-sign-in':
      return { code: 'SIGN_IN_NEEDED', message: cutError(outcome.message), sent: false };
    case 'failed':
      return { code: outcome.failure, message: cutError(outcome.message), sent: outcome.reached !== 'no' };
  }
}

const ABSENT = new Set(['TOOL_NOT_FOUND', 'SERVER_UNAVAILABLE', 'AUTHENTICATION_FAILED']);

/** A server that is down, and a tool that is not there or left out. */
function isAbsent({ code, sent }: CallError): boolean {
  return !sent && ABSENT.has(code);
}

function cutError(text: string): string {
  return storable(text.slice(0, MAX_ERROR));
}

export function failureOf({ name }: McpCall, { message }: CallError): PlatformError {
  return new PlatformError('unavailable', `the call "${name}" failed: ${message.replace(/\.$/, '')}.`);
}
