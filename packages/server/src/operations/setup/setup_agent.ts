import { type DocumentType, formatDocumentUri } from '@patchbay/contract/ids';
import type { SetUp } from '../../agents/configuration/set-up-agent.ts';
import type { OperationHandler } from '../bind.ts';

export function setupAgent(setUp: SetUp): OperationHandler<'setup_agent'> {
  return async ({ mcpServerUrls, builtInToolsWhitelist, ...input }, { principal }) => {
    const { agentName, environment, deploy, enableQuickReplies, enableSentimentAnalysis } = input;
    const made = await setUp(principal, {
      ...input,
      apiKey: input.apiKey,
      baseUrl: input.baseUrl?.trim() || undefined,
      introMessage: input.introMessage?.trim() ? input.introMessage : undefined,
      builtInTools: [...new Set(entriesOf(builtInToolsWhitelist))],
      mcpServerUrls: [...new Set(entriesOf(mcpServerUrls))],
    });
    const locations = (type: DocumentType) =>
      made.documents.filter(document => document.type === type).map(formatDocumentUri);
    const locationOf = (type: DocumentType) => locations(type)[0]!;
    const servers = locations('mcpcalls').map((uri, index) => [`mcpCallsLocation_${index}`, uri] as const);
    return {
      action: 'setup_complete',
      agentId: made.agentId,
      agentName,
      ...made.chosen,
      deployed: deploy,
      deploymentStatus: deploy ? 'READY' : 'NOT_FOUND',
      ...(enableQuickReplies && { quickRepliesEnabled: true }),
      ...(enableSentimentAnalysis && { sentimentAnalysisEnabled: true }),
      resources: {
        parserLocation: locationOf('workflow'),
        behaviorLocation: locationOf('rules'),
        langchainLocation: locationOf('llm'),
        ...(locations('output').length > 0 && { outputLocation: locationOf('output') }),
        ...Object.fromEntries(servers),
        packageLocation: locationOf('workflow'),
        agentLocation: locationOf('agent'),
        environment,
        ...(made.warnings.length > 0 && { vaultWarning: made.warnings.join(' ') }),
      },
      apiKeyVaultReference: made.apiKeyReference ?? null,
    };
  };
}

/** Of a comma list. */
function entriesOf(list = ''): string[] {
  return list
    .split(',')
    .map(entry => entry.trim())
    .filter(entry => entry !== '');
}
