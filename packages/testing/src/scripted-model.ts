import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { anthropic } from './scripted-model/anthropic.ts';
import { chatCompletions } from './scripted-model/chat-completions.ts';
import { gemini } from './scripted-model/gemini.ts';
import { responses } from './scripted-model/responses.ts';
import type {
  FullAnswer,
  JsonObject,
  ScriptedAnswer,
  SeenConversation,
  Wire,
  WireName,
} from './scripted-model/wire.ts';

const WIRES: readonly Wire[] = [anthropic, chatCompletions, responses, gemini];

/** A request as it came, and what it says whatever the wire format. */
export interface SeenRequest extends SeenConversation {
  readonly wire: WireName;
  /** With the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: JsonObject;
  /** The key it was sent with. */
  readonly key: string | undefined;
  /** Resolves when its connection is closed while it is being answered. */
  readonly gone: Promise<void>;
}

/** One answer a request, in order; or what is answered to a request, `index` counted from 0. */
export type ModelScript =
  | readonly ScriptedAnswer[]
  | ((request: SeenRequest, index: number) => ScriptedAnswer | Promise<ScriptedAnswer>);

export interface ScriptedModel extends AsyncDisposable {
  /** Such as http://127.0.0.1:40000; a path may stand between it and that of a wire format. */
  readonly url: string;
  /** What to write as the base URL of a provider. */
  baseUrl(wire: WireName): string;
  /** All that came since the start, or since the script was replaced. */
  readonly requests: readonly SeenRequest[];
  /** Replaces the script and forgets the requests. */
  play(script: ModelScript): void;
}

/**
 * A model that says what a script says, over HTTP on loopback, in the wire formats of the providers: which one, the path of a request decides. Waits
 * for nothing unless the script says so. A request behind the end of the script fails with status 400.
 */
export async function startScriptedModel(script: ModelScript = []): Promise<ScriptedModel> {
  let playing = script;
  let requests: SeenRequest[] = [];
  const server = createServer(async (incoming, response) => {
    const url = new URL(incoming.url ?? '/', 'http://model');
    const wire = WIRES.find(({ path }) => path.test(url.pathname));
    if (!wire) return void response.writeHead(404).end();
    const seen = await readRequest(wire, incoming, response, url);
    const index = requests.push(seen) - 1;
    const answer = typeof playing === 'function' ? await playing(seen, index) : playing[index];
    await respond(wire, response, answer ?? { status: 400, message: 'The script has ended.' }, seen.model);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    baseUrl: wire => `${url}/${wire === 'gemini' ? 'v1beta' : 'v1'}`,
    get requests() {
      return requests;
    },
    play(next) {
      playing = next;
      requests = [];
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

async function readRequest(
  wire: Wire,
  incoming: IncomingMessage,
  response: ServerResponse,
  { pathname, search }: URL,
): Promise<SeenRequest> {
  const gone = new Promise<void>(resolve => {
    response.once('close', () => response.writableFinished || resolve());
  });
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const body: JsonObject = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  const { headers } = incoming;
  const key =
    headers['x-api-key'] ?? headers['x-goog-api-key'] ?? headers.authorization?.replace('Bearer ', '');
  return {
    ...wire.read(body, pathname),
    wire: wire.name,
    path: pathname + search,
    headers,
    body,
    key: key === undefined ? undefined : String(key),
    gone,
  };
}

async function respond(
  wire: Wire,
  response: ServerResponse,
  answer: ScriptedAnswer,
  model: string,
): Promise<void> {
  const { status = 200, headers = {}, message = 'Scripted failure.', breaks } = answer;
  if (answer.until) await answer.until;
  if (answer.delayMs) await wait(answer.delayMs);
  if (status !== 200) {
    const body = JSON.stringify(wire.failure(status, message));
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream', ...headers });
  const { begin, pieces, end } = wire.write(full(answer), model);
  if (!breaks) return void response.end(begin + pieces.join('') + end);
  const said = begin + pieces.slice(0, breaks.after).join('');
  if (breaks.how === 'end') return void response.end(said);
  if (breaks.how === 'fail') return void response.end(said + wire.failed(message));
  response.flushHeaders();
  // Destroyed only when what was said before has gone out.
  response.write(said === '' ? ':\n\n' : said, () => breaks.how === 'cut' && response.destroy());
}

function full({ text = [], reasoning = [], calls = [], finish, usage }: ScriptedAnswer): FullAnswer {
  return {
    text: typeof text === 'string' ? [text] : text,
    reasoning: typeof reasoning === 'string' ? [reasoning] : reasoning,
    calls: calls.map((call, index) => ({
      ...call,
      id: call.id ?? `call_${index + 1}`,
      raw: typeof call.input === 'string' ? call.input : JSON.stringify(call.input),
    })),
    finish: finish ?? (calls.length > 0 ? 'tool-calls' : 'stop'),
    usage: usage ?? { inputTokens: 10, outputTokens: 5 },
  };
}
