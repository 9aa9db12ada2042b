/** Reads a body that may be no larger than `maxBytes`, as text. Rejects with `tooLarge()`, or with what broke the body. Memory is bounded by the bytes, however small the chunks. */
export async function readText(
  body: AsyncIterable<Uint8Array>,
  { maxBytes, tooLarge }: { readonly maxBytes: number; readonly tooLarge: () => Error },
): Promise<string> {
  let whole: Uint8Array = new Uint8Array();
  let bytes = 0;
  for await (const chunk of body) {
    const before = bytes;
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw tooLarge();
    if (before === 0) {
      whole = chunk;
      continue;
    }
    if (bytes > whole.byteLength) {
      const larger = Buffer.allocUnsafe(Math.max(2 * whole.byteLength, bytes));
      larger.set(whole.subarray(0, before));
      whole = larger;
    }
    whole.set(chunk, before);
  }
  const text = Buffer.from(whole.buffer, whole.byteOffset, bytes).toString('utf8');
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}
