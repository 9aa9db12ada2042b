import { PlatformError } from '../../../kernel/errors.ts';
import { httpcallsDocument } from '../../document/httpcalls.ts';
import type { StepResult, StepTools, StepType, TurnMemory } from '../../step/step.ts';
import { createBackground } from './http/background.ts';
import { makeCall, type PreparedCall, prepareCalls } from './http/call.ts';
import { checkCalls } from './http/check-calls.ts';
import { isSafe } from './http/http-call.ts';
import { listensTo } from './listens-to.ts';
import { loadStepDocument } from './step-config.ts';
import { createTemplateCache } from './template.ts';
import { turnData } from './turn-data.ts';

const CACHED_TEMPLATES = 500;
/** Of one deployed version on one node. */
const MAX_BACKGROUND = 100;

/**
 * Makes the calls that listen to an action of this turn, in the order of the document, each once whatever happens to this node: see
 * `StepTools.effect`. The turn fails when a call cannot be made or its outcome is unknown, unless the call goes on without it.
 */
export const httpcallsStep: StepType = {
  type: 'httpcalls',
  async compile(step, load) {
    const document = await loadStepDocument(step, httpcallsDocument, load);
    await checkCalls(document);
    const listening = document.httpCalls.map(({ actions }) => listensTo(actions));
    const templates = createTemplateCache(CACHED_TEMPLATES);
    const background = createBackground(MAX_BACKGROUND);
    let prepared: readonly PreparedCall[] | undefined;

    async function run(memory: TurnMemory, tools: StepTools): Promise<StepResult> {
      prepared ??= prepareCalls(document, tools.references.compile);
      const data = turnData(memory, tools);
      const calls = prepared.filter((_call, index) => listening[index]!(memory.actions));
      const lastEffect = calls.findLastIndex(({ call }) => !isSafe(call));
      for (const [index, call] of calls.entries()) {
        // What an effect was decided by must be the same when the turn goes on after a crash.
        const journaled = index <= lastEffect;
        const failed = await makeCall(call, { memory, tools, templates, background, data, journaled });
        if (failed && !call.call.continueOnError && !call.call.fireAndForget) {
          throw new PlatformError('unavailable', `the call "${call.call.name}" failed: ${failed.message}.`);
        }
      }
      return 'continue';
    }

    return {
      acts: document.httpCalls.some(call => !isSafe(call)),
      run: (memory, tools) =>
        listening.some(listens => listens(memory.actions)) ? run(memory, tools) : 'continue',
    };
  },
};
