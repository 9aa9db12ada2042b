import type {
  readAgentLogs as definition,
  SHOWN_LOG_LEVELS,
} from '@patchbay/contract/operations/diagnostics';
import type { z } from 'zod';
import type { Conversations } from '../../agents/conversation/conversations.ts';
import { maySeeLogDetails } from '../../kernel/access.ts';
import type { LogLevel } from '../../kernel/logger.ts';
import type { Logs } from '../../records/logs.ts';
import type { OperationHandler } from '../bind.ts';

type Shown = z.input<typeof definition.output>['entries'][number];
type ShownLevel = (typeof SHOWN_LOG_LEVELS)[number];

export function readAgentLogs(conversations: Conversations, logs: Logs): OperationHandler<'read_agent_logs'> {
  return async (input, { principal }) => {
    const { agentId, conversationId, level, limit } = input;
    if (conversationId !== undefined) await conversations.find(principal, conversationId);
    const entries = await logs.read({
      agentId,
      conversationId,
      level: (level?.toLowerCase() as LogLevel | undefined) ?? 'debug',
      limit,
    });
    const withDetails = maySeeLogDetails(principal);
    return {
      count: entries.length,
      limit,
      ...(agentId !== undefined && { agentId }),
      ...(conversationId !== undefined && { conversationId }),
      ...(level !== undefined && { level }),
      entries: entries.map(({ id: _, at, level, details, environment, ...entry }) => ({
        timestamp: at,
        level: level.toUpperCase() as ShownLevel,
        ...entry,
        environment: environment as Shown['environment'],
        ...(withDetails && details !== undefined && { details: JSON.parse(details) }),
      })),
    };
  };
}
