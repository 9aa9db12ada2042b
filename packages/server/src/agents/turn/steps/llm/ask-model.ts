import type { CompiledText } from '../../../../secrets/references.ts';
import type { LlmTask } from '../../../document/llm.ts';
import type { ModelMessage, ModelOutcome, ModelRequest, ModelTool } from '../../../model/model.ts';
import { PROVIDERS } from '../../../model/providers.ts';
import type { StepTools } from '../../../step/step.ts';
import { objectRequest } from './answer-object.ts';

/** Which model a task asks, with its references found. */
export interface TaskModel {
  readonly task: LlmTask;
  readonly apiKey: CompiledText | undefined;
  readonly baseUrl: CompiledText | undefined;
}

/** Throws a `PlatformError` of kind `invalid` for a reference that is none. */
export function compileModel(task: LlmTask, compile: (text: string) => CompiledText): TaskModel {
  const { apiKey, baseUrl } = task.parameters;
  return {
    task,
    apiKey: apiKey === undefined ? undefined : compile(apiKey),
    baseUrl: baseUrl === undefined ? undefined : compile(baseUrl),
  };
}

/** The model of a task, as people name it. */
export function modelName({ type, parameters }: LlmTask): string {
  return parameters.model ?? PROVIDERS[type].defaultModel ?? '';
}

/** One request of a turn. */
export interface Round {
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly offered: readonly ModelTool[];
  /** False in the last round there may be: then it has to answer. */
  readonly mayCall: boolean;
  readonly onText: (delta: string) => void;
}

/** Asks with the key and the address as they are now. No secret is in what it answers. */
export async function askModel(
  { task, apiKey, baseUrl }: TaskModel,
  { offered, ...round }: Round,
  tools: StepTools,
): Promise<ModelOutcome> {
  const { agentId } = tools.conversation;
  const resolve = (text: CompiledText | undefined) => text && tools.references.resolve(text, { agentId });
  const [key, url] = await Promise.all([resolve(apiKey), resolve(baseUrl)]);
  const { temperature, maxTokens, timeout } = task.parameters;
  const request: ModelRequest = {
    provider: task.type,
    model: modelName(task),
    apiKey: key?.text,
    baseUrl: url?.text,
    secrets: [...(key?.secrets ?? []), ...(url?.secrets ?? [])],
    ...round,
    tools: offered,
    ...{ temperature, maxTokens },
    json: objectRequest(task),
    timeoutMs: task.streamingTimeoutSeconds * 1_000,
    totalMs: timeout,
    retry: task.retry,
    signal: tools.signal,
  };
  return tools.model(request);
}
