import { isObject } from '../../kernel/json.ts';
import { whyNoSchema, whyNotKept } from './check-schema.ts';
import { withHiddenShown, withoutHidden } from './hidden-text.ts';
import type { JsonSchema } from './json-schema.ts';
import { isStorable } from './json-value.ts';
import { brokenHeaderRule } from './mirrored-arguments.ts';

/** A tool as its server describes it, every part as it came (W-18, W-19). All of it is untrusted. */
export interface RemoteTool {
  /** 1 to 128 characters, all visible. */
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  /** The server's hints; `readAnnotations` says what they mean. */
  readonly annotations?: Readonly<Record<string, unknown>>;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** A tool that is not offered. */
export interface QuarantinedTool {
  /** Its name, made visible and cut; `#3` for the third of the list when it has none. */
  readonly name: string;
  /** A sentence for whoever runs the server or uses it. */
  readonly reason: string;
}

export interface ReadTools {
  readonly tools: readonly RemoteTool[];
  readonly quarantined: readonly QuarantinedTool[];
}

const MAX_TOOLS = 10_000;
const MAX_NAME = 128;
const MAX_TEXT_BYTES = 64 * 1024;

/**
 * Reads what a server lists as its tools. One that cannot be used is set aside with the reason and spoils none of the others
 * (field-reports 2.3); of two with the same name the first stays (EX-05). At most 10 000 are read. `mirrorsArguments` says that the
 * connection sends arguments as headers too: HTTP in the revision 2026-07-28.
 */
export function readTools(
  list: readonly unknown[],
  { mirrorsArguments }: { readonly mirrorsArguments: boolean },
): ReadTools {
  const tools = new Map<string, RemoteTool>();
  const quarantined: QuarantinedTool[] = [];
  for (const [index, sent] of list.slice(0, MAX_TOOLS).entries()) {
    const listed = isObject(sent) ? withoutNulls(sent) : sent;
    const reason = whyQuarantined(listed, mirrorsArguments) ?? whyTaken(listed, tools);
    if (reason === undefined) tools.set((listed as RemoteTool).name, pick(listed as RemoteTool));
    else quarantined.push({ name: shownName(listed, index), reason });
  }
  if (list.length > MAX_TOOLS) {
    quarantined.push({
      name: `#${MAX_TOOLS + 1}`,
      reason: `The server lists ${list.length} tools; this one and those behind it are not read.`,
    });
  }
  return { tools: [...tools.values()], quarantined };
}

/** Some servers write a member that they do not have as `null`. */
function withoutNulls(sent: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(sent).filter(([, member]) => member !== null));
}

function shownName(listed: unknown, index: number): string {
  const name = isObject(listed) ? listed.name : undefined;
  return typeof name === 'string' && name !== '' ? withHiddenShown(name.slice(0, MAX_NAME)) : `#${index + 1}`;
}

function whyTaken(listed: unknown, tools: ReadonlyMap<string, RemoteTool>): string | undefined {
  return tools.has((listed as RemoteTool).name) ? 'An earlier tool has the same name.' : undefined;
}

function whyQuarantined(listed: unknown, mirrorsArguments: boolean): string | undefined {
  if (!isObject(listed)) return 'It is not an object.';
  return (
    wrongName(listed.name) ??
    wrongText('title', listed.title) ??
    wrongText('description', listed.description) ??
    wrongInput(listed.inputSchema, mirrorsArguments) ??
    wrongOutput(listed.outputSchema) ??
    wrongObject('annotations', listed.annotations) ??
    wrongObject('_meta', listed._meta)
  );
}

function wrongName(name: unknown): string | undefined {
  if (typeof name !== 'string' || name === '') return 'It has no name.';
  if (name.length > MAX_NAME) return `Its name has ${name.length} characters; at most ${MAX_NAME} are taken.`;
  // Names that look alike must not be different ones (attack 25).
  if (withoutHidden(name) !== name || name !== name.trim() || /[^\S ]/.test(name)) {
    return 'Its name has characters that cannot be seen.';
  }
  return name === '__proto__' ? 'Its name is not allowed.' : undefined;
}

function wrongText(member: string, text: unknown): string | undefined {
  if (text === undefined) return undefined;
  if (typeof text !== 'string') return `Its ${member} is not a text.`;
  if (!isStorable(text)) return `Its ${member} holds a character that cannot be stored.`;
  const bytes = Buffer.byteLength(text);
  return bytes > MAX_TEXT_BYTES
    ? `Its ${member} has ${bytes} bytes; at most ${MAX_TEXT_BYTES} are taken.`
    : undefined;
}

function wrongInput(schema: unknown, mirrorsArguments: boolean): string | undefined {
  if (!isObject(schema) || schema.type !== 'object') return 'Its inputSchema is not the schema of an object.';
  const reason = whyNoSchema(schema);
  if (reason !== undefined) return `Its inputSchema ${reason}.`;
  const broken = mirrorsArguments ? brokenHeaderRule(schema) : undefined;
  return broken === undefined ? undefined : `Its inputSchema breaks a rule of MCP: ${broken}.`;
}

function wrongOutput(schema: unknown): string | undefined {
  if (schema === undefined) return undefined;
  const reason = isObject(schema) ? whyNoSchema(schema) : 'is not a schema';
  return reason === undefined ? undefined : `Its outputSchema ${reason}.`;
}

function wrongObject(member: string, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (!isObject(value)) return `Its ${member} are not an object.`;
  const reason = whyNotKept(value);
  return reason === undefined ? undefined : `Its ${member} ${reason}.`;
}

/** Without members nobody reads, such as icons: what is kept of a tool is bounded. */
function pick(listed: RemoteTool): RemoteTool {
  const { name, title, description, inputSchema, outputSchema, annotations, _meta } = listed;
  return {
    name,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    inputSchema,
    ...(outputSchema !== undefined && { outputSchema }),
    ...(annotations !== undefined && { annotations }),
    ...(_meta !== undefined && { _meta }),
  };
}
