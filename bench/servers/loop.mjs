// Plain JavaScript: the peers measured here are installed by the bench only, so the type check cannot see them.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Agent as Dispatcher } from 'undici';

/**
 * A loop of model and tools behind node:http: `loop.mjs NAME`. Each request says a message, with the words for the system, and is answered with what the loop says in the end, or with its
 * words as they come. All of them ask the same model and call the same server of tools over MCP, and keep nothing.
 */
const MAX_STEPS = 11;
const modelServer = `${process.env.BENCH_MODEL_SERVER}/v1`;
const toolServer = `${process.env.BENCH_MCP_SERVER}/session`;

const LOOPS = { raw: rawLoop, 'ai-sdk': aiSdkLoop, mastra: mastraLoop };
const { answer, stream } = await LOOPS[process.argv[2]]();

const server = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', text => {
    body += text;
  });
  request.on('end', async () => {
    const { system, message, stream: isStream } = JSON.parse(body);
    if (!isStream) {
      const said = JSON.stringify({ text: await answer(system, message) });
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(said) };
      return void response.writeHead(200, headers).end(said);
    }
    response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' });
    for await (const delta of await stream(system, message)) response.write(delta);
    response.end();
  });
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
process.send({ url: `http://127.0.0.1:${server.address().port}/` });

/** The AI SDK as its documentation has it: generateText and streamText, and its own MCP client. */
async function aiSdkLoop() {
  const { generateText, streamText, isStepCount } = await import('ai');
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  const { createMCPClient } = await import('@ai-sdk/mcp');
  const model = createOpenAICompatible({ name: 'bench', baseURL: modelServer }).chatModel('scripted');
  const mcp = await createMCPClient({ transport: { type: 'http', url: toolServer } });
  const tools = await mcp.tools();
  const options = (instructions, prompt) => ({
    ...{ model, tools, instructions, prompt, stopWhen: isStepCount(MAX_STEPS) },
  });
  return {
    answer: async (...said) => (await generateText(options(...said))).text,
    stream: async (...said) => streamText(options(...said)).textStream,
  };
}

/** An agent of Mastra with its MCP client. */
async function mastraLoop() {
  const { Agent } = await import('@mastra/core/agent');
  const { MCPClient } = await import('@mastra/mcp');
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  const model = createOpenAICompatible({ name: 'bench', baseURL: modelServer }).chatModel('scripted');
  const mcp = new MCPClient({ servers: { bench: { url: new URL(toolServer) } } });
  const tools = await mcp.listTools();
  const agent = new Agent({ id: 'bench', name: 'bench', instructions: '', model, tools });
  const options = instructions => ({ instructions, maxSteps: MAX_STEPS });
  return {
    answer: async (system, message) => (await agent.generate(message, options(system))).text,
    stream: async (system, message) => (await agent.stream(message, options(system))).textStream,
  };
}

/** The least there can be: requests of undici, no library that knows models or MCP, nothing checked, nothing bounded. */
async function rawLoop() {
  const dispatcher = new Dispatcher();
  const post = async (url, body, headers) => {
    const { origin, pathname: path } = new URL(url);
    const sent = { 'content-type': 'application/json', ...headers };
    const answer = await dispatcher.request({ origin, path, method: 'POST', headers: sent, body });
    return answer.body;
  };
  const schema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
  const echo = { name: 'echo', description: 'Says it again.', parameters: schema };
  const tools = [{ type: 'function', function: echo }];
  let id = 0;

  const callTool = async ({ name, arguments: args }) => {
    const params = { name, arguments: JSON.parse(args) };
    const body = JSON.stringify({ jsonrpc: '2.0', id: id++, method: 'tools/call', params });
    const accept = { accept: 'application/json, text/event-stream', 'mcp-session-id': 'bench' };
    const { result } = await (await post(toolServer, body, accept)).json();
    return result.content[0].text;
  };

  async function* deltas(messages) {
    const asked = JSON.stringify({ model: 'scripted', stream: true, messages, tools });
    let left = '';
    for await (const chunk of await post(`${modelServer}/chat/completions`, asked)) {
      left += chunk;
      const events = left.split('\n\n');
      left = events.pop();
      for (const event of events) {
        if (event !== 'data: [DONE]') yield JSON.parse(event.slice(6)).choices[0]?.delta ?? {};
      }
    }
  }

  async function* loop(system, message) {
    const messages = [
      { role: 'system', content: system },
      { role: 'user', content: message },
    ];
    for (;;) {
      const calls = [];
      for await (const { content, tool_calls = [] } of deltas(messages)) {
        if (content) yield content;
        calls.push(...tool_calls);
      }
      if (calls.length === 0) return;
      const results = await Promise.all(calls.map(call => callTool(call.function)));
      messages.push({ role: 'assistant', content: null, tool_calls: calls });
      for (const [index, content] of results.entries())
        messages.push({ role: 'tool', tool_call_id: calls[index].id, content });
    }
  }
  return {
    async answer(...said) {
      let text = '';
      for await (const delta of loop(...said)) text += delta;
      return text;
    },
    stream: async (...said) => loop(...said),
  };
}
