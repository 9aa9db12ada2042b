import { PlatformError } from '../../../kernel/errors.ts';
import type { CapableAgent, StepTools, TurnMemory } from '../../step/step.ts';
import { inSlices } from './in-slices.ts';
import { isTemplate, type TemplateCache, templateProblem } from './template.ts';
import { turnData } from './turn-data.ts';

/** Who can do something, in the order of the strategy; `undefined` when the strategy turned out to be none. */
export type CapableIds = readonly string[] | undefined;

/** Asks who has a skill. Both texts may be templates over the turn's data. */
export interface SkillQuestion {
  readonly skill: string;
  readonly strategy: string;
  /** Puts those that were found into the order of a strategy. */
  arrange(found: readonly CapableAgent[], strategy: string): CapableIds;
}

const RANK = { high: 0, medium: 1, low: 2 };

/** Throws a `PlatformError` of kind `invalid` for a template that is none. */
export function askForSkill(configs: { readonly skill: string; readonly strategy: string }): SkillQuestion {
  for (const text of [configs.skill, configs.strategy]) {
    const problem = isTemplate(text) ? templateProblem(text) : undefined;
    if (problem !== undefined) {
      throw new PlatformError(
        'invalid',
        `rules document: a template of capabilityMatch is not valid: ${problem}.`,
      );
    }
  }
  /** Whose turn it is; each node begins with the first. */
  let turns = 0;
  return {
    ...configs,
    arrange(found, strategy) {
      switch (strategy) {
        case 'all':
          return found.map(({ agentId }) => agentId);
        case 'highest_confidence':
          return found
            .toSorted((a, b) => RANK[a.confidence] - RANK[b.confidence])
            .map(({ agentId }) => agentId);
        case 'round_robin': {
          const first = found.length === 0 ? 0 : turns++ % found.length;
          return [...found.slice(first), ...found.slice(0, first)].map(({ agentId }) => agentId);
        }
        default:
          return undefined;
      }
    },
  };
}

/** The answers to all questions, each at the place of its question. */
export async function findCapable(
  questions: readonly SkillQuestion[],
  templates: TemplateCache,
  memory: TurnMemory,
  tools: StepTools,
): Promise<readonly CapableIds[]> {
  const data = turnData(memory, tools);
  const { budget, clock } = tools;
  const render = async (text: string) =>
    (await inSlices(templates.render(text, data, { now: clock.now(), budget }), budget)).trim();
  const found = new Map<string, readonly CapableAgent[]>();
  const answers: CapableIds[] = [];
  for (const { skill, strategy, arrange } of questions) {
    const name = await render(skill);
    if (!found.has(name)) found.set(name, name === '' ? [] : await tools.capabilities(name));
    const agents = found.get(name)!;
    budget.work(1 + agents.length);
    answers.push(arrange(agents, await render(strategy)));
  }
  return answers;
}
