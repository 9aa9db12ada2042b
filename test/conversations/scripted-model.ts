import type { AnswerPart, ModelRequest } from '../../packages/server/src/agents/model/model.ts';
import type { McpTools } from '../../packages/server/src/agents/step/step.ts';
import type { TurnDeps } from '../../packages/server/src/agents/turn/turns.ts';
import type { OutboundCall } from '../../packages/server/src/connections/call/outbound-call.ts';
import type { CallOutcome } from '../../packages/server/src/connections/call/outcome.ts';
import { readServerOptions } from '../../packages/server/src/connections/server/server-options.ts';
import { createViews } from '../../packages/server/src/connections/server/server-view.ts';
import { compileText } from '../../packages/server/src/secrets/reference-text.ts';

export const AGENT = {
  agent: 'helper',
  name: 'Helper',
  llm: {
    tasks: [
      {
        id: 'main',
        type: 'openai-compatible',
        parameters: {
          model: 'any',
          baseUrl: 'http://model.test',
          systemMessage: 'You help {{ userInfo.userId }}.',
        },
        mcpServers: ['files'],
        inputPricePer1M: 1_000_000,
        outputPricePer1M: 0,
      },
    ],
  },
};

const NAMED = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
const TOOLS = ['read', 'remove'].map(name => ({ name, description: `${name} a file`, inputSchema: NAMED }));
const BINDING = { server: 's', tool: 't', arguments: 'a', person: 'p', policy: 'v' };

export const text = (said: string): AnswerPart => ({ type: 'text', text: said });
export const call = (tool: string, name: string, callId = `call_${name}`): AnswerPart => ({
  type: 'tool-call',
  callId,
  name: `files__${tool}`,
  input: JSON.stringify({ name }),
});

/** A model that answers by a script, and a server with a tool that removes what a person has approved. */
export function world(script: readonly (readonly AnswerPart[])[], cost: object = { cost: { usd: 0.25 } }) {
  const requests: ModelRequest[] = [];
  const sent: { readonly tool: string; readonly args: unknown; readonly approved: boolean }[] = [];
  const definition = readServerOptions(
    { url: 'http://files.test/mcp', ...cost },
    {
      ...{ ref: { scope: 'default', name: 'files' }, source: 'data' },
      texts: { compile: source => compileText(source, () => true) },
    },
  );
  const view = createViews()(definition, { tools: TOOLS, mirrorsArguments: false, accepted: undefined });
  const behaviour: {
    inCall?: (call: OutboundCall) => Promise<unknown>;
    /** False where its person has to sign in first. */
    isSignedIn?: (call: OutboundCall) => boolean;
    /** Before it comes back that a person is needed. */
    inCheck?: (call: OutboundCall) => Promise<void>;
  } = {};
  const mcp: McpTools = {
    offered: async () => view,
    registered: ({ name }) => (name === 'files' ? definition : undefined),
    tooOften: async () => undefined,
    warn: () => undefined,
    async call(outbound): Promise<CallOutcome> {
      const { tool, arguments: args, approval } = outbound;
      const record = { server: 'default/files', tool, durationMs: 0, costUsd: 0.25 } as const;
      if (tool === 'remove' && !approval) {
        await behaviour.inCheck?.(outbound);
        return {
          ...{ kind: 'needs-approval', binding: BINDING, arguments: args, inputSchema: NAMED },
          ...{ reason: 'it may change something', serverAsks: true },
          record: { ...record, outcome: 'needs_approval', reached: 'no', attempts: 0, costUsd: undefined },
        };
      }
      if (behaviour.isSignedIn?.(outbound) === false) {
        return {
          ...{ kind: 'needs-sign-in', server: 'default/files', credential: 'files' },
          message: 'You have to sign in at the server files first.',
          record: { ...record, outcome: 'needs_sign_in', reached: 'no', attempts: 0, costUsd: undefined },
        };
      }
      sent.push({ tool, args, approved: approval !== undefined });
      const answer = await behaviour.inCall?.(outbound);
      const said = typeof answer === 'string' ? answer : `${tool} ${String(args.name)}: done`;
      return {
        kind: 'answered',
        result: { value: said, text: said, isError: false, cut: false, outside: true, suspicious: [] },
        record: { ...record, outcome: 'answered', reached: 'yes', attempts: 1 },
      };
    },
  };
  const deps: Partial<TurnDeps> = {
    mcp,
    references: {
      compile: source => ({ source, references: [] }) as never,
      resolve: async ({ source }) => ({ text: source, secrets: [] }),
    },
    async model(request) {
      const parts = script[requests.length] ?? [text('The script is over.')];
      requests.push(request);
      for (const part of parts) if (part.type === 'text') request.onText?.(part.text);
      const calls = parts.some(({ type }) => type === 'tool-call');
      return {
        ...{ kind: 'answered', parts, finish: calls ? 'tool-calls' : 'stop', attempts: 1, durationMs: 1 },
        usage: { inputTokens: 1, outputTokens: 1 },
      };
    },
  };
  return { deps, requests, sent, behaviour };
}
