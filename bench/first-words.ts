import { type BenchProcess, startProcess } from './bench-process.ts';
import { percentile } from './load.ts';
import { MODEL_AGENT, PIECES, SLOW } from './model-turns.ts';
import { statelessCall } from './two-rules.ts';

/** How long somebody waits for the first words of an answer whose model begins at once and goes on slowly, and for all of them. In ms. */
export interface FirstWords {
  readonly title: string;
  readonly first: { readonly p50: number; readonly p99: number };
  readonly whole: number;
}

/** A request that is answered word by word. */
interface Listener {
  readonly title: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface Servers {
  readonly mcpServer: string;
  readonly modelServer: string;
}

/** Listens so many times to each, by turns and to nobody else meanwhile. */
export async function measureFirstWords(servers: Servers, times: number): Promise<FirstWords[]> {
  await using stack = new AsyncDisposableStack();
  const start = async <Ready>(script: string, name: string): Promise<Ready> => {
    const env = { BENCH_MCP_SERVER: servers.mcpServer, BENCH_MODEL_SERVER: servers.modelServer };
    const started: BenchProcess<Ready> = await startProcess(script, { args: [name], env });
    stack.defer(() => started.stop());
    return started.ready;
  };
  const loops: Listener[] = [];
  for (const [title, name] of Object.entries(LOOPS)) {
    const { url } = await start<{ url: string }>('loop.mjs', name);
    const body = JSON.stringify({ system: '', message: SLOW.message, stream: true });
    loops.push({ title, url, headers: {}, body });
  }
  const listeners = [
    ofModel(servers.modelServer),
    ...loops,
    ...ofPatchbay(await start<PatchbayReady>('patchbay.ts', 'model')),
  ];
  for (const listener of listeners) for (let n = 0; n < WARM_UP; n += 1) await listen(listener);
  const heard = new Map(listeners.map(listener => [listener, [] as Heard[]]));
  for (let n = 0; n < times; n += 1)
    for (const listener of listeners) heard.get(listener)!.push(await listen(listener));
  return listeners.map(listener => summaryOf(listener.title, heard.get(listener)!));
}

const WARM_UP = 20;

const LOOPS = {
  'node:http and undici, no library': 'raw',
  'AI SDK 7.0.173, streamText': 'ai-sdk',
  'Mastra 1.71.0, stream': 'mastra',
};

/** The model itself, with nothing between. */
function ofModel(modelServer: string): Listener {
  const messages = [{ role: 'user', content: SLOW.message }];
  return {
    title: 'the model itself',
    url: `${modelServer}/v1/chat/completions`,
    headers: {},
    body: JSON.stringify({ model: 'scripted', stream: true, messages }),
  };
}

interface PatchbayReady {
  readonly url: string;
  readonly operatorUrl: string;
  readonly baseUrl: string;
  readonly headers: Record<string, string>;
  readonly conversations: readonly string[];
}

function ofPatchbay({ url, operatorUrl, baseUrl, headers, conversations }: PatchbayReady): Listener[] {
  const { message } = SLOW;
  const progress = { progressToken: 1 };
  const [agent, operator, rest] = conversations;
  const atAgent = statelessCall(
    headers,
    () => ({ name: MODEL_AGENT, arguments: { message, context_id: agent } }),
    '',
    progress,
  );
  const talk = (conversationId: string | undefined) => ({ agentId: MODEL_AGENT, conversationId, message });
  const atOperator = statelessCall(
    headers,
    () => ({ name: 'talk_to_agent', arguments: talk(operator) }),
    '',
    progress,
  );
  const asked = { ...headers, accept: 'text/event-stream' };
  return [
    { title: 'Patchbay agent door', url, headers: atAgent.headers, body: atAgent.bodyOf(0) },
    {
      title: 'Patchbay operator door, talk_to_agent',
      url: operatorUrl,
      headers: atOperator.headers,
      body: atOperator.bodyOf(0),
    },
    {
      title: 'Patchbay REST, talk_to_agent',
      url: `${baseUrl}/api/v1/conversations/${rest}/messages`,
      headers: asked,
      body: JSON.stringify({ agentId: MODEL_AGENT, message }),
    },
  ];
}

interface Heard {
  readonly first: number;
  readonly whole: number;
}

async function listen({ url, headers, body }: Listener): Promise<Heard> {
  const sentAt = performance.now();
  const answer = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body,
  });
  let text = '';
  let first: number | undefined;
  for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (first === undefined && text.includes(PIECES[0]!)) first = performance.now() - sentAt;
  }
  if (first === undefined || !text.includes(PIECES.at(-1)!))
    throw new Error(`${url} answered ${answer.status} ${text}`);
  return { first, whole: performance.now() - sentAt };
}

function summaryOf(title: string, heard: readonly Heard[]): FirstWords {
  const ascending = (which: keyof Heard) => heard.map(one => one[which]).toSorted((a, b) => a - b);
  const first = ascending('first');
  return {
    title,
    first: { p50: percentile(first, 0.5), p99: percentile(first, 0.99) },
    whole: percentile(ascending('whole'), 0.5),
  };
}
