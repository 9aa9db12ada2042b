import { propertyDocument } from '../../document/property.ts';
import { type Expression, parseExpressions, printExpression } from '../../language/expression.ts';
import type { StepResult, StepTools, StepType, TurnMemory } from '../../step/step.ts';
import { checkTemplates } from './check-templates.ts';
import { inSlices, type Sliced } from './in-slices.ts';
import {
  compileInstructions,
  instructionTexts,
  keepSecrets,
  runInstructions,
  type Secret,
} from './instructions.ts';
import { listensTo } from './listens-to.ts';
import { loadStepDocument } from './step-config.ts';
import { createTemplateCache } from './template.ts';
import { turnData } from './turn-data.ts';

const CACHED_TEMPLATES = 500;

/**
 * Sets properties: what the expressions `property(name(value))` say, of the input and of context values whose name begins with
 * `properties`, and then what the entries do that listen to an action of this turn, in their order.
 */
export const propertyStep: StepType = {
  type: 'property',
  async compile(step, load) {
    const { setOnActions } = await loadStepDocument(step, propertyDocument, load);
    await checkTemplates(
      'property document',
      setOnActions.flatMap(({ setProperties }, index) => [
        ...instructionTexts(setProperties, `$.setOnActions[${index}].setProperties`),
      ]),
    );
    const entries = setOnActions.map(({ actions, setProperties }) => ({
      listens: listensTo(actions),
      instructions: compileInstructions(setProperties),
    }));
    const templates = createTemplateCache(CACHED_TEMPLATES);

    function* set(memory: TurnMemory, tools: StepTools): Sliced<Secret[]> {
      const names = [...setFromExpressions(memory, tools)];
      const secrets: Secret[] = [];
      const data = turnData(memory, tools);
      for (const { listens, instructions } of entries) {
        if (!listens(memory.actions)) continue;
        const done = yield* runInstructions(instructions, { memory, tools, templates, data });
        names.push(...done.names);
        secrets.push(...done.secrets);
      }
      // The values stand with the conversation; secret ones stand nowhere.
      if (names.length > 0) memory.remember('properties:set', [...new Set(names)]);
      return secrets;
    }

    return {
      run(memory, tools): StepResult | Promise<StepResult> {
        const secrets = inSlices(set(memory, tools), tools.budget);
        return Array.isArray(secrets) && secrets.length === 0 ? 'continue' : finish(secrets, memory, tools);
      },
    };
  },
};

async function finish(
  secrets: Secret[] | Promise<Secret[]>,
  memory: TurnMemory,
  tools: StepTools,
): Promise<StepResult> {
  await keepSecrets(await secrets, memory, tools);
  return 'continue';
}

function* setFromExpressions(memory: TurnMemory, { budget }: StepTools): Generator<string> {
  for (const { name, args } of propertyExpressions(memory)) {
    budget.work(1);
    if (args.length === 0 || name === '__proto__') continue;
    memory.setProperty(
      name,
      args.length === 1 ? printExpression(args[0]!) : args.map(printExpression),
      'conversation',
    );
    yield name;
  }
}

/** What is inside `property(...)`; a value of the context that is for properties may leave that out. */
function* propertyExpressions({ expressions, context, contextTypes }: TurnMemory): Generator<Expression> {
  for (const { name, args } of expressions.flatMap(text => parseExpressions(text) ?? [])) {
    if (name === 'property') yield* args;
  }
  for (const [key, type] of Object.entries(contextTypes)) {
    if (type !== 'expressions' || !key.startsWith('properties')) continue;
    for (const expression of parseExpressions(String(context[key])) ?? []) {
      if (expression.name === 'property') yield* expression.args;
      else yield expression;
    }
  }
}
