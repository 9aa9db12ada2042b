import type { Documents } from '../../agents/configuration/documents.ts';
import type { OperationHandler } from '../bind.ts';

export function readWorkflow(documents: Documents): OperationHandler<'read_workflow'> {
  return async ({ workflowId, version: wanted }, { principal }) => {
    const { version, body } = await documents.read(principal, {
      type: 'workflow',
      id: workflowId,
      version: wanted,
    });
    // Strictly parsed when it was written.
    const configuration = body as { readonly workflowSteps: readonly unknown[] };
    return {
      workflowId,
      version,
      extensionCount: configuration.workflowSteps.length,
      configuration: { ...configuration },
    };
  };
}
