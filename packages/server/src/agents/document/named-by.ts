import { type DocumentRef, type DocumentType, parseDocumentUri } from '@patchbay/contract/ids';
import type { AgentDocument } from './agent.ts';
import type { LlmDocument } from './llm.ts';
import { mapStep, referencesOf, type WorkflowDocument } from './workflow.ts';

/** A document whose body was parsed. */
interface ParsedDocument {
  readonly type: DocumentType;
  readonly body: unknown;
}

/** The documents that a document names, in the order it names them: only agents, workflows and tasks of models name any. */
export function namedBy({ type, body }: ParsedDocument): DocumentRef[] {
  if (type === 'agent') return (body as AgentDocument).workflows.map(uri => parseDocumentUri(uri)!);
  if (type === 'workflow') return (body as WorkflowDocument).workflowSteps.flatMap(referencesOf);
  if (type === 'llm')
    return (body as LlmDocument).tasks.flatMap(({ tools }) => tools.map(uri => parseDocumentUri(uri)!));
  return [];
}

/** The body with other references; `map` gets them in our form. */
export function withReferences({ type, body }: ParsedDocument, map: (uri: string) => string): unknown {
  if (type === 'agent') {
    const agent = body as AgentDocument;
    return { ...agent, workflows: agent.workflows.map(map) };
  }
  if (type === 'workflow') {
    const { workflowSteps } = body as WorkflowDocument;
    const mapped = (uri: unknown) => (typeof uri === 'string' ? map(uri) : uri);
    return { workflowSteps: workflowSteps.map(step => mapStep(step, mapped)) };
  }
  if (type === 'llm') {
    const { tasks } = body as LlmDocument;
    return { tasks: tasks.map(task => ({ ...task, tools: task.tools.map(map) })) };
  }
  return body;
}
