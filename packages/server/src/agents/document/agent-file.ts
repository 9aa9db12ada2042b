import { agentIdSchema, type DocumentType, formatDocumentUri } from '@patchbay/contract/ids';
import { z } from 'zod';
import { hitlConfig } from '../approval/hitl-config.ts';
import { type AgentDocument, budgetField, capabilitiesField, userMemoryConfig } from './agent.ts';
import { dictionaryDocument } from './dictionary.ts';
import { httpcallsDocument } from './httpcalls.ts';
import { llmMember } from './llm-member.ts';
import { mcpcallsDocument } from './mcpcalls.ts';
import { outputDocument } from './output.ts';
import { parseStrictly } from './parse-document.ts';
import { parserMember } from './parser.ts';
import { propertyDocument } from './property.ts';
import { rulesDocument } from './rules.ts';
import type { WorkflowDocument } from './workflow.ts';

const agentFile = z.strictObject({
  /** Id of the agent: the first part of its MCP address. */
  agent: agentIdSchema,
  name: z.string().trim().min(1, 'must not be empty').max(200, 'must have at most 200 characters'),
  /** What the agent is for; people and models choose by it. */
  description: z.string().max(2_000, 'must have at most 2000 characters').default(''),
  /** May MCP clients talk to it at its own address? */
  mcp_enabled: z.boolean().default(false),
  /** How long a turn waits for an approval, and what then. */
  hitlConfig: hitlConfig.optional(),
  /** What it can do for others: rules of the owner's agents find it by that. */
  capabilities: capabilitiesField.optional(),
  /** What its calls may cost. */
  budget: budgetField.optional(),
  dictionary: dictionaryDocument.body.optional(),
  parser: parserMember.optional(),
  rules: rulesDocument.body.default(() => rulesDocument.body.parse({ behaviorGroups: [] })),
  property: propertyDocument.body.optional(),
  httpcalls: httpcallsDocument.body.optional(),
  mcpcalls: mcpcallsDocument.body.optional(),
  /** A language model that answers, with the tools it may use. */
  llm: llmMember.optional(),
  output: outputDocument.body.default({ outputSet: [] }),
  userMemoryConfig: userMemoryConfig.optional(),
});

/** An agent in one file: who it is, and what its documents hold. */
export type AgentFile = z.output<typeof agentFile>;

/** Throws a `PlatformError` of kind `invalid` that names field, path and known fields. */
export function parseAgentFile(file: unknown): AgentFile {
  const parsed = parseStrictly('agent file', agentFile, file);
  if (parsed.mcpcalls) mcpcallsDocument.check(parsed.mcpcalls);
  return parsed;
}

/** A document of an agent file. All of one agent's documents have its id. */
export interface FileDocument {
  readonly type: DocumentType;
  readonly body: unknown;
}

/** The documents that hold what people write, in a fixed order. */
export function contentDocuments(file: AgentFile): FileDocument[] {
  return [
    ...(file.dictionary ? [{ type: 'dictionary', body: file.dictionary } as const] : []),
    { type: 'rules', body: file.rules },
    ...(file.property ? [{ type: 'property', body: file.property } as const] : []),
    ...(file.httpcalls ? [{ type: 'httpcalls', body: file.httpcalls } as const] : []),
    ...(file.mcpcalls ? [{ type: 'mcpcalls', body: file.mcpcalls } as const] : []),
    ...(file.llm ? [{ type: 'llm', body: file.llm } as const] : []),
    { type: 'output', body: file.output },
  ];
}

/** The workflow over those documents: understand, decide, remember, ask others, answer, fill in. */
export function workflowOf(file: AgentFile, versionOf: (type: DocumentType) => number): WorkflowDocument {
  const uri = (type: DocumentType) => formatDocumentUri({ type, id: file.agent, version: versionOf(type) });
  const stepOf = (type: DocumentType) => ({ type, config: { uri: uri(type) } });
  return {
    workflowSteps: [
      parserStepOf(file, file.dictionary && uri('dictionary')),
      stepOf('rules'),
      ...(file.property ? [stepOf('property')] : []),
      ...(file.httpcalls ? [stepOf('httpcalls')] : []),
      ...(file.mcpcalls ? [stepOf('mcpcalls')] : []),
      ...(file.llm ? [stepOf('llm')] : []),
      stepOf('output'),
      { type: 'templating' },
    ],
  };
}

/** Without any member about it a file has the parser as it is usually, and the same step it always had. */
function parserStepOf(
  { parser }: AgentFile,
  dictionary: string | undefined,
): WorkflowDocument['workflowSteps'][number] {
  const own = dictionary === undefined ? [] : [{ type: 'regular', config: { uri: dictionary } }];
  if (parser) {
    const { config, dictionaries, corrections, normalizers } = parser;
    const extensions = { dictionaries: [...own, ...dictionaries], corrections, normalizer: normalizers };
    return { type: 'parser', config, extensions };
  }
  return { type: 'parser', ...(own.length > 0 && { extensions: { dictionaries: own } }) };
}

export function agentOf(file: AgentFile, workflowVersion: number): AgentDocument {
  const { userMemoryConfig: memory } = file;
  return {
    ...(memory && { userMemoryConfig: memory }),
    workflows: [formatDocumentUri({ type: 'workflow', id: file.agent, version: workflowVersion })],
    ...(file.hitlConfig && { hitlConfig: file.hitlConfig }),
    ...(file.capabilities && { capabilities: file.capabilities }),
    ...(file.budget && { budget: file.budget }),
  };
}
