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

type Call = Pick<Target, 'headers' | 'bodyOf' | 'expects'>;

/** A message in a conversation of each connection's own. */
export function conversationCall(
  headers: Record<string, string> | undefined,
  conversations: readonly string[] | undefined,
): Call {
  return statelessCall(headers, index => message({ context_id: conversations?.[index] }), REPLY);
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

/** A call of the stateless era (2026-07-28): everything it needs is in its own headers and `_meta`. */
export function statelessCall(
  headers: Record<string, string> | undefined,
  paramsOf: (index: number) => { name: string; arguments: object },
  expects: string,
): Call {
  const version = '2026-07-28';
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1.0.0' },
  };
  return {
    headers: {
      ...headers,
      'MCP-Protocol-Version': version,
      'Mcp-Method': 'tools/call',
      'Mcp-Name': paramsOf(0).name,
    },
    bodyOf: id => callBody(id, { ...paramsOf(id), _meta }),
    expects,
  };
}
