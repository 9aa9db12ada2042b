import type { CallToolResult, InputRequiredResult } from '@modelcontextprotocol/server';
import { type AskedPauses, decidedOverMcp, type WaitingStep } from '../../agents/pause/asked-pauses.ts';
import type { PauseWait, PauseWaits, WaitEnd } from '../../agents/pause/pause-waits.ts';
import type { Pause } from '../../agents/pause/pauses.ts';
import type { TurnEvent, TurnReader } from '../../agents/turn/run-turn.ts';
import { isWaiting, type TurnAnswer } from '../../agents/turn/turn-answer.ts';
import type { WaitedTurns } from '../../agents/turn/waited-turns.ts';
import {
  type RequestClaims,
  signRequestState,
  verifyRequestState,
} from '../../auth/session/request-state.ts';
import type { Clock } from '../../kernel/clock.ts';
import { sha256OfJson } from '../../kernel/digest.ts';
import { PlatformError } from '../../kernel/errors.ts';
import type {
  Answer,
  Asking,
  CallContext,
  PreparedCall,
  Question,
  RepeatedCall,
  Shows,
} from '../mcp/door.ts';
import { answerTo, inputRequired } from '../mcp/forms.ts';
import type { AgentCaller, CallArguments } from './agent-door.ts';
import { approvalForm, decisionIn } from './approval-form.ts';
import { signInQuestion } from './sign-in-question.ts';

/** A call as its client sent it: with other arguments, it is no repeat. */
export interface SentCall {
  readonly caller: AgentCaller;
  readonly args: CallArguments;
}

/** Asks the person at the client whatever a call waits for, in the midst of the call (one-system.md 6). */
export interface AskedCalls {
  /** Runs the turn of a call and answers what it comes to; where that waits for what this caller may decide, asks where the client can. */
  run(
    call: SentCall,
    context: CallContext,
    turn: (reader: TurnReader) => Promise<TurnAnswer>,
  ): Promise<CallToolResult | InputRequiredResult>;
  /** The result of a call that was answered before: if that waits still, asks again. */
  replay(
    call: SentCall,
    context: CallContext,
    answer: TurnAnswer,
  ): Promise<CallToolResult | InputRequiredResult>;
  /** The repeat of a call that ended with a question. Rejects with a `PlatformError` whatever was not handed out to this caller for this call. */
  repeat(call: SentCall, repeated: RepeatedCall): Promise<PreparedCall>;
  /** Decides a pause, or has its call wait no longer. Rejects with `forbidden`. */
  takeAnswer(caller: AgentCaller, pauseId: string | undefined, answer: Answer): Promise<void>;
}

/** Clients wait as long as they like, and nobody else's key is asked again meanwhile; later the pause is decided elsewhere. */
const MAX_ASKED_MS = 60 * 60_000;
/** An agent that asks again and again: then its call ends, and the rest is decided elsewhere. */
const MAX_ROUNDS = 10;

/** A call while it is answered. */
interface Running extends SentCall {
  readonly context: CallContext;
  readonly listener: Listener;
  /** How often it has asked. */
  readonly round: number;
  /** Its turn has run for an earlier call. */
  readonly isReplay?: boolean;
}

