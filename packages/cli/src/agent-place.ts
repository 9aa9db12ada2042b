import { access } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isAgentId, parseDocumentUri } from '@patchbay/contract/ids';
import { usageError } from './cli-error.ts';
import type { Io } from './io.ts';

/** An agent as people name it: by its id, or by a reference to one of its versions. */
export interface NamedAgent {
  readonly agentId: string;
  /** Of a reference. */
  readonly version?: number;
}

/** For arguments that name an agent: an id, or a reference in any form the platform takes. What is neither is an id that is not there. */
export function namedAgent(text: string): NamedAgent {
  const ref = parseDocumentUri(text);
  return ref?.type === 'agent' ? { agentId: ref.id, version: ref.version } : { agentId: text };
}

/** For arguments that name a conversation: its id, or its address. */
export function conversationIn(text: string): string {
  return /^(?:patchbay|eddi):\/\/(?:[^/]+\/)+([^/?]+)(?:\?.*)?$/.exec(text)?.[1] ?? text;
}

/** What looks like an agent's id or a reference to it is one, unless there is a file of that name; `-` is a file. */
export async function isAgentFile(io: Io, name: string): Promise<boolean> {
  const { agentId, version } = namedAgent(name);
  if (version !== undefined) return false;
  if (name === '-' || !isAgentId(agentId)) return true;
  return access(resolve(io.cwd, name)).then(
    () => true,
    () => false,
  );
}

/** For options that take a version. */
export function versionNumber(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw usageError(`'${text}' is no version: a whole number from 1.`);
}
