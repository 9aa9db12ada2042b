/**
 * JSON as hosts write it for people: with comments and commas behind the last member. Throws an error that says the place, and quotes nothing of
 * the text, which may hold keys.
 */
export function parseJsonWithComments(text: string): unknown {
  const plain = withoutTrailingCommas(withoutComments(text.replace(/^\uFEFF/, '')));
  try {
    return JSON.parse(plain);
  } catch (cause) {
    throw new Error(`is not JSON${placeOf(cause as Error, plain)}`);
  }
}

/** Strings as they are, and comments as spaces, so that places stay the same. */
function withoutComments(text: string): string {
  return text.replace(/"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, found =>
    found.startsWith('"') ? found : found.replace(/[^\n]/g, ' '),
  );
}

function withoutTrailingCommas(text: string): string {
  return text.replace(/"(?:[^"\\\n]|\\.)*"|,(?=\s*[}\]])/g, found => (found === ',' ? ' ' : found));
}

function placeOf({ message }: Error, text: string): string {
  const line = /line (\d+)/.exec(message)?.[1];
  if (line !== undefined) return ` (line ${line})`;
  const position = /position (\d+)/.exec(message)?.[1];
  return position === undefined ? '' : ` (line ${text.slice(0, Number(position)).split('\n').length})`;
}
