import type { CallToolResult, Tool } from '@modelcontextprotocol/server';
import { OPERATIONS, type Operation } from '@patchbay/contract/operations';
import { z } from 'zod';
import { PlatformError, toPlatformError } from '../../kernel/errors.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { Operations } from '../../operations/invoke.ts';
import type { Caller, McpDoor } from '../mcp/door.ts';
import { docsResources } from './docs-resources.ts';

export interface OperatorCaller extends Caller {
  readonly log: Logger;
  /** Quoted in `internal` errors, so that the log line can be found. */
  readonly traceId: string;
}

const INSTRUCTIONS =
  'Patchbay runs agents. Start with discover_agents, then chat_with_agent; go on with the conversationId it answers. list_docs and read_docs explain everything else.';

/** `/mcp`: every operation that is a tool, and the documentation as resources (seed 000). */
export function createOperatorDoor(deps: {
  readonly operations: Operations;
  readonly version: string;
}): McpDoor<OperatorCaller> {
  const { operations } = deps;
  const tools = OPERATIONS.filter(definition => definition.tool).map(definition => ({
    definition,
    tool: toTool(definition),
  }));
  /** One prepared list for each set of roles: lists show exactly what calls allow (attacks 24). */
  const toolsByRoles = new Map<string, readonly Tool[]>();

  return {
    name: 'operator',
    capabilities: { tools: {}, resources: {} },
    serverInfo: () => ({ name: 'patchbay', title: 'Patchbay', version: deps.version }),
    instructions: () => INSTRUCTIONS,

    tools({ principal }) {
      const key = [...principal.roles].sort().join(' ');
      let list = toolsByRoles.get(key);
      if (!list) {
        list = tools
          .filter(({ definition }) => operations.admits(definition, principal))
          .map(({ tool }) => tool);
        toolsByRoles.set(key, list);
      }
      return list;
    },

    /** Refusals of an operation are tool errors, answered as results (E-20, E-52): only an unknown tool is refused here. */
    async prepareCall(caller, tool, args) {
      const definition = operations.find(tool);
      // A tool that is not on the list is not callable, even where an operation of that name exists (E-74).
      if (!definition?.tool) throw new PlatformError('invalid', `Unknown tool: ${tool}`);
      return {
        streams: definition.runsTurn,
        async run({ signal, progress }) {
          try {
            const output = await operations.invoke(definition, args, {
              principal: caller.principal,
              signal,
              progress,
            });
            return toResult(definition, output);
          } catch (thrown) {
            const error = toPlatformError(thrown, definition.name);
            if (error.kind === 'internal') caller.log.error(`${definition.name} failed`, { error });
            return toToolError(error, caller.traceId);
          }
        },
        abandon: async () => {},
      };
    },

    resources: docsResources(operations),
    onFailure: (caller, error) => caller.log.error('The operator door failed', { error }),
  };
}

/** The published form of an operation: made once a start. */
function toTool(definition: Operation): Tool {
  return {
    name: definition.name,
    title: definition.title,
    description: definition.description,
    inputSchema: { ...objectSchema(definition.input, 'input'), additionalProperties: false },
    outputSchema: objectSchema(definition.output, 'output'),
    annotations: { title: definition.title, ...definition.annotations },
  };
}

/** Without `$schema`: 2020-12 is what the protocol assumes. */
function objectSchema(schema: z.ZodObject, io: 'input' | 'output'): Tool['inputSchema'] {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io });
  return rest as Tool['inputSchema'];
}

/** JSON as text and as the same `structuredContent`; where the seed's text is prose, the text is that prose. */
function toResult(definition: Operation, output: Record<string, unknown>): CallToolResult {
  const { textFrom } = definition as { textFrom?: string };
  if (textFrom === undefined)
    return { content: [{ type: 'text', text: JSON.stringify(output) }], structuredContent: output };
  return { content: [{ type: 'text', text: String(output[textFrom]) }], structuredContent: output };
}

/** E-20: `isError`, and JSON with a sentence and a code. */
function toToolError(error: PlatformError, traceId: string): CallToolResult {
  const body = {
    error: error.message,
    errorCode: error.row.errorCode,
    ...(error.kind === 'internal' ? { details: { traceId } } : error.details && { details: error.details }),
  };
  return { isError: true, content: [{ type: 'text', text: JSON.stringify(body) }] };
}
