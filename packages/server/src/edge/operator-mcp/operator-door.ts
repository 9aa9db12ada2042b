import type { CallToolResult, Tool } from '@modelcontextprotocol/server';
import { publishedToolInput } from '@patchbay/contract/operation';
import { OPERATIONS, type Operation } from '@patchbay/contract/operations';
import { z } from 'zod';
import { PlatformError, toPlatformError } from '../../kernel/errors.ts';
import type { Operations } from '../../operations/invoke.ts';
import type { Caller, McpDoor } from '../mcp/door.ts';
import { docsResources } from './docs-resources.ts';

const INSTRUCTIONS =
  'Patchbay runs agents. Start with discover_agents, then chat_with_agent; go on with the conversationId it answers. list_docs and read_docs explain everything else.';

/** `/mcp`: every operation that is a tool, and the documentation as resources (seed 000). */
export function createOperatorDoor(deps: {
  readonly operations: Operations;
  readonly version: string;
}): McpDoor<Caller> {
  const { operations } = deps;
  const tools = OPERATIONS.filter(definition => definition.tool).map(definition => ({
    definition,
    tool: toTool(definition),
  }));
  /** One prepared list for each set of roles: lists show exactly what calls allow (attacks 24). */
  const toolsByRoles = new Map<string, readonly Tool[]>();

  return {
    resource: () => 'operator',
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
      // Before the first byte, with its status: a client asks its person for more when it is told so (step-up).
      operations.requireScope(definition, caller.principal);
      return {
        streams: definition.runsTurn,
        async run({ signal, progress }) {
          try {
            const output = await operations.invoke(definition, args, {
              principal: caller.principal,
              door: 'mcp',
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
  };
}

/** The published form of an operation: made once a start. */
function toTool(definition: Operation): Tool {
  // Without `$schema`: 2020-12 is what the protocol assumes.
  const { $schema: _, ...outputSchema } = z.toJSONSchema(definition.output);
  return {
    name: definition.name,
    title: definition.title,
    description: definition.description,
    inputSchema: publishedToolInput(definition) as unknown as Tool['inputSchema'],
    outputSchema: outputSchema as Tool['outputSchema'],
    annotations: { title: definition.title, ...definition.annotations },
  };
}

/** JSON as text and as the same `structuredContent`; where the seed's text is prose, the text is that prose. */
function toResult(definition: Operation, output: Record<string, unknown>): CallToolResult {
  const text = definition.asText?.(output) ?? JSON.stringify(output);
  return { content: [{ type: 'text', text }], structuredContent: output };
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
