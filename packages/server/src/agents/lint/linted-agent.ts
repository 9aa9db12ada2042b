import type { DocumentRef } from '@patchbay/contract/ids';
import type { z } from 'zod';
import type { DictionaryDocument } from '../document/dictionary.ts';
import type { httpcallsDocument } from '../document/httpcalls.ts';
import type { LlmDocument } from '../document/llm.ts';
import type { McpcallsDocument } from '../document/mcpcalls.ts';
import type { OutputDocument } from '../document/output.ts';
import type { propertyDocument } from '../document/property.ts';
import type { RulesDocument } from '../document/rules.ts';

interface Bodies {
  readonly rules: RulesDocument;
  readonly output: OutputDocument;
  readonly dictionary: DictionaryDocument;
  readonly property: z.output<typeof propertyDocument.body>;
  readonly httpcalls: z.output<typeof httpcallsDocument.body>;
  readonly mcpcalls: McpcallsDocument;
  readonly llm: LlmDocument;
}

/** A document and when it has its turn: steps are counted from 0 upwards, through all workflows. */
export interface PlacedDocument<T extends keyof Bodies = keyof Bodies> {
  readonly ref: DocumentRef;
  /** The first step that uses it, and the last. */
  readonly first: number;
  readonly last: number;
  readonly body: Bodies[T];
}

/** An agent's documents, parsed, each once and in the order of its turn. */
export interface LintedAgent {
  readonly documents: readonly PlacedDocument[];
}

export function documentsOf<T extends keyof Bodies>(
  { documents }: LintedAgent,
  type: T,
): readonly PlacedDocument<T>[] {
  return documents.filter((document): document is PlacedDocument<T> => document.ref.type === type);
}

/** Ends with what follows it: `rules hello, group "answers"`. */
export function placeIn({ ref }: PlacedDocument, ...inside: readonly string[]): string {
  return [`${ref.type} ${ref.id}`, ...inside].join(', ');
}
