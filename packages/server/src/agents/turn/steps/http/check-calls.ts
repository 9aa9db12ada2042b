import { checkTemplates, type PlacedText } from '../check-templates.ts';
import { instructionTexts } from '../instructions.ts';
import { answerTexts, ENTRY } from './build-answers.ts';
import { prepareCalls } from './call.ts';
import type { HttpCall, HttpcallsDocument } from './http-call.ts';
import { compileForCheck } from './request-template.ts';

/** Rejects with a `PlatformError` of kind `invalid` where a call could never be made, so that no turn has to find out. */
export async function checkCalls(document: HttpcallsDocument): Promise<void> {
  await checkTemplates('httpcalls document', textsOf(document));
  prepareCalls(document, compileForCheck);
}

function* textsOf({ targetServerUrl, httpCalls }: HttpcallsDocument): Generator<PlacedText> {
  yield [targetServerUrl, '$.targetServerUrl'];
  for (const [index, call] of httpCalls.entries()) yield* textsOfCall(call, `$.httpCalls[${index}]`);
}

function* textsOfCall(call: HttpCall, path: string): Generator<PlacedText> {
  const { request, preRequest, postResponse } = call;
  const names = [
    ...Object.keys(call.parameters ?? {}),
    ...(call.isBatchCalls
      ? [preRequest?.batchRequests?.iterationObjectName ?? call.iterationObjectName ?? ENTRY]
      : []),
  ];
  for (const field of ['path', 'body'] as const) yield [request[field], `${path}.request.${field}`, names];
  for (const field of ['headers', 'queryParams'] as const) {
    for (const [name, text] of Object.entries(request[field])) {
      yield [text, `${path}.request.${field}.${name}`, names];
    }
  }
  yield* instructionTexts(
    preRequest?.propertyInstructions ?? [],
    `${path}.preRequest.propertyInstructions`,
    Object.keys(call.parameters ?? {}),
  );
  if (!postResponse) return;
  yield* instructionTexts(
    postResponse.propertyInstructions,
    `${path}.postResponse.propertyInstructions`,
    names,
  );
  for (const { name, texts } of answerTexts(postResponse)) {
    for (const text of texts) yield [text, `${path}.postResponse`, [...names, name]];
  }
}
