import type { OperationDefinition } from './operation.ts';
import {
  applyAgentChanges,
  createAgent,
  deleteAgent,
  deployAgentFile,
  discoverAgents,
  getAgent,
  listAgentConfigs,
  listAgentResources,
  listAgents,
  updateAgent,
} from './operations/agents.ts';
import {
  cancelConversation,
  getApprovalStatus,
  listPendingApprovals,
  redoTurn,
  resumeConversation,
  undoTurn,
} from './operations/approvals.ts';
import { invokeAgent } from './operations/calls.ts';
import {
  chatWithAgent,
  createConversation,
  listConversations,
  readConversation,
  readConversationLog,
  talkToAgent,
} from './operations/conversation.ts';
import { deployAgent, getDeploymentStatus, undeployAgent } from './operations/deployment.ts';
import { listAuditEvents, readAgentLogs, readAuditTrail, verifyAudit } from './operations/diagnostics.ts';
import { listDocs, readDocs } from './operations/docs.ts';
import {
  createDocument,
  createResource,
  deleteDocument,
  deleteResource,
  listDocuments,
  listWorkflows,
  readDocument,
  readResource,
  readWorkflow,
  updateDocument,
  updateResource,
} from './operations/documents.ts';
import { exportAgent, importAgent } from './operations/exports.ts';
import { deleteFile, listFiles, presignUpload, readFile } from './operations/files.ts';
import {
  createAgentKey,
  createKey,
  listAgentKeys,
  listKeys,
  revokeAgentKey,
  revokeKey,
} from './operations/keys.ts';
import { lintAgent } from './operations/lint.ts';
import { changeOwnAgent, listInstances, listOwnAgents, readOwnAgent } from './operations/own-agents.ts';
import {
  closeConversation,
  listMessages,
  listOwnConversations,
  openConversation,
  postMessage,
  readOwnConversation,
  watchConversation,
} from './operations/own-conversations.ts';
import {
  deleteSecret,
  deleteVariable,
  listSecrets,
  listVariables,
  putSecret,
  putVariable,
  rotateSecrets,
} from './operations/secrets.ts';
import {
  cancelTask,
  continueTask,
  createTask,
  listAgentTasks,
  listTaskMessages,
  listTasks,
  readTask,
  watchTask,
} from './operations/tasks.ts';
import { traceTurn } from './operations/trace.ts';
import {
  chatManaged,
  createAgentTrigger,
  deleteAgentTrigger,
  listAgentTriggers,
  updateAgentTrigger,
} from './operations/triggers.ts';

/** Every operation of the platform, in the order of lists and reference pages. */
export const OPERATIONS = [
  discoverAgents,
  chatWithAgent,
  createConversation,
  talkToAgent,
  readConversation,
  readConversationLog,
  listConversations,
  undoTurn,
  redoTurn,
  getApprovalStatus,
  listPendingApprovals,
  resumeConversation,
  cancelConversation,
  listAgents,
  listAgentConfigs,
  getAgent,
  readAgentLogs,
  readAuditTrail,
  listAuditEvents,
  verifyAudit,
  createAgent,
  updateAgent,
  listAgentResources,
  applyAgentChanges,
  deleteAgent,
  listWorkflows,
  readWorkflow,
  createResource,
  readResource,
  updateResource,
  deleteResource,
  listDocuments,
  readDocument,
  createDocument,
  updateDocument,
  deleteDocument,
  deployAgent,
  getDeploymentStatus,
  undeployAgent,
  listAgentTriggers,
  createAgentTrigger,
  chatManaged,
  updateAgentTrigger,
  deleteAgentTrigger,
  listDocs,
  readDocs,
  deployAgentFile,
  traceTurn,
  lintAgent,
  exportAgent,
  importAgent,
  createKey,
  createAgentKey,
  listKeys,
  revokeKey,
  listAgentKeys,
  revokeAgentKey,
  listOwnAgents,
  readOwnAgent,
  changeOwnAgent,
  listInstances,
  invokeAgent,
  createTask,
  listTasks,
  listAgentTasks,
  readTask,
  listTaskMessages,
  watchTask,
  continueTask,
  cancelTask,
  openConversation,
  listOwnConversations,
  readOwnConversation,
  postMessage,
  listMessages,
  watchConversation,
  closeConversation,
  presignUpload,
  listFiles,
  readFile,
  deleteFile,
  putSecret,
  listSecrets,
  rotateSecrets,
  deleteSecret,
  putVariable,
  listVariables,
  deleteVariable,
] as const satisfies readonly OperationDefinition[];

type Listed = (typeof OPERATIONS)[number];
export type OperationName = Listed['name'];
/** Any operation, without the types of its own arguments and answer. */
export type Operation = OperationDefinition & { readonly name: OperationName };
export type OperationByName<N extends OperationName> = Extract<Listed, { readonly name: N }>;
