import { prepareInsert } from '../prepared-query.ts';
import type { Db } from '../store.ts';

/** What one step of a turn did (platform.md 1.11). Written in the turn's own commit and never changed. */
export interface AuditEntry {
  readonly id: string;
  readonly conversationId: string;
  readonly agentId: string;
  readonly agentVersion: number;
  readonly userId: string;
  readonly environment: string;
  readonly stepIndex: number;
  readonly taskIndex: number;
  readonly taskId: string;
  readonly taskType: string;
  readonly durationMs: number;
  /** What the person said, on the first entry of a turn only: it may be long, and the turn has one. */
  readonly input: string | undefined;
  /** The values the step changed. */
  readonly output: Readonly<Record<string, unknown>>;
  /** The turn's actions after the step. */
  readonly actions: readonly string[];
  readonly createdAt: number;
}

export async function insertAuditEntries(db: Db, entries: readonly AuditEntry[]): Promise<void> {
  await insertRows(
    db,
    entries.map(entry => ({
      id: entry.id,
      conversation_id: entry.conversationId,
      agent_id: entry.agentId,
      agent_version: entry.agentVersion,
      user_id: entry.userId,
      environment: entry.environment,
      step_index: entry.stepIndex,
      task_index: entry.taskIndex,
      task_id: entry.taskId,
      task_type: entry.taskType,
      duration_ms: entry.durationMs,
      input: entry.input ?? null,
      output: JSON.stringify(entry.output),
      actions: JSON.stringify(entry.actions),
      created_at: entry.createdAt,
    })),
  );
}

const insertRows = prepareInsert('audit_entries');
