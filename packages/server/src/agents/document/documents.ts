import type { DocumentType } from '@patchbay/contract/ids';
import { agentDocument } from './agent.ts';
import { dictionaryDocument } from './dictionary.ts';
import type { DocumentSchema } from './document-type.ts';
import { httpcallsDocument } from './httpcalls.ts';
import { llmDocument } from './llm.ts';
import { mcpcallsDocument } from './mcpcalls.ts';
import { outputDocument } from './output.ts';
import { propertyDocument } from './property.ts';
import { rulesDocument } from './rules.ts';
import { workflowDocument } from './workflow.ts';

/** What a document of each type may hold: one row a type. */
export const DOCUMENT_SCHEMAS: Readonly<Record<DocumentType, DocumentSchema>> = {
  agent: agentDocument,
  workflow: workflowDocument,
  rules: rulesDocument,
  output: outputDocument,
  dictionary: dictionaryDocument,
  property: propertyDocument,
  httpcalls: httpcallsDocument,
  mcpcalls: mcpcallsDocument,
  llm: llmDocument,
};
