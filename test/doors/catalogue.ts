/** What the talking tools answer: a reply, or why there is none. */
const TALK_RESULT =
  'conversationId? agentId? environment? agentResponse? agentResponseParts? quickReplies? actions? conversationState? response? status? pauseType? tools? +suggestNextTool? message?';

/**
 * The tools of the operator door as they are documented (platform.md 2.2 to 2.5, 2.9, 2.13), kept as data and in words of its own,
 * so that a definition that drifts is seen. A tool is one of the 84 the requirements name (E-07, E-72); every other operation is
 * `tool: false` and has REST and the command line.
 */
export const CATALOGUE: Readonly<Record<string, CataloguedTool>> = {
  list_agents: {
    tier: 'author',
    arguments: 'environment=production',
    result: '+count +agents',
  },
  list_agent_configs: { tier: 'author', arguments: 'filter? limit=20', result: '+count +configs' },
  create_conversation: {
    tier: 'converse',
    arguments: 'agentId environment=production',
    result: 'conversationId conversationUri agentId environment',
  },
  talk_to_agent: {
    tier: 'converse',
    arguments: 'agentId conversationId message environment?',
    result: TALK_RESULT,
  },
  chat_with_agent: {
    tier: 'converse',
    arguments: 'agentId message conversationId? environment=production',
    result: TALK_RESULT,
  },
  read_conversation: {
    tier: 'converse',
    arguments:
      'agentId? conversationId environment? currentStepOnly=true returnDetailed=false returningFields?',
    // A snapshot is open: which members it has is up to the question.
    result: undefined,
  },
  read_conversation_log: {
    tier: 'converse',
    arguments: 'conversationId logSize?',
    result: '+conversationId +log',
  },
  list_conversations: {
    tier: 'converse',
    arguments: 'agentId agentVersion? conversationState? limit=20',
    result: 'agentId count conversations',
  },
  get_agent: {
    tier: 'author',
    arguments: 'agentId version?',
    result: 'agentId version name description configuration',
  },
  discover_agents: {
    tier: 'converse',
    arguments: 'filter? environment=production',
    result: 'count agents',
  },
  chat_managed: {
    tier: 'converse',
    arguments: 'intent userId message environment=production',
    result: `${TALK_RESULT} userId intent`,
  },
  list_agent_triggers: { tier: 'author', arguments: '', result: 'count triggers' },
  create_agent_trigger: { tier: 'author', arguments: 'config', result: 'intent status action' },
  update_agent_trigger: { tier: 'author', arguments: 'intent config', result: 'intent status action' },
  delete_agent_trigger: { tier: 'author', arguments: 'intent', result: 'intent status action' },
  read_agent_logs: {
    tier: 'observe',
    tierWithout: { argument: 'conversationId', tier: 'admin' },
    arguments: 'agentId? conversationId? level? limit=50',
    result: 'count limit agentId? conversationId? level? entries',
  },
  deploy_agent: {
    tier: 'author',
    arguments: 'agentId version environment=production',
    result: 'agentId version environment httpStatus deploymentStatus deployed action error?',
  },
  undeploy_agent: {
    tier: 'author',
    arguments: 'agentId version environment=production endConversations=false',
    result: 'agentId version environment endedConversations status action +error?',
  },
  get_deployment_status: {
    tier: 'author',
    arguments: 'agentId version environment=production',
    result: '+agentId +version +environment status httpStatus action',
  },
  list_workflows: { tier: 'author', arguments: 'filter? limit=20', result: '+count +workflows' },
  create_agent: {
    tier: 'author',
    arguments: 'name description? workflowUris?',
    result: 'agentId name description location status action',
  },
  delete_agent: {
    tier: 'author',
    arguments: 'agentId version permanent=false cascade=false',
    result: 'agentId version permanent cascade status action +deletedResources',
  },
  update_agent: {
    tier: 'author',
    arguments: 'agentId version name? description? redeploy=false environment=production',
    result: 'agentId version updated redeployed? environment? deployError? action',
  },
  read_workflow: {
    tier: 'author',
    arguments: 'workflowId version?',
    result: 'workflowId version extensionCount configuration',
  },
  read_resource: {
    tier: 'author',
    arguments: 'resourceType resourceId version?',
    result: 'resourceType resourceId version configuration',
  },
  create_resource: {
    tier: 'author',
    arguments: 'resourceType config',
    result: 'resourceType resourceId version resourceUri status action',
  },
  update_resource: {
    tier: 'author',
    arguments: 'resourceType resourceId version config',
    result: 'resourceType resourceId previousVersion newVersion resourceUri status action',
  },
  delete_resource: {
    tier: 'author',
    arguments: 'resourceType resourceId version permanent=false',
    result: 'resourceType resourceId version permanent status action',
  },
  apply_agent_changes: {
    tier: 'author',
    arguments: 'agentId agentVersion resourceMappings redeploy=false environment=production compatible=false',
    result:
      'agentId previousAgentVersion newAgentVersion updatedWorkflows totalWorkflows mappingsApplied +matched +unmatched redeployed? environment? deployError? action reason?',
  },
  setup_agent: {
    tier: 'admin',
    arguments:
      'agentName systemPrompt provider=anthropic model? apiKey? baseUrl? introMessage? enableBuiltInTools=false builtInToolsWhitelist? enableQuickReplies=false enableSentimentAnalysis=false mcpServerUrls? deploy=true environment=production',
    result:
      'action agentId agentName provider model deployed deploymentStatus quickRepliesEnabled? sentimentAnalysisEnabled? resources apiKeyVaultReference',
  },
  list_agent_resources: {
    tier: 'author',
    arguments: 'agentId version?',
    result: 'agentId agentVersion agentName? workflowCount workflows',
  },
  list_pending_approvals: { tier: 'hitl', arguments: 'limit=200', result: '+count +approvals' },
  get_approval_status: {
    tier: 'hitl',
    arguments: 'conversationId detail=summary',
    result:
      'conversationId state pauseType pausedAt +pauseId pauseReason timeoutPolicy approvalTimeout +pendingToolCalls? +conversation?',
  },
  resume_conversation: {
    tier: 'hitl',
    arguments: 'conversationId verdict note? pauseId?',
    result: 'status conversationId verdict',
  },
  cancel_conversation: { tier: 'hitl', arguments: 'conversationId', result: 'status +conversationId' },
  read_audit_trail: {
    tier: 'observe',
    arguments: 'conversationId limit=20',
    result: 'conversationId count entries',
  },
  list_docs: { tier: 'docs', arguments: '', result: '+count +docs' },
  read_docs: { tier: 'docs', arguments: 'name', result: '+name +markdown' },
};

