import { type McpcallsDocument, mcpcallsDocument } from '../../document/mcpcalls.ts';
import type { StepResult, StepTools, StepType, TurnMemory } from '../../step/step.ts';
import { noSignIns } from './ask-to-sign-in.ts';
import { checkTemplates, type PlacedText } from './check-templates.ts';
import { answerTexts } from './http/build-answers.ts';
import { compileInstructions, instructionTexts } from './instructions.ts';
import { listensTo } from './listens-to.ts';
import { argumentTexts } from './mcp/arguments.ts';
import { failureOf, makeCall } from './mcp/call.ts';
import { mcpcallsServer } from './mcp/server.ts';
import { loadStepDocument } from './step-config.ts';
import { createTemplateCache } from './template.ts';
import { turnData } from './turn-data.ts';

const CACHED_TEMPLATES = 500;

/**
 * Calls the tools that listen to an action of this turn, in the order of the document, each once whatever happens to this node: see
 * `StepTools.effect` (E-98). The turn fails when a call does, unless the call goes on without it.
 */
export const mcpcallsStep: StepType = {
  type: 'mcpcalls',
  async compile(step, load) {
    const document = await loadStepDocument(step, mcpcallsDocument, load);
    await checkTemplates('mcpcalls document', textsOf(document));
    const serverFor = mcpcallsServer(document);
    const calls = document.mcpCalls.map(call => ({
      call,
      listens: listensTo(call.actions),
      before: compileInstructions(call.preRequest?.propertyInstructions ?? []),
      after: compileInstructions(call.postResponse?.propertyInstructions ?? []),
    }));
    const templates = createTemplateCache(CACHED_TEMPLATES);
    async function run(memory: TurnMemory, tools: StepTools): Promise<StepResult> {
      const server = serverFor(tools);
      const data = turnData(memory, tools);
      const signIns = noSignIns();
      for (const prepared of calls) {
        if (!prepared.listens(memory.actions)) continue;
        const failed = await makeCall(prepared, { memory, tools, templates, data, server, signIns });
        if (failed && !prepared.call.continueOnError) throw failureOf(prepared.call, failed);
      }
      return 'continue';
    }

    return {
      acts: calls.length > 0,
      run: (memory, tools) =>
        calls.some(({ listens }) => listens(memory.actions)) ? run(memory, tools) : 'continue',
    };
  },
};

function* textsOf({ mcpCalls }: McpcallsDocument): Generator<PlacedText> {
  for (const [index, { toolArguments, preRequest, postResponse }] of mcpCalls.entries()) {
    const path = `$.mcpCalls[${index}]`;
    yield* argumentTexts(toolArguments, `${path}.toolArguments`);
    yield* instructionTexts(
      preRequest?.propertyInstructions ?? [],
      `${path}.preRequest.propertyInstructions`,
    );
    if (!postResponse) continue;
    yield* instructionTexts(postResponse.propertyInstructions, `${path}.postResponse.propertyInstructions`);
    for (const { name, texts } of answerTexts(postResponse)) {
      for (const text of texts) yield [text, `${path}.postResponse`, [name]];
    }
  }
}
