import type {
  ConversationOutput,
  ConversationSnapshot,
  ConversationState,
  StepDatum,
} from '@patchbay/contract/operations/conversation';
import { isSecretName } from '../../kernel/redact.ts';
import type { ConversationStep } from '../../store/tables/conversation-steps.ts';
import type { ConversationRecord } from '../../store/tables/conversations.ts';

/** Which parts of a conversation a reader asked for (platform.md 2.2). */
export interface SnapshotSelection {
  /** Also what agents keep for themselves, such as expressions and rule results. */
  readonly detailed: boolean;
  /** Sections, and keys inside the outputs; everything when `undefined`. */
  readonly fields?: ReadonlySet<string> | undefined;
}

const SECTIONS = ['conversationSteps', 'conversationOutputs', 'conversationProperties'] as const;

/** Keys of a step that are meant for people; a key with more behind a colon counts like the word before it. */
const PUBLIC_KEYS = new Set(['input', 'actions', 'output', 'quickReplies']);

/** The state readers are shown: IN_PROGRESS while a turn runs. */
export function shownState(conversation: {
  readonly state: ConversationState;
  readonly leased: boolean;
}): ConversationState {
  return conversation.leased ? 'IN_PROGRESS' : conversation.state;
}

export function toSnapshot(
  conversation: Pick<
    ConversationRecord,
    'id' | 'agentId' | 'agentVersion' | 'userId' | 'environment' | 'properties'
  >,
  state: ConversationState,
  steps: readonly Pick<ConversationStep, 'data' | 'output' | 'createdAt'>[],
  selection: SnapshotSelection,
): ConversationSnapshot {
  const { fields } = selection;
  const keys = fields && [...fields].filter(field => !SECTIONS.some(section => section === field));
  const wants = (section: (typeof SECTIONS)[number]) => fields === undefined || fields.has(section);
  const wantsAllOutputs = wants('conversationOutputs');
  const snapshot: ConversationSnapshot = {
    conversationId: conversation.id,
    agentId: conversation.agentId,
    agentVersion: conversation.agentVersion,
    userId: conversation.userId,
    environment: conversation.environment,
    conversationState: state,
  };
  if (wants('conversationSteps')) {
    snapshot.conversationSteps = steps.map(step => ({
      conversationStep: step.data.filter(selection.detailed ? isShown : isPublic),
      timestamp: step.createdAt,
    }));
  }
  if (wantsAllOutputs || keys?.length) {
    snapshot.conversationOutputs = steps.map(step =>
      wantsAllOutputs ? step.output : selectKeys(step.output, keys!),
    );
  }
  if (wants('conversationProperties')) snapshot.conversationProperties = { ...conversation.properties };
  return snapshot;
}

/** `returningFields` as callers write it; `undefined` when it names nothing. */
export function parseReturningFields(list: string | undefined): ReadonlySet<string> | undefined {
  const names = (list ?? '')
    .split(',')
    .map(name => name.trim())
    .filter(name => name !== '');
  return names.length === 0 ? undefined : new Set(names);
}

function isPublic(datum: StepDatum): boolean {
  return PUBLIC_KEYS.has(datum.key.split(':', 1)[0]!);
}

/** Details are for whoever builds an agent; what went wrong inside and what is named like a secret is for the audit trail (platform.md 8.7). */
function isShown({ key }: StepDatum): boolean {
  const isInternal = key.startsWith('audit:') || key.includes(':trace:') || key.endsWith('Error');
  return !isInternal && !isSecretName(key);
}

function selectKeys(output: ConversationOutput, keys: readonly string[]): ConversationOutput {
  return Object.fromEntries(
    Object.entries(output).filter(([name]) => keys.some(key => name === key || name.startsWith(`${key}:`))),
  );
}
