import type { StepType } from '../step/step.ts';
import { httpcallsStep } from './steps/httpcalls.ts';
import { llmStep } from './steps/llm.ts';
import { mcpcallsStep } from './steps/mcpcalls.ts';
import { outputStep } from './steps/output.ts';
import { parserStep } from './steps/parser.ts';
import { propertyStep } from './steps/property.ts';
import { rulesStep } from './steps/rules.ts';
import { templatingStep } from './steps/templating.ts';

/** The table of steps: a workflow says which run, and in which order (architecture, idea 2). This is the usual one. */
export const STEP_TYPES: readonly StepType[] = [
  parserStep, //     what was said        → expressions, intents
  rulesStep, //      conditions           → actions
  propertyStep, //   actions, input       → properties
  httpcallsStep, //  actions              → answers of servers
  mcpcallsStep, //   actions              → answers of MCP tools
  llmStep, //        what was said, tools → answers of a model
  outputStep, //     actions              → output, quick replies
  templatingStep, // output, turn's data  → rendered output
];
