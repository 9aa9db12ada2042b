import {
  type CallRecord,
  type CallResult,
  type Ended,
  type FailureKind,
  type RefusalCode,
  wordsFor,
} from '../../../../connections/call/outcome.ts';
import { suspicionsIn } from '../../../../connections/tool/suspicious.ts';
import type { Answered, CallErrorCode, HttpOutcome, NotAnswered } from '../http/outcome.ts';

/** What an HTTP call came to, as calls of other tools have it. */
export function endedBy(outcome: HttpOutcome): Answer {
  if (outcome.kind === 'failed') return ENDS[outcome.code](outcome);
  return { kind: 'answered', result: outcome.kind === 'fired' ? FIRED : resultOf(outcome) };
}

/** The same for the record of the call. */
export function recordWords(outcome: HttpOutcome): Pick<CallRecord, 'outcome' | 'reached'> {
  if (outcome.kind === 'failed') return wordsFor(endedBy(outcome));
  return { outcome: isError(outcome) ? 'tool_error' : 'answered', reached: 'yes' };
}

/** It asks nobody. */
type Answer = Exclude<Ended, { kind: 'needs-approval' | 'needs-sign-in' }>;
type End = (outcome: NotAnswered) => Answer;
const refused = (code: RefusalCode): End => {
  return ({ message }) => ({ kind: 'refused', code, message });
};
const failed = (failure: FailureKind): End => {
  return ({ message, sent }) => ({ kind: 'failed', failure, reached: sent ? 'unknown' : 'no', message });
};

const ENDS: Readonly<Record<CallErrorCode, End>> = {
  BAD_REQUEST: refused('INVALID_ARGUMENTS'),
  BATCH_REFUSED: refused('INVALID_ARGUMENTS'),
  REFERENCE_IN_DATA: refused('INVALID_ARGUMENTS'),
  REFERENCE_UNRESOLVED: failed('AUTHENTICATION_FAILED'),
  ADDRESS_REFUSED: failed('SERVER_UNAVAILABLE'),
  CONNECT_FAILED: failed('SERVER_UNAVAILABLE'),
  CONNECTION_BROKEN: failed('TRANSPORT_ERROR'),
  REDIRECT_REFUSED: failed('PROTOCOL_ERROR'),
  TIMEOUT: failed('TIMEOUT'),
  TOO_LARGE: failed('UNSUPPORTED_RESULT'),
  TOO_MANY: refused('RATE_LIMITED'),
  OUTCOME_UNKNOWN: refused('OUTCOME_UNKNOWN'),
  APPROVAL_CHANGED: refused('APPROVAL_CHANGED'),
  APPROVAL_EXPIRED: refused('APPROVAL_EXPIRED'),
};

const FIRED: CallResult = {
  ...{ value: null, text: 'It was sent. Nobody waits for its answer.' },
  ...{ isError: false, cut: false, outside: false, suspicious: [] },
};

/** The server's own "no" is an error the model can read (W-47). The answer is from outside, whoever asked for it. */
function resultOf(answer: Answered): CallResult {
  const { status, body, note } = answer;
  const said = body === null ? [] : [typeof body === 'string' ? body : JSON.stringify(body)];
  const first = said.length === 0 || isError(answer) ? [`HTTP ${status}`] : [];
  const text = [...first, ...said, ...(note === undefined ? [] : [note])].join('\n');
  return {
    ...{ value: null, text, isError: isError(answer), cut: false },
    ...{ outside: true, suspicious: suspicionsIn(text) },
  };
}

function isError(outcome: HttpOutcome): boolean {
  return outcome.kind === 'answered' && outcome.status >= 400;
}
