import type { Operation } from '@patchbay/contract/operations';
import type { Clock } from '../kernel/clock.ts';
import type { Logger } from '../kernel/logger.ts';
import type { Principal } from '../kernel/principal.ts';
import { redactSecrets } from '../kernel/redact.ts';
import type { Audit } from '../records/audit/audit.ts';

/** Tells the audit trail and the log of calls that changed something, or wanted what they may not. */
export interface ChangeNotes {
  /** After an operation has done its work. Never rejects: what is done is done. */
  done(definition: Operation, args: Arguments, output: Arguments, principal: Principal): Promise<void>;
  /** After somebody was refused, for a reason that is a word of ours. Never rejects. */
  refused(definition: Operation, args: Arguments, principal: Principal, reason: string): Promise<void>;
}

type Arguments = Readonly<Record<string, unknown>>;

/** Arguments that say what a call was about. Any other may hold a text of somebody, or a secret. */
const SUBJECT_ARGUMENTS = new Set([
  'agentId',
  'agentVersion',
  'cascade',
  'compatible',
  'conversationId',
  'endConversations',
  'environment',
  'grantId',
  'instance',
  'intent',
  'keyId',
  'mcpEnabled',
  'mcp_enabled',
  'pauseId',
  'permanent',
  'redeploy',
  'resourceId',
  'resourceType',
  'roles',
  'tool',
  'userId',
  'verdict',
  'version',
  'with',
  'workflowId',
]);
/** Of the answer: ids of what was made. */
const SUBJECT_RESULTS = new Set([
  'agentId',
  'agentVersion',
  'conversationId',
  'id',
  'intent',
  'newAgentVersion',
  'newVersion',
  'resourceId',
  'server',
  'userId',
  'version',
  'workflowId',
]);
const ID = /^[\w.:@/?=-]{1,200}$/;

/** Refusals written down within a minute: of one caller, and of all together. The rest is counted. */
const REFUSALS_OF_ONE = 10;
const REFUSALS = 100;
const MINUTE_MS = 60_000;

export function createChangeNotes(deps: {
  readonly audit: Pick<Audit, 'note'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly logger: Logger;
}): ChangeNotes {
  const { audit, clock, logger } = deps;
  let minute = { startedAt: 0, written: 0, byCaller: new Map<string, number>() };
  let unwritten = 0;

  async function note(
    { name }: Operation,
    { id: userId, via, byAgent }: Principal,
    outcome: 'done' | 'refused',
    about: Readonly<Record<string, string | number | boolean>>,
  ): Promise<void> {
    const subject = byAgent ? { ...about, byAgent } : about;
    const fields = { operation: name, via, userId, ...subject };
    logger.info(outcome === 'done' ? 'Something was changed' : 'Somebody was refused', fields);
    try {
      await audit.note({ userId, via, operation: name, outcome, subject });
    } catch (error) {
      logger.error('What was done could not be noted in the audit trail', { ...fields, error });
    }
  }

  /** False for a caller, or a platform, that has had too many refusals this minute. */
  function isWritten({ credential }: Principal): boolean {
    if (clock.now() - minute.startedAt >= MINUTE_MS) {
      minute = { startedAt: clock.now(), written: 0, byCaller: new Map() };
    }
    const ofCaller = minute.byCaller.get(credential) ?? 0;
    if (ofCaller >= REFUSALS_OF_ONE || minute.written >= REFUSALS) return false;
    minute.byCaller.set(credential, ofCaller + 1);
    minute.written += 1;
    return true;
  }

  return {
    async done(definition, args, output, principal) {
      // Turns are told of in the chains of their conversations.
      if (definition.annotations.readOnlyHint || definition.runsTurn || definition.noted === false) return;
      await note(definition, principal, 'done', {
        ...subjectOf(args, argumentsOf(definition)),
        ...subjectOf(output, SUBJECT_RESULTS),
      });
    },
    async refused(definition, args, principal, reason) {
      if (!isWritten(principal)) {
        unwritten += 1;
        return;
      }
      const before = unwritten;
      unwritten = 0;
      await note(definition, principal, 'refused', {
        ...subjectOf(args, argumentsOf(definition)),
        reason,
        ...(before > 0 && { unwritten: before }),
      });
    },
  };
}

/** What stands in the address of a route names what it is about, too. */
function argumentsOf({ rest }: Operation): ReadonlySet<string> {
  const inPath = [...rest.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  return new Set([...SUBJECT_ARGUMENTS, ...inPath]);
}

function subjectOf(values: Arguments, names: ReadonlySet<string>): Record<string, string | number | boolean> {
  const subject: Record<string, string | number | boolean> = {};
  for (const [name, value] of Object.entries(values)) {
    if (!names.has(name)) continue;
    if (typeof value === 'number' || typeof value === 'boolean') subject[name] = value;
    else if (typeof value === 'string' && ID.test(value)) subject[name] = redactSecrets(value);
    else if (isListOfIds(value)) subject[name] = value.map(redactSecrets).join(',');
  }
  return subject;
}

const MAX_IDS = 10;

function isListOfIds(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) &&
    value.length <= MAX_IDS &&
    value.every(each => typeof each === 'string' && ID.test(each))
  );
}
