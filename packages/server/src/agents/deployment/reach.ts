import { type DocumentRef, type DocumentType, formatDocumentUri } from '@patchbay/contract/ids';
import { mayUseDocument } from '../../kernel/access.ts';
import { PlatformError } from '../../kernel/errors.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { Db } from '../../store/store.ts';
import { findAgentOwner } from '../../store/tables/agents.ts';
import { findDocumentCreator, readDocument } from '../../store/tables/documents.ts';
import type { LoadDocument } from '../step/step.ts';
import { agentNotFound } from './agent-not-found.ts';

/** One text for every document that is not there or not for this caller. */
export function documentNotFound(type: DocumentType, id: string): PlatformError {
  return type === 'agent'
    ? agentNotFound(id)
    : new PlatformError('not_found', `There is no ${type} document with the id ${id}.`);
}

/** Rejects alike, with `documentNotFound`, for documents that never were and documents of somebody else. */
export async function requireDocument(
  db: Db,
  principal: Principal,
  { type, id }: { readonly type: DocumentType; readonly id: string },
): Promise<void> {
  if (!(await reachesDocument(db, principal, { type, id }))) throw documentNotFound(type, id);
}

/** Reads what documents name as far as this author may use it: what belongs to others is not there. */
export function loadFor(db: Db, principal: Principal): LoadDocument {
  return async (ref: DocumentRef) => {
    const document = (await reachesDocument(db, principal, ref))
      ? await readDocument(db, ref.type, ref.id, ref.version)
      : undefined;
    if (!document) throw new PlatformError('not_found', `${formatDocumentUri(ref)} is not there.`);
    return document.body;
  };
}

/** Is the document this principal's, or may they reach everybody's? Also when it is deleted. */
export async function reachesDocument(
  db: Db,
  principal: Principal,
  { type, id }: { readonly type: DocumentType; readonly id: string },
): Promise<boolean> {
  const ownerId = type === 'agent' ? await findAgentOwner(db, id) : await findDocumentCreator(db, type, id);
  return ownerId !== undefined && mayUseDocument(principal, { ownerId });
}
