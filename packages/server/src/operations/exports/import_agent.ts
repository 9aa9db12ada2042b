import { formatDocumentUri } from '@patchbay/contract/ids';
import type { ImportAgent } from '../../agents/configuration/import-agent.ts';
import type { OperationHandler } from '../bind.ts';

export function importAgent(importOne: ImportAgent): OperationHandler<'import_agent'> {
  return async (input, { principal }) => {
    const { documents, missing, ...imported } = await importOne(principal, input);
    return {
      ...imported,
      documents: documents.map(({ changed, ...ref }) => ({ resource: formatDocumentUri(ref), changed })),
      missingSecrets: [...missing.secrets],
      missingVariables: [...missing.variables],
    };
  };
}
