/** What the MCP server of the bench answers to "hello". */
export const HEARD = 'heard: hello';

export interface Message {
  readonly id?: number | string;
  readonly method: string;
  readonly params?: {
    readonly name?: string;
    readonly arguments?: { readonly text?: string; readonly kilobytes?: number };
  };
}

/** Without state (2026-07-28), or with a handshake. */
type Era = 'stateless' | 'session';

const INFO = { name: 'echo', version: '1.0.0' };
const TEXT = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
const SIZE = { type: 'object', properties: { kilobytes: { type: 'integer' } }, required: ['kilobytes'] };
const READS = { readOnlyHint: true };
const TOOLS = [
  { name: 'echo', description: 'Says it again.', inputSchema: TEXT, annotations: READS },
  { name: 'fill', description: 'Says much.', inputSchema: SIZE, annotations: READS },
];

/** As many tools as anybody has, each with a description and a schema of some size. */
const MANY_TOOLS = Array.from({ length: 5_000 }, (_, i) => ({
  name: `tool_${i}`,
  description:
    `Does what number ${i} does, and says at some length what that is good for and what it is not. `.repeat(
      2,
    ),
  inputSchema: {
    type: 'object',
    properties: {
      query: { type: 'string', description: 'What is looked for' },
      limit: { type: 'integer', minimum: 1, maximum: 100, description: 'How many at the most' },
      filter: { type: 'object', properties: { kind: { enum: ['a', 'b', 'c'] }, since: { type: 'string' } } },
    },
    required: ['query'],
  },
  annotations: READS,
}));

/** The answer of the smallest MCP server there can be. */
export function answerTo(
  { id, method, params }: Message,
  { era, hasMany = false }: { readonly era: Era; readonly hasMany?: boolean },
): object {
  const result = resultOf(method, params, era, hasMany);
  if (result) return { jsonrpc: '2.0', id, result: era === 'stateless' ? complete(result) : result };
  return { jsonrpc: '2.0', id, error: { code: -32601, message: `no method ${method}` } };
}

function resultOf(method: string, params: Message['params'], era: Era, hasMany: boolean): object | undefined {
  switch (method) {
    case 'server/discover':
      if (era === 'session') return undefined;
      return { supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, serverInfo: INFO };
    case 'initialize':
      return { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: INFO };
    case 'tools/list':
      return { tools: hasMany ? MANY_TOOLS : TOOLS };
    case 'tools/call': {
      const { text, kilobytes = 0 } = params?.arguments ?? {};
      return {
        content: [
          { type: 'text', text: text === undefined ? 'x'.repeat(kilobytes * 1024) : `heard: ${text}` },
        ],
      };
    }
    default:
      return undefined;
  }
}

function complete(result: object): object {
  return {
    resultType: 'complete',
    ...result,
    ...(!('content' in result) && { ttlMs: 0, cacheScope: 'private' }),
  };
}
