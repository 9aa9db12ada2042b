import { withoutHidden } from '../../../connections/tool/hidden-text.ts';
import type { JsonSchema } from '../../../connections/tool/json-schema.ts';
import { hidesText } from '../../../connections/tool/suspicious.ts';
import type { ModelTool } from '../model.ts';
import type { SchemaDialect } from '../providers.ts';
import { compileSchema } from './compile-schema.ts';
import { DIALECTS } from './dialects.ts';

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
  /** A keyword, or a phrase. */
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
  readonly tools: readonly ModelTool[];
  readonly lost: readonly LostPart[];
  readonly quarantined: readonly UnofferedTool[];
  /** The arguments of a call as the server calls them, where the provider did not take their names. Others stay as they are. */
  argumentsOf(tool: string, given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>;
}

/**
 * The tools of an agent as its provider takes them. What it takes as it is stays (W-18, W-19), the schema the same object; what it would
 * refuse is written in other words, and what only words are left for is said in `lost`. A tool that it cannot take at all is quarantined
 * and spoils none of the others (field-reports 2.3). A schema is compiled once, however often it is offered.
 */
export function compileTools(dialect: SchemaDialect, offered: readonly OfferedTool[]): CompiledTools {
  const tools = new Map<string, ModelTool>();
  const lost: LostPart[] = [];
  const quarantined: UnofferedTool[] = [];
  const names = new Map<string, ReadonlyMap<string, string>>();
  for (const { name: tool, description, inputSchema } of offered) {
    const reason = whyUnoffered(dialect, tool, tools);
    const outcome = reason === undefined ? compileSchema(dialect, inputSchema) : undefined;
    if (!outcome?.ok) {
      quarantined.push({ tool, reason: reason ?? `Its inputSchema ${outcome?.refusal.reason}.` });
      continue;
    }
    const { schema, losses, names: renamed } = outcome.value;
    const isHiding = hidesText(description);
    tools.set(tool, {
      name: tool,
      description: isHiding ? withoutHidden(description) : description,
      inputSchema: schema,
    });
    if (isHiding) lost.push({ tool, path: '', what: 'text that nobody sees' });
    for (const { path, what } of losses) lost.push({ tool, path, what });
    if (renamed.size > 0) names.set(tool, renamed);
  }
  return {
    ...{ tools: [...tools.values()], lost, quarantined },
    argumentsOf(tool, given) {
      const renamed = names.get(tool);
      if (!renamed) return given;
      return Object.fromEntries(
        Object.entries(given).map(([name, value]) => [renamed.get(name) ?? name, value]),
      );
    },
  };
}

function whyUnoffered(
  dialect: SchemaDialect,
  name: string,
  taken: ReadonlyMap<string, unknown>,
): string | undefined {
  const { name: valid, tools } = DIALECTS[dialect];
  if (!valid.test(name)) return 'The provider does not take its name.';
  if (taken.has(name)) return 'An earlier tool has the same name.';
  return taken.size >= tools ? `The provider takes at most ${tools} tools.` : undefined;
}
