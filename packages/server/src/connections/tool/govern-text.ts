import { INSTRUCTION, ROLE_MARK, TERMINAL_SEQUENCE } from './directive-text.ts';
import { withoutHidden } from './hidden-text.ts';
import type { RemoteTool } from './remote-tool.ts';
import { mapTexts } from './schema-texts.ts';

const MAX_DESCRIPTION = 1024;
const REDACTED = '[redacted]';

/** A text of a server without what nobody sees, and with `[redacted]` for what gives orders to a model (EX-07). */
export function governText(text: string): string {
  return withoutHidden(text.replace(TERMINAL_SEQUENCE, ''))
    .replace(INSTRUCTION, REDACTED)
    .replace(ROLE_MARK, REDACTED);
}

/** A description like that, of at most 1024 characters (EX-06). Governing it again changes nothing. */
export function governDescription(text: string): string {
  const governed = cut(governText(text), MAX_DESCRIPTION);
  // A cut may leave what looks like an order.
  return governed === text ? text : governDescription(governed);
}

/** The text, or as much of its beginning as so many characters hold with the sign that it was cut. */
export function cut(text: string, characters: number): string {
  if (text.length <= characters) return text;
  const first = text.slice(0, characters - 1);
  return `${first.isWellFormed() ? first : first.slice(0, -1)}…`;
}

/** A tool whose texts are governed, those in its schemas too. What a call needs stays: names, values, patterns, references. */
export function governTool(tool: RemoteTool): RemoteTool {
  const { title, description, inputSchema, outputSchema } = tool;
  return {
    ...tool,
    ...(title !== undefined && { title: governDescription(title) }),
    ...(description !== undefined && { description: governDescription(description) }),
    inputSchema: governSchema(inputSchema) as RemoteTool['inputSchema'],
    ...(outputSchema && { outputSchema: governSchema(outputSchema) as RemoteTool['inputSchema'] }),
  };
}

function governSchema(schema: unknown): unknown {
  return mapTexts(schema, (text, keyword) =>
    DESCRIPTIONS.has(keyword) ? governDescription(text) : governText(text),
  );
}

const DESCRIPTIONS = new Set(['title', 'description', '$comment']);
