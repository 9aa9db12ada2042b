import { join } from 'node:path';
import {
  createOutboundCalls,
  MCPCALLS_SCOPE,
  type OutboundCalls,
} from '../../packages/server/src/connections/call/outbound-calls.ts';
import type { ServerDefinition } from '../../packages/server/src/connections/server/definition.ts';
import { definitionOfMcpcalls } from '../../packages/server/src/connections/server/from-mcpcalls.ts';
import { createPool } from '../../packages/server/src/connections/session/pool.ts';
import { createProgramHost } from '../../packages/server/src/connections/session/stdio/program-host.ts';
import { createStdioTransport } from '../../packages/server/src/connections/session/stdio/stdio-transport.ts';
import { systemClock } from '../../packages/server/src/kernel/clock.ts';
import type { Logger } from '../../packages/server/src/kernel/logger.ts';
import { createSafeFetch } from '../../packages/server/src/kernel/safe-fetch.ts';
import { compileText } from '../../packages/server/src/secrets/reference-text.ts';
import { NO_PEOPLE } from '../../test/connections/no-people.ts';

const quiet: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => quiet,
};

const references = {
  compile: (text: string) => compileText(text, () => true),
  resolve: () => Promise.reject(new Error('nothing refers to anything here')),
};

/** The table of an outbound call as the platform has it, with a limit of calls that nobody reaches. */
export function ourCalls(): OutboundCalls {
  const host = createProgramHost({
    clock: systemClock,
    logger: quiet,
    maxPrograms: 1000,
    maxProgramMib: 1000,
  });
  const pool = createPool({
    ...{ clock: systemClock, random: Math.random, logger: quiet, version: '0.0.0' },
    fetch: createSafeFetch({ allowPrivate: () => true }),
    startProgram: async endpoint =>
      createStdioTransport({ ...endpoint, host, clock: systemClock, logger: quiet, inherited: process.env }),
  });
  return createOutboundCalls({
    ...{ pool, references, clock: systemClock, logger: quiet },
    limits: { callsPerMinute: 1_000_000_000 },
    accepted: { of: () => undefined, first: () => Promise.resolve() },
    registered: () => undefined,
    reconcile: async () => undefined,
    checkOf: () => undefined,
    ...NO_PEOPLE,
    onCall: () => undefined,
  });
}

/** As an mcpcalls document of an agent names it, with all of a result let through. */
export function httpServer(url: string): ServerDefinition {
  const context = { scope: MCPCALLS_SCOPE, when: 'loading', texts: references } as const;
  return { ...definitionOfMcpcalls({ mcpServerUrl: url }, context).definition, maxResultBytes: 32_000_000 };
}

/** The MCP server of the bench as a program of its own. */
export function programServer(name: string): ServerDefinition {
  const args = [join(import.meta.dirname, 'mcp-program.ts')];
  return {
    ...httpServer('http://127.0.0.1/'),
    ref: { scope: MCPCALLS_SCOPE, name },
    transport: {
      ...{ kind: 'stdio', command: process.execPath, args, cwd: undefined, isolation: 'shared' },
      env: { BENCH_NAME: name },
    },
  };
}

/** One call of a rule. Rejects with what it came to when that is no answer. */
export async function callTool(
  calls: OutboundCalls,
  server: ServerDefinition,
  tool: string,
  given: Readonly<Record<string, unknown>>,
): Promise<string> {
  const outcome = await calls.call({
    ...{ server, tool, arguments: given, driver: 'rule', signal: new AbortController().signal },
    callFor: { agentId: 'bench', conversationId: 'bench', userId: 'bench' },
  });
  if (outcome.kind === 'answered') return outcome.result.text;
  throw new Error(`${tool} was ${outcome.kind}: ${'message' in outcome ? outcome.message : outcome.reason}`);
}
