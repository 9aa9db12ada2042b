import { z } from 'zod';

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

/** An agent's id is the first segment of its MCP address (decisions.md 1). */
export const agentIdSchema = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9_-]{1,63}$/,
    'must be 2 to 64 characters of a-z, 0-9, _ and -, starting with a letter or digit',
  )
  .refine(id => !RESERVED_AGENT_IDS.has(id), 'is reserved; choose another id');

/** Cheap check for the door: could this path segment name an agent at all? */
export function isAgentId(text: string): boolean {
  return /^[a-z0-9][a-z0-9_-]{1,63}$/.test(text) && !RESERVED_AGENT_IDS.has(text);
}

/** A conversation's id, which is also the agent door's `context_id` (C12). Random, so it cannot be guessed. */
export const conversationIdSchema = z.string().regex(/^conv_[a-z2-7]{26}$/, 'is not a conversation id');

export function isConversationId(text: string): boolean {
  return /^conv_[a-z2-7]{26}$/.test(text);
}

/** What a versioned document is: one word, the same in URIs, steps, tables, folders and the CLI (decisions.md 1). */
export const DOCUMENT_TYPES = ['agent', 'workflow', 'rules', 'output', 'dictionary'] as const;
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

/** `undefined` when the text is no reference of ours. */
export function parseDocumentUri(uri: string): DocumentRef | undefined {
  const match = /^patchbay:\/\/([a-z]+)\/([a-z0-9][a-z0-9_-]{1,63})\?version=([1-9][0-9]{0,8})$/.exec(uri);
  const type = DOCUMENT_TYPES.find(known => known === match?.[1]);
  return match && type ? { type, id: match[2]!, version: Number(match[3]) } : undefined;
}
