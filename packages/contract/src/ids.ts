import { z } from 'zod';
import { wordOfStore } from './seed-names.ts';

/** Paths of our own at the root of the listener: an agent with such an id could never be reached. */
const RESERVED_AGENT_IDS = new Set([
  'mcp',
  'oauth',
  'api',
  'administration',
  'mcpcallsstore',
  'mcp-login',
  'healthz',
  'readyz',
  'metrics',
  'console',
  'docs',
]);

/** An agent's id is the first segment of its MCP address (decisions.md 1); documents are named alike. */
const AGENT_ID = /^[a-z0-9][a-z0-9_-]{1,63}$/;

export const agentIdSchema = z
  .string()
  .regex(AGENT_ID, 'must be 2 to 64 characters of a-z, 0-9, _ and -, starting with a letter or digit')
  .refine(id => !RESERVED_AGENT_IDS.has(id), 'is reserved; choose another id');

/** Cheap check for the door: could this path segment name an agent at all? */
export function isAgentId(text: string): boolean {
  return AGENT_ID.test(text) && !RESERVED_AGENT_IDS.has(text);
}

/** A conversation's id, which is also the agent door's `context_id` (C12). Random, so it cannot be guessed. */
const CONVERSATION_ID = /^conv_[a-z2-7]{26}$/;

export function isConversationId(text: string): boolean {
  return CONVERSATION_ID.test(text);
}

/** Random as conversations' are. */
const FILE_ID = /^file_[a-z2-7]{26}$/;

export function isFileId(text: string): boolean {
  return FILE_ID.test(text);
}

const TASK_ID = /^task_[a-z2-7]{26}$/;

export function isTaskId(text: string): boolean {
  return TASK_ID.test(text);
}

/** Conversations have no versions, so their address has none. */
export function formatConversationUri(conversationId: string): string {
  return `patchbay://conversation/${conversationId}`;
}

/** What a versioned document is: one word, the same in URIs, steps, tables, folders and the CLI (decisions.md 1). */
export const DOCUMENT_TYPES = [
  'agent',
  'workflow',
  'rules',
  'output',
  'dictionary',
  'property',
  'httpcalls',
  'mcpcalls',
  'llm',
] as const;
export type DocumentType = (typeof DOCUMENT_TYPES)[number];

/** Reference to one version of a document: `patchbay://<type>/<id>?version=<n>`. */
export interface DocumentRef {
  readonly type: DocumentType;
  readonly id: string;
  readonly version: number;
}

export function formatDocumentUri(ref: DocumentRef): string {
  return `patchbay://${ref.type}/${ref.id}?version=${ref.version}`;
}

const DOCUMENT_URI =
  /^(?:patchbay|eddi):\/\/([A-Za-z./]+)\/([A-Za-z0-9_-]{2,64})(?:\?version=([1-9][0-9]{0,8}))?$/;

/**
 * The version a reference names, in our form `patchbay://<type>/<id>?version=<n>` or in one of EDDI's, where a version that is
 * left out is 1 (platform.md 1.2, 1.3). `undefined` when the text is no reference to a document there can be.
 */
export function parseDocumentUri(uri: string): DocumentRef | undefined {
  const [, place, text, version] = DOCUMENT_URI.exec(uri) ?? [];
  if (place === undefined || text === undefined) return undefined;
  const isOurs = uri.startsWith('patchbay:');
  if (isOurs && version === undefined) return undefined;
  const word = isOurs ? place : wordOfStore(place);
  const type = DOCUMENT_TYPES.find(known => known === word);
  const id = normalId(text);
  return type && AGENT_ID.test(id) ? { type, id, version: Number(version ?? 1) } : undefined;
}

/** EDDI's ids, 24 hexadecimal digits or a UUID, are the same in either case. */
function normalId(text: string): string {
  return /^(?:[0-9a-f]{24}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i.test(text)
    ? text.toLowerCase()
    : text;
}
