import { DOCUMENT_TYPES, type DocumentType } from './ids.ts';
import { SEED_NAMES } from './seed-names.ts';

/** What `resourceType` may be, in EDDI's words: the documents that have no tools of their own, as agents and workflows do. */
export const RESOURCE_TYPES: readonly string[] = DOCUMENT_TYPES.flatMap(type => resourceTypeOf(type) ?? []);

/** The type `resourceType` means, whatever its case and the white space around it. */
export function documentTypeOf(resourceType: string): DocumentType | undefined {
  const slug = resourceType.trim().toLowerCase();
  return DOCUMENT_TYPES.find(type => resourceTypeOf(type) === slug);
}

/** What tools call documents of a type; `undefined` for agents and workflows. */
export function resourceTypeOf(type: DocumentType): string | undefined {
  return SEED_NAMES[type]?.slug;
}
