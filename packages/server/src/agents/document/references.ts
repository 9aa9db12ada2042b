import { type DocumentType, formatDocumentUri, parseDocumentUri } from '@patchbay/contract/ids';
import { z } from 'zod';

/** A reference to a document of one type, in any form that is accepted; kept in ours. */
export function referenceTo(type: DocumentType) {
  return z.string().transform((text, context) => {
    const ref = parseDocumentUri(text.trim());
    if (ref?.type === type) return formatDocumentUri(ref);
    context.addIssue(`must be patchbay://${type}/<id>?version=<n>`);
    return z.NEVER;
  });
}

/** The reference in our form. What is none, or not text, stays as it is. */
export function normalReference(value: unknown): unknown {
  const ref = typeof value === 'string' ? parseDocumentUri(value.trim()) : undefined;
  return ref ? formatDocumentUri(ref) : value;
}