export interface CataloguedTool {
  readonly tier: DocumentedTier;
  /** Another tier where an optional argument is left out. */
  readonly tierWithout?: { readonly argument: string; readonly tier: DocumentedTier };
  /** Names in order: `agentId` is required, `filter?` is not, `limit=20` has a default. */
  readonly arguments: string;
  /** Members in order: `count` is always there, `error?` now and then, `+matched` is one of ours beside the documented ones. */
  readonly result: string | undefined;
}

/** The five roles by tier, in the words of the requirements (E-55 to E-61). */
export const DOCUMENTED_TIERS = {
  docs: ['patchbay-admin', 'patchbay-editor', 'patchbay-user', 'patchbay-approver', 'patchbay-viewer'],
  account: ['patchbay-admin', 'patchbay-editor', 'patchbay-user', 'patchbay-approver', 'patchbay-viewer'],
  converse: ['patchbay-admin', 'patchbay-editor', 'patchbay-user', 'patchbay-viewer'],
  observe: ['patchbay-admin', 'patchbay-viewer'],
  author: ['patchbay-admin', 'patchbay-editor'],
  admin: ['patchbay-admin'],
  /** Decided by the conversation, so nobody is refused for a role. */
  hitl: [
    'patchbay-admin',
    'patchbay-editor',
    'patchbay-user',
    'patchbay-approver',
    'patchbay-viewer',
    'no role',
  ],
} as const;
export type DocumentedTier = keyof typeof DOCUMENTED_TIERS;

export interface CataloguedArgument {
  readonly name: string;
  readonly required: boolean;
  /** As JSON writes it. */
  readonly default: string | undefined;
}

/** The arguments of a tool, read from its row. */
export function argumentsOf({ arguments: list }: CataloguedTool): CataloguedArgument[] {
  return words(list).map(word => {
    const [, name, optional, value] = /^(\w+)(\?)?(?:=(.+))?$/.exec(word)!;
    return { name: name!, required: optional === undefined && value === undefined, default: value };
  });
}

/** The members of a tool's result, read from its row. */
export function membersOf(result: string): { readonly name: string; readonly always: boolean }[] {
  return words(result).map(word => {
    const [, name, optional] = /^\+?(\w+)(\?)?$/.exec(word)!;
    return { name: name!, always: optional === undefined };
  });
}

function words(list: string): string[] {
  return list.split(' ').filter(word => word !== '');
}
