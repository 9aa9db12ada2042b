import { parseDocumentUri } from '@patchbay/contract/ids';
import { Fault, PlatformError } from '../../kernel/errors.ts';
import type { HitlConfig } from '../approval/hitl-config.ts';
import { createToolApprovals, type ToolApprovals } from '../approval/tool-approvals.ts';
import { type AgentDocument, type UserMemoryConfig, userMemoryConfig } from '../document/agent.ts';
import { parseStored } from '../document/parse-document.ts';
import { workflowDocument } from '../document/workflow.ts';
import type { AgentAround, CompiledStep, LoadDocument, StepType, WorkflowStep } from '../step/step.ts';

/** A step of a compiled agent with where it comes from. */
export interface AgentStep {
  readonly type: string;
  readonly workflowId: string;
  readonly compiled: CompiledStep;
}

/** One version of an agent with everything parsed and prepared: its workflows' steps, one after another. */
export interface CompiledAgent {
  readonly agentId: string;
  readonly version: number;
  readonly steps: readonly AgentStep[];
  /** How many earlier turns its documents and steps look at; more than the last one costs each turn a query. */
  readonly pastTurns: number;
  /** Do they ask for the variables of the platform? */
  readonly readsVariables: boolean;
  readonly hitl: HitlConfig | undefined;
  /** See `StepTools`. */
  readonly approvals: ToolApprovals;
  /** See `StepTools`. */
  readonly callBudgetUsd: number | undefined;
  /** `undefined` for an agent that keeps nothing of a person. */
  readonly memory: UserMemoryConfig | undefined;
}

/** As in a path of a template or a condition. A word of an answer may be the same, which costs a query. */
const PAST = /\bpast\b|\bconversationLog\b/;
const VARS = /\bvars\b/;
/** How far back documents can look that ask for the conversation. */
const PAST_TURNS = 20;

/**
 * Prepares an agent. Rejects with a `PlatformError` of kind `invalid` that names the workflow, the step and the remedy,
 * or with what `load` rejects with when a referenced document is not there.
 */
export async function compileAgent(
  agent: { readonly agentId: string; readonly version: number; readonly body: AgentDocument },
  load: LoadDocument,
  stepTypes: readonly StepType[],
): Promise<CompiledAgent> {
  const steps: AgentStep[] = [];
  let readsPast = false;
  let readsVariables = false;
  const loadAndLook: LoadDocument = async ref => {
    const body = await load(ref);
    // What a dictionary holds is only compared.
    const text = ref.type === 'dictionary' ? '' : JSON.stringify(body);
    readsPast ||= PAST.test(text);
    readsVariables ||= VARS.test(text);
    return body;
  };
  if (agent.body.workflows.length === 0) {
    throw new PlatformError('invalid', `agent ${agent.agentId}: workflows is empty; name at least one.`);
  }
  const workflows: { readonly id: string; readonly steps: readonly WorkflowStep[] }[] = [];
  for (const uri of agent.body.workflows) {
    // The agent document holds nothing else: it was parsed.
    const ref = parseDocumentUri(uri)!;
    const { workflowSteps } = parseStored(workflowDocument, await load(ref));
    workflows.push({ id: ref.id, steps: workflowSteps });
  }
  const around: AgentAround = { steps: workflows.flatMap(workflow => workflow.steps) };
  for (const workflow of workflows) {
    for (const [index, step] of workflow.steps.entries()) {
      const path = `workflow ${workflow.id}, workflowSteps[${index}]`;
      const compiled = await compileStep(step, { load: loadAndLook, agent: around }, stepTypes, path);
      steps.push({ type: step.type, workflowId: workflow.id, compiled });
    }
  }
  return {
    agentId: agent.agentId,
    version: agent.version,
    steps,
    pastTurns: Math.max(readsPast ? PAST_TURNS : 1, ...steps.map(({ compiled }) => compiled.pastTurns ?? 1)),
    readsVariables,
    hitl: agent.body.hitlConfig,
    approvals: createToolApprovals(agent.body.hitlConfig),
    callBudgetUsd: agent.body.budget?.usdPerConversation,
    memory: memoryOf(agent.body, steps),
  };
}

const SETS_PROPERTIES = new Set(['property', 'httpcalls', 'mcpcalls']);

/** Any step that sets properties may set long-term ones. */
function memoryOf(
  { userMemoryConfig: own }: AgentDocument,
  steps: readonly AgentStep[],
): UserMemoryConfig | undefined {
  const sets = steps.some(({ type, compiled }) => SETS_PROPERTIES.has(type) || compiled.setsProperties);
  return own ?? (sets ? userMemoryConfig.parse({}) : undefined);
}

/** Prepares one step; errors are those of `compileAgent`, and say that it is at `path`. */
export async function compileStep(
  step: WorkflowStep,
  { load, agent }: { readonly load: LoadDocument; readonly agent?: AgentAround },
  stepTypes: readonly StepType[],
  path: string,
): Promise<CompiledStep> {
  const stepType = stepTypes.find(known => known.type === step.type);
  if (!stepType) {
    throw new PlatformError(
      'invalid',
      `${path}.type: unknown step type "${step.type}"; known types: ${stepTypes.map(known => known.type).join(', ')}.`,
    );
  }
  try {
    return await stepType.compile(step, load, agent);
  } catch (thrown) {
    if (thrown instanceof PlatformError) {
      throw new PlatformError(thrown.kind, `${path}: ${thrown.message}`, { cause: thrown });
    }
    throw new Fault('step_compile_failed', `Step type ${stepType.type} threw while compiling ${path}.`, {
      cause: thrown,
    });
  }
}