export function createAskedCalls(deps: {
  readonly pauses: AskedPauses;
  readonly turns: WaitedTurns;
  readonly waits: PauseWaits;
  readonly clock: Clock;
  /** Signs what clients of the stateless era hand back; the same on every node. */
  readonly secret: Uint8Array;
  /** Address of the platform. */
  readonly base: () => string;
  /** May approvals be decided over MCP? */
  readonly enabled: boolean;
  readonly toResult: (answer: TurnAnswer) => CallToolResult;
}): AskedCalls {
  const { pauses, turns, waits, clock, secret, base, enabled, toResult } = deps;

  /** `undefined` where the client cannot ask it, or is not to. */
  function questionOf(pause: Pause, { card }: AgentCaller, { forms, urls }: Shows): Question | undefined {
    if (pause.kind === 'SIGN_IN') return urls ? signInQuestion(pause, card, base()) : undefined;
    return forms && enabled ? approvalForm(pause, card) : undefined;
  }

  /** The result of a call whose turn has come to `answer`, once its client was asked what there is to ask. */
  async function finish(call: Running, answer: TurnAnswer): Promise<CallToolResult | InputRequiredResult> {
    const mayAsk = isWaiting(answer) && call.round < MAX_ROUNDS;
    const asking = mayAsk ? call.context.asking() : undefined;
    const found = asking && (await pauses.find(call.caller.principal, answer.conversationId));
    if (!found) return toResult(answer);
    const { step, pause } = found;
    // Of an answer that was given before, nobody knows which later turn would be its end.
    if (!pause && call.isReplay) return toResult(answer);
    if (pause) {
      const question = questionOf(pause, call.caller, asking.shows);
      if (!question) return toResult(answer);
      if (asking.by === 'result') return askByResult(call, step, question);
      if (!(await isDecided(call, question, asking))) return toResult(answer);
    }
    return goOn(call, step, asking);
  }

  function askByResult(call: Running, step: WaitingStep, question: Question): InputRequiredResult {
    const { caller, args, round, listener } = call;
    const state = signRequestState(
      {
        ...boundTo(caller, args),
        ...step,
        ...{ round, heard: listener.heard() },
        pauseId: question.id,
        expires: clock.now() + MAX_ASKED_MS,
      },
      secret,
    );
    return inputRequired(question, state);
  }

  /** Asks on the stream of the call and waits there. False when nobody has decided. */
  async function isDecided(
    { caller, context }: Running,
    question: Question,
    asking: Asking & { readonly by: 'message' },
  ): Promise<boolean> {
    const wait = waits.open(caller.principal.credential, question.id);
    if (!wait) return false;
    asking.send(question);
    const end = await waitFor(wait, context, asking.gone);
    const isAnswered =
      end.kind === 'left' || (end.kind === 'decided' && end.by === decidedOverMcp(caller.principal));
    if (!isAnswered) asking.withdraw(question.id);
    if ('url' in question && end.kind === 'decided') asking.completed(question.id);
    return end.kind === 'decided';
  }

  async function waitFor(
    wait: PauseWait,
    { signal, progress }: CallContext,
    gone: AbortSignal,
  ): Promise<WaitEnd> {
    const end = await wait.end({
      signal: AbortSignal.any([signal, gone]),
      until: clock.now() + MAX_ASKED_MS,
      onWaiting: progress,
    });
    if (!signal.aborted) return end;
    throw new PlatformError('cancelled', 'The call was cancelled; its conversation waits on.');
  }

  async function goOn(
    call: Running,
    step: WaitingStep,
    asking?: Asking,
  ): Promise<CallToolResult | InputRequiredResult> {
    const { context, listener, round } = call;
    const { signal } = context;
    const { onEvent, heard } = listener;
    const gone = asking?.by === 'message' ? asking.gone : signal;
    const answer = await turns.goOn(step, { signal, onEvent, heard: heard() }, gone);
    return finish({ ...call, round: round + 1, isReplay: false }, answer);
  }

  async function answerRepeat(
    call: Running,
    { conversationId, stepIndex, pauseId }: RequestClaims,
    answers: unknown,
  ): Promise<CallToolResult | InputRequiredResult> {
    const { principal, card } = call.caller;
    const step = { conversationId, stepIndex };
    const pause = await pauses.pause(principal, card.agentId, pauseId);
    if (pause.state === 'open') {
      const answer = answerTo(pauseId, answers);
      // A client that has sent none is asked again (mcp.md 1.2, MRTR).
      const shows = answer ? undefined : call.context.asking()?.shows;
      const question = shows && questionOf(pause, call.caller, shows);
      if (question) return askByResult(call, step, question);
      if (!(await isEnded(call, pause, answer))) {
        const soFar = await turns.read(step);
        if (soFar) return toResult(soFar);
      }
    }
    return goOn(call, step);
  }

  /** Does the answer end the wait? Who has opened an address may still be there: then it is waited for. */
  async function isEnded(call: Running, pause: Pause, answer: Answer | undefined): Promise<boolean> {
    const { principal } = call.caller;
    const decision = answer && decisionOn(pause, answer);
    if (decision) {
      await pauses.decide(principal, pause, decision);
      return true;
    }
    if (pause.kind !== 'SIGN_IN' || answer?.action !== 'accept') return false;
    const wait = waits.open(principal.credential, pause.id);
    return wait !== undefined && (await waitFor(wait, call.context, call.context.signal)).kind === 'decided';
  }

  return {
    async run(call, context, turn) {
      const listener = listen(context, 0);
      const answer = await turn({ signal: context.signal, onEvent: listener.onEvent });
      return finish({ ...call, context, listener, round: 0 }, answer);
    },

    replay(call, context, answer) {
      const listener = listen(context, bubblesIn(answer));
      return finish({ ...call, context, listener, round: 0, isReplay: true }, answer);
    },

    async repeat(call, { state, answers }) {
      const { caller, args } = call;
      const expected = { ...boundTo(caller, args), now: clock.now() };
      const opened = verifyRequestState(state, expected, secret);
      if (!opened.ok) {
        caller.log.info('request state refused', { reason: opened.refusal.reason });
        throw new PlatformError(
          'invalid',
          'requestState: is not what was handed out for this call, or too old; call again without it.',
        );
      }
      const claims = opened.value;
      // Before the first byte: the right to decide may be gone.
      const { kind } = await pauses.pause(caller.principal, caller.card.agentId, claims.pauseId);
      if (kind !== 'SIGN_IN' && !enabled)
        throw new PlatformError('disabled', 'Approvals cannot be decided over MCP here.');
      return {
        streams: true,
        run(context) {
          const listener = listen(context, claims.heard);
          return answerRepeat({ ...call, context, listener, round: claims.round }, claims, answers);
        },
        abandon: async () => {},
      };
    },

    async takeAnswer({ principal, card }, pauseId, answer) {
      const pause = await pauses.pause(principal, card.agentId, pauseId);
      const isSignIn = pause.kind === 'SIGN_IN';
      // Off is as if there were no question.
      if (!isSignIn && !enabled) await pauses.pause(principal, card.agentId, undefined);
      const decision = decisionOn(pause, answer);
      if (decision) await pauses.decide(principal, pause, decision);
      else if (pause.state === 'open' && !(isSignIn && answer.action === 'accept'))
        await waits.leave(pause.id);
    },
  };
}

