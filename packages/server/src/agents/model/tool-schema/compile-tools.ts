import type { JsonSchema } from '../../../connections/tool/json-schema.ts';
import { isObject } from '../../../kernel/json.ts';
import { type SchemaDialect, TOOL_LIMITS } from './dialects.ts';

/** A tool as it is offered to an agent, under the name the model calls it by. */
export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
}

/** Something of a tool that its provider does not take. */
export interface LostPart {
  /** The name the model calls it by. */
  readonly tool: string;
  /** JSON pointer into its schema; empty is the root. */
  readonly path: string;
  /** A phrase. */
  readonly what: string;
}

/** A tool that the model does not get. */
export interface UnofferedTool {
  readonly tool: string;
  /** A sentence for the author of the agent. */
  readonly reason: string;
}

export interface CompiledTools {
  /** In the order they were offered. */
  readonly tools: readonly OfferedTool[];
  readonly lost: readonly LostPart[];
  readonly quarantined: readonly UnofferedTool[];
}

/**
 * The tools of an agent as its provider takes them. What it takes as it is stays the same object (W-18, W-19); what it would refuse is
 * written in other words, and what no words are left for is said in `lost`. A tool that it cannot take at all is quarantined and spoils
 * none of the others (field-reports 2.3).
 */
export function compileTools(dialect: SchemaDialect, offered: readonly OfferedTool[]): CompiledTools {
  const tools = new Map<string, OfferedTool>();
  const quarantined: UnofferedTool[] = [];
  for (const tool of offered) {
    const reason = whyUnoffered(dialect, tool, tools);
    if (reason === undefined) tools.set(tool.name, tool);
    else quarantined.push({ tool: tool.name, reason });
  }
  return { tools: [...tools.values()], lost: [], quarantined };
}

function whyUnoffered(
  dialect: SchemaDialect,
  { name, inputSchema }: OfferedTool,
  taken: ReadonlyMap<string, OfferedTool>,
): string | undefined {
  const limits = TOOL_LIMITS[dialect];
  if (!limits.name.test(name)) return 'The provider does not take its name.';
  if (taken.has(name)) return 'An earlier tool has the same name.';
  if (!isObject(inputSchema) || inputSchema.type !== 'object') return 'Its arguments are not an object.';
  return taken.size >= limits.tools ? `The provider takes at most ${limits.tools} tools.` : undefined;
}
