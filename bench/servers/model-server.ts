import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { chatCompletions } from '@patchbay/testing/scripted-model/chat-completions';
import { PIECES, SLOW } from '../model-turns.ts';

/**
 * A model without latency that speaks Chat Completions, streamed or whole: what the last message of a person says decides how often it calls the tool
 * `echo` before it answers, one after the other or all at once, or that it answers in pieces. What it says is made once.
 */
const server = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', text => {
    body += text;
  });
  request.on('end', () => void respond(JSON.parse(body), response));
});

interface Request {
  readonly stream?: boolean;
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

async function respond(request: Request, response: ServerResponse): Promise<void> {
  const { messages, stream } = request;
  const at = messages.findLastIndex(({ role }) => role === 'user');
  const said = JSON.stringify(messages[at]!.content);
  if (said.includes('stream')) return speak(response, said.includes(SLOW.message));
  const wanted = Number(/calls (\d+)/.exec(said)?.[1]);
  const done = messages.slice(at).filter(({ role }) => role === 'tool').length;
  const next = said.includes('at once') ? wanted - done : Math.min(1, wanted - done);
  const echo = request.tools?.find(({ function: { name } }) => name.endsWith('echo'))?.function.name ?? '';
  const { streamed, whole } = answerOf(next, next > 0 ? echo : `Hello to you, after ${done} calls.`, done);
  const type = stream ? 'text/event-stream' : 'application/json';
  const bytes = stream ? streamed : whole;
  response.writeHead(200, { 'content-type': type, 'content-length': bytes.length }).end(bytes);
}

async function speak(response: ServerResponse, slowly: boolean): Promise<void> {
  const { begin, pieces, end } = IN_PIECES;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(begin);
  for (const [index, piece] of pieces.entries()) {
    if (slowly && index > 0) await setTimeout(SLOW.betweenMs);
    response.write(piece);
  }
  response.end(end);
}

const USAGE = { inputTokens: 10, outputTokens: 5 };
const IN_PIECES = chatCompletions.write(
  { text: PIECES, reasoning: [], calls: [], finish: 'stop', usage: USAGE },
  'scripted',
);

interface Answer {
  readonly streamed: Buffer;
  readonly whole: Buffer;
}
const answers = new Map<string, Answer>();

/** So many calls of the tool that `words` names, or no call and these words. */
function answerOf(calls: number, words: string, done: number): Answer {
  const key = `${calls} ${words} ${done}`;
  let answer = answers.get(key);
  if (!answer) {
    answer = calls > 0 ? callsOf(calls, words, done) : wordsOf(words);
    answers.set(key, answer);
  }
  return answer;
}

const ARGUMENTS = JSON.stringify({ text: 'hello' });

function callsOf(count: number, name: string, done: number): Answer {
  const calls = Array.from({ length: count }, (_, index) => ({
    ...{ id: `call_${done}_${index}`, name, input: ARGUMENTS, raw: ARGUMENTS },
  }));
  const tool_calls = calls.map(({ id, raw }) => ({
    ...{ id, type: 'function', function: { name, arguments: raw } },
  }));
  return {
    streamed: streamed({ text: [], calls, finish: 'tool-calls' }),
    whole: whole({ role: 'assistant', content: null, tool_calls }, 'tool_calls'),
  };
}

function wordsOf(content: string): Answer {
  return {
    streamed: streamed({ text: [content], calls: [], finish: 'stop' }),
    whole: whole({ role: 'assistant', content }, 'stop'),
  };
}

function streamed(
  answer: Pick<Parameters<typeof chatCompletions.write>[0], 'text' | 'calls' | 'finish'>,
): Buffer {
  const { begin, pieces, end } = chatCompletions.write(
    { reasoning: [], usage: USAGE, ...answer },
    'scripted',
  );
  return Buffer.from(begin + pieces.join('') + end);
}

function whole(message: object, finish_reason: string): Buffer {
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  const choices = [{ index: 0, message, finish_reason }];
  const about = { id: 'chatcmpl-1', object: 'chat.completion', created: 0, model: 'scripted' };
  return Buffer.from(JSON.stringify({ ...about, choices, usage }));
}

server.keepAliveTimeout = 0;
server.listen(0, '127.0.0.1', () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
