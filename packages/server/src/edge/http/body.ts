import { parseJson } from '../../kernel/json.ts';
import { granted, type Outcome, refused } from '../../kernel/result.ts';

/** Deeper than any honest message, shallow enough for every reader behind us. */
const MAX_JSON_DEPTH = 100;

/** `message` is a sentence for the caller. */
export interface BodyRefusal {
  readonly reason: 'too_large' | 'not_json';
  readonly message: string;
}

/** The body as JSON, within the limit in bytes. Reading stops at the limit, whatever `Content-Length` claims. */
export async function readJsonBody(
  request: Request,
  maxBytes: number,
): Promise<Outcome<unknown, BodyRefusal>> {
  const text = await readTextBody(request, maxBytes);
  if (!text.ok) return text;
  const parsed = parseJson(text.value, { maxDepth: MAX_JSON_DEPTH });
  if (parsed.ok) return parsed;
  return refused({ reason: 'not_json', message: `Parse error: ${parsed.refusal.message}.` });
}

/** The body as text, within the limit in bytes. */
export async function readTextBody(
  request: Request,
  maxBytes: number,
): Promise<Outcome<string, BodyRefusal>> {
  const tooLarge = refused<BodyRefusal>({
    reason: 'too_large',
    message: `The body is larger than ${maxBytes} bytes, the limit here.`,
  });
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) return tooLarge;
  if (request.body === null) return granted('');
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of request.body) {
      size += chunk.byteLength;
      if (size > maxBytes) return tooLarge;
      chunks.push(chunk);
    }
    return granted(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks, size)));
  } catch {
    return refused({ reason: 'not_json', message: 'Parse error: the body is not readable UTF-8.' });
  }
}
