import {
  CLIENT_CAPABILITIES_META_KEY,
  type InputRequiredResult,
  isJSONRPCResultResponse,
} from '@modelcontextprotocol/server';
import { isObject } from '../../kernel/json.ts';
import type { Answer, Asking, Question, Shows } from './door.ts';
import { metaOf } from './headers.ts';

/** Does a client that declares these capabilities show forms? `{}` means forms and nothing else (mcp.md 1.2). */
export function showsForms(capabilities: unknown): boolean {
  if (!isObject(capabilities) || !isObject(capabilities.elicitation)) return false;
  const { form, url } = capabilities.elicitation;
  return isObject(form) || (form === undefined && url === undefined);
}

/** Does it have its person open addresses? */
export function opensUrls(capabilities: unknown): boolean {
  return (
    isObject(capabilities) && isObject(capabilities.elicitation) && isObject(capabilities.elicitation.url)
  );
}

/** How a client of the stateless era is asked something, if it can ask. */
export function asksByResult(body: unknown): Asking | undefined {
  const capabilities = metaOf(body)?.[CLIENT_CAPABILITIES_META_KEY];
  const shows = { forms: showsForms(capabilities), urls: opensUrls(capabilities) };
  return canAsk(shows) ? { by: 'result', shows } : undefined;
}

export function canAsk({ forms, urls }: Shows): boolean {
  return forms || urls;
}

/** The request of the older eras. */
export function elicitationRequest(question: Question) {
  const { id, message } = question;
  const params =
    'url' in question
      ? { mode: 'url', elicitationId: id, url: question.url, message }
      : { message, requestedSchema: question.requestedSchema };
  return { jsonrpc: '2.0' as const, id, method: 'elicitation/create', params };
}

/** Tells a client of the older eras that what its person was to do at an address is done. */
export function completion(elicitationId: string) {
  return {
    jsonrpc: '2.0' as const,
    method: 'notifications/elicitation/complete',
    params: { elicitationId },
  };
}

/** Tells a client of the older eras that its answer is no longer wanted. */
export function withdrawal(requestId: string) {
  return { jsonrpc: '2.0' as const, method: 'notifications/cancelled', params: { requestId } };
}

/** The result of the stateless era that asks. */
export function inputRequired(question: Question, requestState: string): InputRequiredResult {
  const { id, message } = question;
  const params =
    'url' in question
      ? ({ mode: 'url', elicitationId: id, message, url: question.url } as const)
      : ({ mode: 'form', message, requestedSchema: question.requestedSchema } as const);
  return {
    resultType: 'input_required',
    inputRequests: { [id]: { method: 'elicitation/create', params } },
    requestState,
  };
}

/** The answer in a response of the older eras; an error, and whatever else is none, leaves the question open. */
export function answerOf(response: object): Answer {
  return isJSONRPCResultResponse(response) ? readAnswer(response.result) : { action: 'cancel' };
}

/** The answer to the question with this id among those of a repeated call; `undefined` when there is none. */
export function answerTo(id: string, answers: unknown): Answer | undefined {
  if (!isObject(answers) || !Object.hasOwn(answers, id)) return undefined;
  return readAnswer(answers[id]);
}

function readAnswer(result: unknown): Answer {
  if (!isObject(result)) return { action: 'cancel' };
  if (result.action === 'accept') return { action: 'accept', content: result.content };
  return { action: result.action === 'decline' ? 'decline' : 'cancel' };
}
