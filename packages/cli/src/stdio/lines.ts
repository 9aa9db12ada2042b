const NEWLINE = 0x0a;

/**
 * Lines of a byte stream, split before decoding, so a character that arrives in two chunks stays whole
 * (field-reports 2.17). A last line without a line end counts; `undefined` stands for a line that is no UTF-8.
 */
export async function* readLines(input: AsyncIterable<Uint8Array>): AsyncGenerator<string | undefined> {
  let pending: Uint8Array[] = [];
  for await (const chunk of input) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      yield decode([...pending, chunk.subarray(start, end)]);
      pending = [];
      start = end + 1;
    }
    if (start < chunk.length) pending.push(chunk.subarray(start));
  }
  if (pending.length > 0) yield decode(pending);
}

function decode(parts: readonly Uint8Array[]): string | undefined {
  try {
    // Drops a byte order mark; a CR before the line end is white space to JSON.
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(parts));
  } catch {
    return undefined;
  }
}

/**
 * A JSON text as one line for every kind of reader. Line ends in it can only stand between tokens, and the two Unicode
 * ones (some readers split there) only inside strings, so the value stays the same to the byte of its numbers.
 */
export function oneLine(json: string): string {
  return json
    .replace(/[\r\n]+/g, ' ')
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029');
}
