import type { AgentCalls } from '../agents/call/agent-calls.ts';
import type { ApplyChanges } from '../agents/configuration/apply-changes.ts';
import type { DeleteAgent } from '../agents/configuration/delete-agent.ts';
import type { Documents } from '../agents/configuration/documents.ts';
import type { ExportAgent } from '../agents/configuration/export-agent.ts';
import type { ImportAgent } from '../agents/configuration/import-agent.ts';
import type { ListInventory } from '../agents/configuration/inventory.ts';
import type { SetUp } from '../agents/configuration/set-up-agent.ts';
import type { Conversations } from '../agents/conversation/conversations.ts';
import type { MessageReader } from '../agents/delivery/message-reader.ts';
import type { OwnConversations } from '../agents/delivery/own-conversations.ts';
import type { Tasks } from '../agents/delivery/tasks.ts';
import type { AgentFiles } from '../agents/deployment/agent-files.ts';
import type { Catalogue } from '../agents/deployment/catalogue.ts';
import type { Deployer } from '../agents/deployment/deployer.ts';
import type { OwnAgents } from '../agents/deployment/own-agents.ts';
import type { Sharing } from '../agents/deployment/sharing.ts';
import type { Files } from '../agents/file/files.ts';
import type { Lint } from '../agents/lint/linter.ts';
import type { Pauses } from '../agents/pause/pauses.ts';
import type { AdmitManaged } from '../agents/trigger/managed-chat.ts';
import type { Triggers } from '../agents/trigger/triggers.ts';
import type { Turns } from '../agents/turn/turns.ts';
import type { Keys } from '../auth/key/keys.ts';
import type { SignInLinks } from '../auth/page/sign-in-links.ts';
import type { Grants } from '../auth/server/grants.ts';
import type { Users } from '../auth/user/users.ts';
import type { PersonalCredentials } from '../connections/credential/personal-credentials.ts';
import type { DiscoverTools } from '../connections/server/discover-tools.ts';
import type { Registry } from '../connections/server/registry.ts';
import type { ServersRuntime } from '../connections/server/runtime.ts';
import type { DocsPages } from '../docs/pages.ts';
import type { Audit } from '../records/audit/audit.ts';
import type { AuditVerifier } from '../records/audit/verify.ts';
import type { Logs } from '../records/logs.ts';
import type { Variables } from '../secrets/variables.ts';
import type { Vault } from '../secrets/vault.ts';
import { applyAgentChanges } from './agents/apply_agent_changes.ts';
import { createAgent } from './agents/create_agent.ts';
import { deleteAgent } from './agents/delete_agent.ts';
import { deployAgentFile } from './agents/deploy_agent_file.ts';
import { discoverAgents } from './agents/discover_agents.ts';
import { getAgent } from './agents/get_agent.ts';
import { listAgentConfigs } from './agents/list_agent_configs.ts';
import { listAgentResources } from './agents/list_agent_resources.ts';
import { listAgents } from './agents/list_agents.ts';
import { updateAgent } from './agents/update_agent.ts';
import { cancelConversation } from './approvals/cancel_conversation.ts';
import type { ApprovalSettings } from './approvals/decider.ts';
import { getApprovalStatus } from './approvals/get_approval_status.ts';
import { listPendingApprovals } from './approvals/list_pending_approvals.ts';
import { redoTurn } from './approvals/redo_turn.ts';
import { resumeConversation } from './approvals/resume_conversation.ts';
import { undoTurn } from './approvals/undo_turn.ts';
import type { OperationHandlers } from './bind.ts';
import { invokeAgent } from './calls/invoke_agent.ts';
import { chatWithAgent } from './conversation/chat_with_agent.ts';
import { createConversation } from './conversation/create_conversation.ts';
import { listConversations } from './conversation/list_conversations.ts';
import { readConversation } from './conversation/read_conversation.ts';
import { readConversationLog } from './conversation/read_conversation_log.ts';
import { talkToAgent } from './conversation/talk_to_agent.ts';
import { deleteCredential } from './credentials/delete_credential.ts';
import { listCredentials } from './credentials/list_credentials.ts';
import { putCredential } from './credentials/put_credential.ts';
import { deployAgent } from './deployment/deploy_agent.ts';
import { getDeploymentStatus } from './deployment/get_deployment_status.ts';
import { undeployAgent } from './deployment/undeploy_agent.ts';
import { listAuditEvents } from './diagnostics/list_audit_events.ts';
import { readAgentLogs } from './diagnostics/read_agent_logs.ts';
import { readAuditTrail } from './diagnostics/read_audit_trail.ts';
import { verifyAudit } from './diagnostics/verify_audit.ts';
import { listDocs } from './docs/list_docs.ts';
import { readDocs } from './docs/read_docs.ts';
import { createDocument } from './documents/create_document.ts';
import { createResource } from './documents/create_resource.ts';
import { deleteDocument } from './documents/delete_document.ts';
import { deleteResource } from './documents/delete_resource.ts';
import { listDocuments } from './documents/list_documents.ts';
import { listWorkflows } from './documents/list_workflows.ts';
import { readDocument } from './documents/read_document.ts';
import { readResource } from './documents/read_resource.ts';
import { readWorkflow } from './documents/read_workflow.ts';
import { updateDocument } from './documents/update_document.ts';
import { updateResource } from './documents/update_resource.ts';
import { exportAgent } from './exports/export_agent.ts';
import { importAgent } from './exports/import_agent.ts';
import { deleteFile } from './files/delete_file.ts';
import { listFiles } from './files/list_files.ts';
import { presignUpload } from './files/presign_upload.ts';
import { readFile } from './files/read_file.ts';
import { listGrants } from './grants/list_grants.ts';
import { revokeGrant } from './grants/revoke_grant.ts';
import { createAgentKey } from './keys/create_agent_key.ts';
import { createKey } from './keys/create_key.ts';
import { listAgentKeys } from './keys/list_agent_keys.ts';
import { listKeys } from './keys/list_keys.ts';
import { revokeAgentKey } from './keys/revoke_agent_key.ts';
import { revokeKey } from './keys/revoke_key.ts';
import { lintAgent } from './lint/lint_agent.ts';
import { changeOwnAgent } from './own-agents/change_own_agent.ts';
import { listInstances } from './own-agents/list_instances.ts';
import { listOwnAgents } from './own-agents/list_own_agents.ts';
import { readOwnAgent } from './own-agents/read_own_agent.ts';
import { closeConversation } from './own-conversations/close_conversation.ts';
import { listMessages } from './own-conversations/list_messages.ts';
import { listOwnConversations } from './own-conversations/list_own_conversations.ts';
import { openConversation } from './own-conversations/open_conversation.ts';
import { postMessage } from './own-conversations/post_message.ts';
import { readOwnConversation } from './own-conversations/read_own_conversation.ts';
import { watchConversation } from './own-conversations/watch_conversation.ts';
import { createSignInLink } from './people/create_sign_in_link.ts';
import { createUser } from './people/create_user.ts';
import { disableUser } from './people/disable_user.ts';
import { enableUser } from './people/enable_user.ts';
import { listUsers } from './people/list_users.ts';
import { resetUserPassword } from './people/reset_user_password.ts';
import { setUserRoles } from './people/set_user_roles.ts';
import { deleteSecret } from './secrets/delete_secret.ts';
import { deleteVariable } from './secrets/delete_variable.ts';
import { listSecrets } from './secrets/list_secrets.ts';
import { listVariables } from './secrets/list_variables.ts';
import { putSecret } from './secrets/put_secret.ts';
import { putVariable } from './secrets/put_variable.ts';
import { rotateSecrets } from './secrets/rotate_secrets.ts';
import { acceptServerTools } from './servers/accept_server_tools.ts';
import { addServer } from './servers/add_server.ts';
import { callServerTool } from './servers/call_server_tool.ts';
import { discoverMcpTools } from './servers/discover_mcp_tools.ts';
import { listServerTools } from './servers/list_server_tools.ts';
import { listServers } from './servers/list_servers.ts';
import { readServer } from './servers/read_server.ts';
import { reconcileServers } from './servers/reconcile_servers.ts';
import { removeServer } from './servers/remove_server.ts';
import { setupAgent } from './setup/setup_agent.ts';
import { listAgentShares } from './sharing/list_agent_shares.ts';
import { shareAgent } from './sharing/share_agent.ts';
import { unshareAgent } from './sharing/unshare_agent.ts';
import { cancelTask } from './tasks/cancel_task.ts';
import { continueTask } from './tasks/continue_task.ts';
import { createTask } from './tasks/create_task.ts';
import { listAgentTasks } from './tasks/list_agent_tasks.ts';
import { listTaskMessages } from './tasks/list_task_messages.ts';
import { listTasks } from './tasks/list_tasks.ts';
import { readTask } from './tasks/read_task.ts';
import { watchTask } from './tasks/watch_task.ts';
import { traceTurn } from './trace/trace_turn.ts';
import { chatManaged } from './triggers/chat_managed.ts';
import { createAgentTrigger } from './triggers/create_agent_trigger.ts';
import { deleteAgentTrigger } from './triggers/delete_agent_trigger.ts';
import { listAgentTriggers } from './triggers/list_agent_triggers.ts';
import { updateAgentTrigger } from './triggers/update_agent_trigger.ts';

