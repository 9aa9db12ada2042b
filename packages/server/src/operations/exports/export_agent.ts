import type { ExportAgent } from '../../agents/configuration/export-agent.ts';
import type { OperationHandler } from '../bind.ts';

export function exportAgent(exportOne: ExportAgent): OperationHandler<'export_agent'> {
  return (input, { principal }) => exportOne(principal, input);
}
