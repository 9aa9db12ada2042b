import { type DocumentType, formatDocumentUri } from '@patchbay/contract/ids';
import type { SetUp } from '../../agents/configuration/set-up-agent.ts';
import { PlatformError } from '../../kernel/errors.ts';
import type { OperationHandler } from '../bind.ts';

export function setupAgent(setUp: SetUp): OperationHandler<'setup_agent'> {
  return async ({ mcpServerUrls, ...input }, { principal }) => {
    refuseBuiltInTools(input);
    const { agentName, environment, deploy, enableQuickReplies, enableSentimentAnalysis } = input;
    const made = await setUp(principal, {
      ...input,
      apiKey: input.apiKey,
      baseUrl: input.baseUrl?.trim() || undefined,
      introMessage: input.introMessage?.trim() ? input.introMessage : undefined,
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

/** Refused rather than left out: who asks for them would wonder where they are. */
function refuseBuiltInTools({ enableBuiltInTools, builtInToolsWhitelist = '' }: BuiltInArguments): void {
  if (!enableBuiltInTools && entriesOf(builtInToolsWhitelist).length === 0) return;
  const argument = enableBuiltInTools ? 'enableBuiltInTools' : 'builtInToolsWhitelist';
  throw new PlatformError('invalid', `${argument}: no tools come with this platform; leave it out.`);
}

interface BuiltInArguments {
  readonly enableBuiltInTools: boolean;
  readonly builtInToolsWhitelist?: string | undefined;
}

/** Of a comma list. */
function entriesOf(list = ''): string[] {
  return list
    .split(',')
    .map(entry => entry.trim())
    .filter(entry => entry !== '');
}