/** Each definition with its function: one row an operation. A definition without a row does not compile. */
export function createHandlers(parts: {
  readonly turns: Turns;
  readonly pauses: Pauses;
  readonly approvals: ApprovalSettings;
  readonly conversations: Conversations;
  readonly catalogue: Catalogue;
  readonly agentFiles: AgentFiles;
  readonly documents: Documents;
  readonly listInventory: ListInventory;
  readonly applyChanges: ApplyChanges;
  readonly removeAgent: DeleteAgent;
  readonly exportAgent: ExportAgent;
  readonly lint: Lint;
  readonly importAgent: ImportAgent;
  readonly setUp: SetUp;
  readonly deployer: Deployer;
  readonly triggers: Triggers;
  readonly admitManaged: AdmitManaged;
  readonly docs: DocsPages;
  readonly keys: Keys;
  readonly grants: Grants;
  readonly users: Users;
  readonly links: SignInLinks;
  readonly ownAgents: OwnAgents;
  readonly sharing: Sharing;
  readonly files: Files;
  readonly calls: AgentCalls;
  readonly tasks: Tasks;
  readonly ownConversations: OwnConversations;
  readonly messageReader: MessageReader;
  readonly logs: Logs;
  readonly audit: Audit;
  readonly auditVerifier: AuditVerifier;
  readonly vault: Vault;
  readonly variables: Variables;
  readonly personalCredentials: PersonalCredentials;
  readonly registry: Registry;
  readonly servers: ServersRuntime;
  readonly discoverTools: DiscoverTools;
}): OperationHandlers {
  const {
    documents,
    deployer,
    triggers,
    turns,
    pauses,
    approvals,
    conversations,
    catalogue,
    agentFiles,
    docs,
    keys,
    grants,
    users,
    links,
    ownAgents,
    logs,
    audit,
    auditVerifier,
    vault,
    variables,
    personalCredentials,
    files,
    registry,
    servers,
    discoverTools,
  } = parts;
  return {
    discover_agents: discoverAgents(catalogue, triggers),
    chat_with_agent: chatWithAgent(turns),
    create_conversation: createConversation(turns),
    talk_to_agent: talkToAgent(turns),
    read_conversation: readConversation(conversations),
    read_conversation_log: readConversationLog(conversations),
    list_conversations: listConversations(conversations),
    list_pending_approvals: listPendingApprovals(pauses),
    get_approval_status: getApprovalStatus(pauses, conversations),
    resume_conversation: resumeConversation(pauses, approvals),
    cancel_conversation: cancelConversation(pauses, approvals),
    undo_turn: undoTurn(turns),
    redo_turn: redoTurn(turns),
    list_agents: listAgents(catalogue),
    list_agent_configs: listAgentConfigs(catalogue),
    get_agent: getAgent(catalogue),
    read_agent_logs: readAgentLogs(conversations, logs),
    read_audit_trail: readAuditTrail(conversations, audit),
    list_audit_events: listAuditEvents(audit),
    verify_audit: verifyAudit(auditVerifier),
    apply_agent_changes: applyAgentChanges(parts.applyChanges, deployer),
    create_agent: createAgent(documents),
    delete_agent: deleteAgent(parts.removeAgent),
    list_agent_resources: listAgentResources(parts.listInventory),
    update_agent: updateAgent(documents, deployer),
    create_document: createDocument(documents),
    create_resource: createResource(documents),
    delete_document: deleteDocument(documents),
    delete_resource: deleteResource(documents),
    list_documents: listDocuments(documents),
    list_workflows: listWorkflows(documents),
    read_document: readDocument(documents),
    read_resource: readResource(documents),
    read_workflow: readWorkflow(documents),
    update_document: updateDocument(documents),
    update_resource: updateResource(documents),
    deploy_agent: deployAgent(deployer),
    get_deployment_status: getDeploymentStatus(deployer),
    undeploy_agent: undeployAgent(deployer),
    chat_managed: chatManaged(parts.admitManaged),
    create_agent_trigger: createAgentTrigger(triggers),
    delete_agent_trigger: deleteAgentTrigger(triggers),
    list_agent_triggers: listAgentTriggers(triggers),
    update_agent_trigger: updateAgentTrigger(triggers),
    list_docs: listDocs(docs),
    read_docs: readDocs(docs),
    deploy_agent_file: deployAgentFile(agentFiles),
    trace_turn: traceTurn(turns, documents),
    lint_agent: lintAgent(parts.lint),
    export_agent: exportAgent(parts.exportAgent),
    import_agent: importAgent(parts.importAgent),
    setup_agent: setupAgent(parts.setUp),
    create_key: createKey(keys),
    create_agent_key: createAgentKey(keys),
    list_keys: listKeys(keys),
    revoke_key: revokeKey(keys),
    list_agent_keys: listAgentKeys(keys),
    revoke_agent_key: revokeAgentKey(keys),
    list_grants: listGrants(grants),
    revoke_grant: revokeGrant(grants),
    list_users: listUsers(users),
    create_user: createUser(users, links),
    set_user_roles: setUserRoles(users),
    reset_user_password: resetUserPassword(users, links),
    disable_user: disableUser(users),
    enable_user: enableUser(users),
    create_sign_in_link: createSignInLink(links),
    list_own_agents: listOwnAgents(ownAgents),
    read_own_agent: readOwnAgent(ownAgents),
    change_own_agent: changeOwnAgent(ownAgents),
    list_instances: listInstances(ownAgents),
    list_agent_shares: listAgentShares(parts.sharing),
    share_agent: shareAgent(parts.sharing),
    unshare_agent: unshareAgent(parts.sharing),
    put_secret: putSecret(vault),
    list_secrets: listSecrets(vault),
    rotate_secrets: rotateSecrets(vault),
    delete_secret: deleteSecret(vault),
    put_variable: putVariable(variables),
    list_variables: listVariables(variables),
    delete_variable: deleteVariable(variables),
    put_credential: putCredential(personalCredentials, registry),
    list_credentials: listCredentials(personalCredentials, registry),
    delete_credential: deleteCredential(personalCredentials),
    add_server: addServer(registry, servers),
    list_servers: listServers(registry, servers),
    read_server: readServer(registry, servers),
    list_server_tools: listServerTools(registry, servers),
    accept_server_tools: acceptServerTools(registry, servers),
    call_server_tool: callServerTool(registry, servers),
    discover_mcp_tools: discoverMcpTools(discoverTools),
    reconcile_servers: reconcileServers(registry),
    remove_server: removeServer(registry),
    invoke_agent: invokeAgent(parts.calls),
    create_task: createTask(parts.tasks),
    list_tasks: listTasks(parts.tasks),
    list_agent_tasks: listAgentTasks(parts.tasks),
    read_task: readTask(parts.tasks),
    list_task_messages: listTaskMessages(parts.tasks, parts.messageReader),
    watch_task: watchTask(parts.tasks, parts.messageReader),
    continue_task: continueTask(parts.tasks),
    cancel_task: cancelTask(parts.tasks),
    open_conversation: openConversation(parts.ownConversations),
    list_own_conversations: listOwnConversations(parts.ownConversations),
    read_own_conversation: readOwnConversation(parts.ownConversations),
    post_message: postMessage(parts.ownConversations),
    list_messages: listMessages(parts.ownConversations, parts.messageReader),
    watch_conversation: watchConversation(parts.ownConversations, parts.messageReader),
    close_conversation: closeConversation(parts.ownConversations),
    presign_upload: presignUpload(files),
    list_files: listFiles(files),
    read_file: readFile(files),
    delete_file: deleteFile(files),
  };
}
