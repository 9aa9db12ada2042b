import { callingAgent } from '../httpcalls/calling-agent.ts';
import { startFaultServer } from '../httpcalls/fault-server.ts';
import { toolCallingAgent } from '../mcpcalls/calling-agent.ts';
import { type Era, startToolServer } from '../mcpcalls/tool-server.ts';

/** The calls of a turn, in the order they are made, each with an effect. */
export const CALLS = ['first', 'second'] as const;
export type CallName = (typeof CALLS)[number];

/** A server that counts what an agent does with it. */
export interface CountingWorld extends AsyncDisposable {
  /** An agent that makes both calls when it hears "do", and says all that came of them as JSON. */
  agentFile(agent: string): Record<string, unknown>;
  /** How often the call of a message has arrived. */
  received(message: string, call: CallName): number;
  readonly count: number;
  /** Does what the agent says about a call mean that it is done? */
  isDone(answer: unknown): boolean;
}

export const WORLDS = {
  'HTTP calls': httpWorld,
  'MCP tools with a handshake': () => toolWorld('legacy'),
  'MCP tools without sessions': () => toolWorld('modern'),
} as const satisfies Readonly<Record<string, () => Promise<CountingWorld>>>;

const DO = { words: [{ word: 'do', expressions: 'do' }] };

async function httpWorld(): Promise<CountingWorld> {
  const server = await startFaultServer();
  const calls = CALLS.map((name, index) => ({
    name,
    actions: ['do'],
    responseObjectName: name,
    request: {
      method: index === 0 ? 'POST' : 'PUT',
      path: `/later/${name}`,
      body: '{"said": "{{ input }}"}',
    },
  }));
  return {
    agentFile: agent => ({ ...callingAgent(agent, server.url, calls), dictionary: DO }),
    received: (message, call) =>
      server.requests.filter(({ path, body }) => path === `/later/${call}` && body.includes(`"${message}"`))
        .length,
    get count() {
      return server.requests.length;
    },
    isDone: answer => (answer as { readonly ok?: boolean } | undefined)?.ok === true,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

async function toolWorld(era: Era): Promise<CountingWorld> {
  const server = await startToolServer(era);
  const mcpCalls = CALLS.map(name => ({
    name,
    actions: ['do'],
    responseObjectName: name,
    toolName: 'later',
    toolArguments: { call: name, said: '{{ input }}' },
  }));
  return {
    agentFile: agent => ({
      ...toolCallingAgent(agent, { mcpServerUrl: server.url, mcpCalls }),
      dictionary: DO,
    }),
    received: (message, call) =>
      server.calls.filter(({ args }) => args.call === call && args.said === message).length,
    get count() {
      return server.calls.length;
    },
    isDone: answer => answer === 'done',
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
