import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@patchbay/contract/client';
import type { ConversationSnapshot } from '@patchbay/contract/operations/conversation';

/** Asks whoever sits at the terminal until the signal takes the question back; `undefined` when they have left. */
export type AskUntil = (question: string, signal: AbortSignal) => Promise<string | undefined>;

/** How it went on: by itself, as they have signed in, or with what they typed in place of that. */
export type AfterSignIn =
  | { readonly kind: 'went-on'; readonly read: ConversationSnapshot }
  | { readonly kind: 'said'; readonly line: string };

/** How often is looked whether they have signed in; that takes a person a while. */
const LOOK_AGAIN_MS = 1_000;

/**
 * Waits until the person at the terminal has signed in with their browser, or has typed something. `undefined` when they left. Rejects when
 * `signal` aborts.
 */
export async function awaitSignIn(
  client: Client,
  conversationId: string,
  ask: AskUntil,
  signal: AbortSignal,
): Promise<AfterSignIn | undefined> {
  const over = new AbortController();
  const both = AbortSignal.any([signal, over.signal]);
  try {
    return await Promise.race([
      wentOn(client, conversationId, both),
      ask('Sign in with your browser, or type cancel: ', both).then(line =>
        line === undefined ? undefined : ({ kind: 'said', line } as const),
      ),
    ]);
  } finally {
    over.abort();
  }
}

async function wentOn(client: Client, conversationId: string, signal: AbortSignal): Promise<AfterSignIn> {
  const read = () => client.call('read_conversation', { conversationId }, { signal });
  const before = await read();
  for (let now = before; ; now = await read()) {
    const waitsStill = now.conversationState === 'AWAITING_HUMAN' && now.hitlPausedAt === before.hitlPausedAt;
    if (!waitsStill && now.conversationState !== 'IN_PROGRESS') return { kind: 'went-on', read: now };
    await sleep(LOOK_AGAIN_MS, undefined, { signal });
  }
}
