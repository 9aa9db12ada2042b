import { formatServerRef } from '../../connections/server/definition.ts';
import type { Registry } from '../../connections/server/registry.ts';
import type { ServersRuntime, ServerToolAnswer } from '../../connections/server/runtime.ts';
import type { OperationHandler, OperationOutput } from '../bind.ts';
import { findUsable } from './find-server.ts';

export function callServerTool(
  registry: Registry,
  runtime: ServersRuntime,
): OperationHandler<'call_server_tool'> {
  return async ({ tool, arguments: given = {}, ...named }, { principal, signal }) => {
    const { ref } = findUsable(registry, named);
    const answer = await runtime.call(ref, { tool, arguments: given, by: principal.id, signal });
    return { server: formatServerRef(ref), ...outcomeOf(answer) };
  };
}

function outcomeOf(answer: ServerToolAnswer): Omit<OperationOutput<'call_server_tool'>, 'server'> {
  switch (answer.kind) {
    case 'answered': {
      const { isError, text, structuredContent, cut, outside, suspicious } = answer;
      return {
        outcome: 'answered',
        isError,
        text,
        cut,
        outside,
        ...(suspicious.length > 0 && { suspicious: [...suspicious] }),
        ...(structuredContent !== undefined && { structuredContent }),
      };
    }
    case 'refused':
      return { outcome: 'refused', code: answer.code, message: answer.message, reached: 'no' };
    case 'failed':
      return { outcome: 'failed', code: answer.failure, message: answer.message, reached: answer.reached };
  }
}
