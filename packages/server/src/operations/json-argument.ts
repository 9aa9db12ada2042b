import { PlatformError } from '../kernel/errors.ts';
import { parseJson } from '../kernel/json.ts';

const MAX_DEPTH = 64;

/** An argument that is a text holding JSON (platform.md 2.0). Throws `invalid` that names the argument. */
export function parseJsonArgument(name: string, text: string): unknown {
  const parsed = parseJson(text, { maxDepth: MAX_DEPTH });
  if (parsed.ok) return parsed.value;
  throw new PlatformError('invalid', `${name}: ${parsed.refusal.message}.`);
}
