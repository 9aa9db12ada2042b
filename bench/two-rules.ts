import type { Target } from './load.ts';

export const AGENT = 'two_rules';
const REPLY = 'Hello to you.';

/** Two rules: one greets, one knows a word. */
export const AGENT_FILE = {
  agent: AGENT,
  name: 'Two rules',
  description: 'The agent of the bench.',
  mcp_enabled: true,
  dictionary: { words: [{ word: 'hello', expressions: 'greeting(hello)' }] },
  rules: {
    behaviorGroups: [
      {
        name: 'talk',
        rules: [
          {
            name: 'welcome',
            actions: ['welcome'],
            conditions: [{ type: 'actionmatcher', configs: { actions: 'CONVERSATION_START' } }],
          },
          {
            name: 'answer',
            actions: ['answer'],
            conditions: [{ type: 'inputmatcher', configs: { expressions: 'greeting(*)' } }],
          },
        ],
      },
    ],
  },
  output: {
    outputSet: [
      { action: 'welcome', outputs: [{ valueAlternatives: [{ type: 'text', text: 'Welcome.' }] }] },
      { action: 'answer', outputs: [{ valueAlternatives: [{ type: 'text', text: 'Hello to you.' }] }] },
    ],
  },
};

/** The same agent, which calls a tool when it answers and says what came of it. */
export function toolCallingAgent(
  mcpServerUrl: string,
  call: Readonly<Record<string, unknown>>,
  says = '{{ mcpCalls.asked }}',
): Record<string, unknown> {
  const mcpCalls = [{ name: 'ask', actions: ['answer'], responseObjectName: 'asked', ...call }];
  const outputs = [{ valueAlternatives: [{ type: 'text', text: says }] }];
  return {
    ...AGENT_FILE,
    mcpcalls: { mcpServerUrl, mcpCalls },
    output: { outputSet: [AGENT_FILE.output.outputSet[0], { action: 'answer', outputs }] },
  };
}

type Call = Pick<Target, 'headers' | 'bodyOf' | 'expects'>;

/** A message in a conversation of each connection's own. */
export function conversationCall(
  headers: Record<string, string> | undefined,
  conversations: readonly string[] | undefined,
  expects = REPLY,
): Call {
  return statelessCall(headers, index => message({ context_id: conversations?.[index] }), expects);
}

/** A message that starts a conversation each time. */
export function newConversationCall(headers: Record<string, string> | undefined): Call {
  return statelessCall(headers, () => message({}), REPLY);
}

function message(more: Record<string, unknown>) {
  return { name: AGENT, arguments: { message: 'hello', ...more } };
}

export function callBody(id: number, params: object): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params });
}

const version = '2026-07-28';
const _meta = {
  'io.modelcontextprotocol/protocolVersion': version,
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1.0.0' },
};

/** What a client of the stateless era asks a server first. Rejects when it is not answered well. */
export async function discover(url: string, headers: Record<string, string>): Promise<void> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: {
      ...headers,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'MCP-Protocol-Version': version,
      'Mcp-Method': 'server/discover',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'server/discover', params: { _meta } }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url} answered ${answer.status} ${text}`);
}

/** The tools of the agent, of which there is one: nothing but the door is at work. */
export function listCall(headers: Record<string, string> | undefined): Call {
  return {
    headers: { ...headers, 'MCP-Protocol-Version': version, 'Mcp-Method': 'tools/list' },
    bodyOf: id => JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/list', params: { _meta } }),
    expects: AGENT,
  };
}

/** A call of the stateless era (2026-07-28): everything it needs is in its own headers and `_meta`. */
export function statelessCall(
  headers: Record<string, string> | undefined,
  paramsOf: (index: number) => { name: string; arguments: object },
  expects: string,
  meta: Readonly<Record<string, unknown>> = {},
): Call {
  return {
    headers: {
      ...headers,
      'MCP-Protocol-Version': version,
      'Mcp-Method': 'tools/call',
      'Mcp-Name': paramsOf(0).name,
    },
    bodyOf: id => callBody(id, { ...paramsOf(id), _meta: { ..._meta, ...meta } }),
    expects,
  };
}