/** What an answer decides. Nobody signs in by saying that they will. */
function decisionOn({ kind }: Pause, answer: Answer): ReturnType<typeof decisionIn> {
  return kind === 'SIGN_IN' && answer.action === 'accept' ? undefined : decisionIn(answer);
}

/** Tells the client the bubbles of the answer, and knows how many it has been told. */
interface Listener {
  readonly onEvent: (event: TurnEvent) => void;
  heard(): number;
}

function listen({ progress }: CallContext, before: number): Listener {
  let heard = before;
  return {
    onEvent({ text, index }) {
      heard = Math.max(heard, index + 1);
      progress(text);
    },
    heard: () => heard,
  };
}

/** Where to sign in is none of the agent's. */
function bubblesIn({ agentResponseParts, agentResponse, pauseType }: TurnAnswer): number {
  const texts = agentResponseParts?.length ?? (agentResponse === '' ? 0 : 1);
  return pauseType === 'SIGN_IN' ? texts - 1 : texts;
}

function boundTo({ principal, card }: AgentCaller, args: CallArguments) {
  const { message, context_id, idempotency_key, attachments } = args;
  return {
    resource: `agent:${card.agentId}`,
    credential: principal.credential,
    digest: sha256OfJson({ message, context_id, idempotency_key, attachments }),
  };
}
