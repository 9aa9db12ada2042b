import { z } from 'zod';
import { isObject } from '../../kernel/json.ts';
import { llmDocument, PARAMETER_NAMES } from './llm.ts';
import { splitModel } from './model-choice.ts';

/** The id of the one task of a short form. */
const MAIN = 'main';

/**
 * The member `llm` of an agent file: the document, or, for one task, its members with `model: provider:model` in place of `type` and `parameters`.
 */
export const llmMember = z.preprocess((written, context) => {
  if (!isObject(written) || 'tasks' in written) return written;
  const { model: named, ...members } = written;
  if (typeof named !== 'string') {
    context.addIssue('must have "model", such as anthropic:claude-sonnet-4-6, or a list of "tasks"');
    return z.NEVER;
  }
  const { provider, model } = splitModel(named);
  const isParameter = ([name]: readonly [string, unknown]) => PARAMETER_NAMES.has(name);
  const entries = Object.entries(members);
  const parameters = Object.fromEntries(entries.filter(isParameter));
  const rest = Object.fromEntries(entries.filter(entry => !isParameter(entry)));
  return {
    tasks: [
      {
        id: MAIN,
        type: provider,
        parameters: { ...(model !== undefined && { model }), ...parameters },
        ...rest,
      },
    ],
  };
}, llmDocument.body);
