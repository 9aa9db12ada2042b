import { type DocumentRef, type DocumentType, parseDocumentUri } from '@patchbay/contract/ids';
import { z } from 'zod';
import type { DocumentSchema } from '../../document/document-type.ts';
import { parseStored, parseStrictly } from '../../document/parse-document.ts';
import type { LoadDocument, WorkflowStep } from '../../step/step.ts';

/** A reference to a document of one type, as a step's `config.uri` holds it. */
function documentUri(type: DocumentType) {
  return z.string().transform((text, context): DocumentRef => {
    const ref = parseDocumentUri(text);
    if (ref?.type === type) return ref;
    context.addIssue(`must be patchbay://${type}/<id>?version=<n>`);
    return z.NEVER;
  });
}

/** Parses what a workflow says about a step; an unknown option fails the deployment. */
export function parseStep<S extends z.ZodRawShape>(
  step: WorkflowStep,
  shape: S,
): z.output<z.ZodObject<S & { type: z.ZodString }>> {
  return parseStrictly(`${step.type} step`, z.strictObject({ type: z.string(), ...shape }), step);
}

/** Loads and reads the one document a step is about: its `config` holds the `uri` and nothing else. */
export async function loadStepDocument<S extends z.ZodType>(
  step: WorkflowStep,
  document: DocumentSchema<S>,
  load: LoadDocument,
): Promise<z.output<S>> {
  const { config } = parseStep(step, { config: z.strictObject({ uri: documentUri(document.type) }) });
  return parseStored(document, await load(config.uri));
}
