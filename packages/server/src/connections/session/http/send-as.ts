import type { Credential, CredentialAnswer, CredentialTarget } from '../../credential/credential.ts';
import { HttpRefusal } from './http-refusal.ts';

/** A credential may be renewed and its scopes widened; a server that never has enough is refused. */
const MAX_REFUSALS = 4;

export type AnswerHead = Omit<CredentialAnswer, 'shown'>;

/**
 * Sends a request with what a credential shows, and again as often as the credential has something better after a refusal, which comes before
 * anything is executed. Resolves with an answer that is no refusal; rejects with the `HttpRefusal`, or as `send` and the credential do.
 */
export async function sendAs<Answer>(
  credential: Credential | undefined,
  target: CredentialTarget,
  send: (shown: Readonly<Record<string, string>>) => Promise<Answer>,
  read: { readonly head: (answer: Answer) => AnswerHead; readonly text: (answer: Answer) => Promise<string> },
): Promise<Answer> {
  for (let refusals = 0; ; refusals++) {
    const shown = (await credential?.headers(target)) ?? {};
    const answer = await send(shown);
    const head = { ...read.head(answer), shown };
    credential?.answered?.(head);
    if (head.status !== 401 && head.status !== 403) return answer;
    const text = await read.text(answer).catch(() => '');
    if (refusals < MAX_REFUSALS && (await credential?.refused(head))) continue;
    throw new HttpRefusal(head.status, text, false);
  }
}
