import { MAX_FINDINGS } from '@patchbay/contract/operations/lint';
import type { Lint } from '../../agents/lint/linter.ts';
import { PlatformError } from '../../kernel/errors.ts';
import type { OperationHandler } from '../bind.ts';

export function lintAgent(lint: Lint): OperationHandler<'lint_agent'> {
  return async ({ agentId, version, file }, { principal }) => {
    if ((agentId === undefined) === (file === undefined)) {
      throw new PlatformError('invalid', 'agentId, file: give one of the two.');
    }
    const request = agentId === undefined ? { file } : { agentId, version };
    const linted = await lint(principal, request);
    const errors = linted.findings.filter(({ severity }) => severity === 'error').length;
    return {
      agentId: linted.agentId,
      errors,
      warnings: linted.findings.length - errors,
      findings: linted.findings.slice(0, MAX_FINDINGS),
    };
  };
}
