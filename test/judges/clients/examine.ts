import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '@patchbay/contract/client';
import { startLoopbackProxy } from '@patchbay/testing/loopback-proxy';
import { callTool } from '../../doors/wire.ts';
import { EXPECTATIONS } from '../expectations.ts';
import type { Door } from '../judge.ts';
import type { OpenClient, StockClient } from './stock-client.ts';

/** The demo agent answers it in four bubbles with typing time between them. */
const SLOW = 'show progress';
const BUBBLES = ['One', 'Two', 'Three', 'Four'];

const PATIENCE_MS = 10_000;

/** Where the server can be asked what became of a conversation. */
export interface Examined {
  readonly door: Door;
  /** Opens REST, too. */
  readonly operator: Door;
}

/** Lets a client do at a door what its users do there, and says what is not as it should be: one sentence each. */
export async function examine(client: StockClient, { door, operator }: Examined): Promise<string[]> {
  const { origin, pathname } = new URL(door.url);
  let spoken: string | undefined;
  // Only on the wire can be seen which revision a client has settled for.
  const proxy = await startLoopbackProxy({
    targets: [origin],
    headers: raw => {
      spoken = headerIn(raw, 'mcp-protocol-version') ?? spoken;
      return raw;
    },
  });
  const server = createClient({ baseUrl: new URL(operator.url).origin, token: operator.key, fetch });
  const { tools, call, refusedCall, talk, conversationIn } = EXPECTATIONS[door.name];
  const open = await client.open({ ...door, url: proxy.url + pathname });
  try {
    const complaints: string[] = [];
    for (const check of [lists, calls, isRefused, seesProgress, aborts]) {
      const problem = await check(open).catch(error => String(error));
      if (problem !== undefined) complaints.push(`${check.name}: ${problem}`);
    }
    if (spoken !== client.speaks) complaints.push(`It speaks ${spoken} instead of ${client.speaks}.`);
    return complaints;
  } finally {
    await open.close();
    await proxy.close();
  }

  async function lists({ listTools }: OpenClient): Promise<string | undefined> {
    const [listed, due] = [JSON.stringify(await listTools()), JSON.stringify(tools)];
    return listed === due ? undefined : `${listed} instead of ${due}`;
  }

  async function calls({ callTool }: OpenClient): Promise<string | undefined> {
    const answer = await callTool(call.tool, call.args);
    return answer.includes(call.answers) ? undefined : `'${call.answers}' is missing in: ${answer}`;
  }

  async function isRefused({ callTool }: OpenClient): Promise<string | undefined> {
    const outcome = await callTool(refusedCall.tool, refusedCall.args).then(
      answer => `answered with ${answer}`,
      error => String(error),
    );
    return outcome.includes(refusedCall.says) ? undefined : `'${refusedCall.says}' is missing in: ${outcome}`;
  }

  async function seesProgress({ callTool }: OpenClient): Promise<string | undefined> {
    const conversationId = await beginConversation();
    const { tool, args } = talk(SLOW, conversationId);
    const seen: string[] = [];
    let stateAtFirst: Promise<string> | undefined;
    const answer = await callTool(tool, args, {
      onProgress: message => {
        seen.push(message.split(':')[0]!);
        stateAtFirst ??= stateOf(conversationId);
      },
    });
    const due = client.showsProgress ? BUBBLES : [];
    if (seen.join() !== due.join()) return `[${seen}] instead of [${due}] before ${answer}`;
    const state = (await stateAtFirst) ?? 'IN_PROGRESS';
    return state === 'IN_PROGRESS' ? undefined : `the first bubble came when the turn had ended: ${state}`;
  }

  async function aborts({ callTool }: OpenClient): Promise<string | undefined> {
    const conversationId = await beginConversation();
    const { tool, args } = talk(SLOW, conversationId);
    const abort = new AbortController();
    const outcome = callTool(tool, args, { signal: abort.signal }).then(
      answer => `the aborted call answered ${answer}`,
      () => undefined,
    );
    await until(
      'the message reached the agent',
      async () => (await stateOf(conversationId)) === 'IN_PROGRESS',
    );
    abort.abort(new Error('changed my mind'));
    const problem = await outcome;
    if (problem !== undefined) return problem;
    await until('the conversation is free', async () => (await stateOf(conversationId)) === 'READY');
    const { log } = await server.call('read_conversation_log', { conversationId });
    const ended = !log.includes(`User: ${SLOW}`);
    if (ended === client.cancels) return undefined;
    return ended ? 'the turn was cancelled' : 'the turn was not cancelled, and its message is stored';
  }

  /** With the door's own key, as the client will go on with it: each key has its own conversations. */
  async function beginConversation(): Promise<string> {
    const { tool, args } = talk('hello');
    const { body } = await callTool(door.url, tool, args, { key: door.key });
    return body.result.structuredContent[conversationIn];
  }

  async function stateOf(conversationId: string): Promise<string> {
    return (await server.call('read_conversation', { conversationId })).conversationState;
  }
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`waited ${PATIENCE_MS} ms in vain until ${what}`);
    await sleep(20);
  }
}

function headerIn(rawHeaders: readonly string[], name: string): string | undefined {
  const index = rawHeaders.findIndex((header, i) => i % 2 === 0 && header.toLowerCase() === name);
  return index < 0 ? undefined : rawHeaders[index + 1];
}
