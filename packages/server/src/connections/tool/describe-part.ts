import { isObject } from '../../kernel/json.ts';
import { withoutHidden } from './hidden-text.ts';

/** A part of a result: a text, a line about what is no text, or a resource with both. */
export interface ResultPart {
  readonly line?: string;
  readonly text?: string;
}

/** As much of a member as a line shows (EX-08). */
const MAX_SHOWN = 256;

/**
 * Reads a part of a result's content: `[image image/png, 12 kB]` for what is no text. `undefined` for what is malformed; of a type that
 * nobody knows only the type is said.
 */
export function describePart(part: unknown): ResultPart | undefined {
  if (!isObject(part) || typeof part.type !== 'string') return undefined;
  switch (part.type) {
    case 'text':
      return typeof part.text === 'string' ? { text: part.text } : undefined;
    case 'image':
    case 'audio':
      return typeof part.data === 'string'
        ? { line: line(part.type, [part.mimeType], base64Bytes(part.data)) }
        : undefined;
    case 'resource':
      return resource(part.resource);
    case 'resource_link':
      return typeof part.uri === 'string'
        ? { line: line('resource link', [part.name, part.uri, part.mimeType], part.size) }
        : undefined;
    default:
      return { line: line('part of the unknown type', [part.type], undefined) };
  }
}

function resource(embedded: unknown): ResultPart | undefined {
  if (!isObject(embedded) || typeof embedded.uri !== 'string') return undefined;
  const { uri, mimeType, text, blob } = embedded;
  if (typeof text === 'string') return { line: line('resource', [uri, mimeType], undefined), text };
  return typeof blob === 'string'
    ? { line: line('resource', [uri, mimeType], base64Bytes(blob)) }
    : undefined;
}

/** One line, whatever the server wrote into the members. */
function line(what: string, members: readonly unknown[], bytes: unknown): string {
  const said = members.filter(one => typeof one === 'string' && one !== '').map(one => shown(String(one)));
  const size = typeof bytes === 'number' && bytes >= 0 ? [formatBytes(bytes)] : [];
  return `[${[`${what} ${said[0] ?? ''}`.trimEnd(), ...said.slice(1), ...size].join(', ')}]`;
}

function shown(member: string): string {
  const cut = member.length > MAX_SHOWN ? `${member.slice(0, MAX_SHOWN)}...` : member;
  return withoutHidden(cut)
    .replace(/[\s[\]]+/g, ' ')
    .trim();
}

function base64Bytes(data: string): number {
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0;
  return Math.max(0, Math.floor((data.length * 3) / 4) - padding);
}

/** `999 bytes`, `12 kB`, `1.5 MB`, in powers of a thousand. */
export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  if (bytes < 999_500) return `${Math.round(bytes / 1_000)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
