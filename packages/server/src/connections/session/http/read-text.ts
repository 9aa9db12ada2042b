import type { Readable } from 'node:stream';

/**
 * Reads a body that may be no larger than `maxBytes`, as text. Rejects with `tooLarge()`, or with what broke the body. Memory is bounded by the bytes,
 * however small the chunks. Events, because an iterator costs as much as the rest of a small exchange.
 */
export function readText(
  body: Readable,
  { maxBytes, tooLarge }: { readonly maxBytes: number; readonly tooLarge: () => Error },
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const text = new GrowingBytes();
  const broken = () => reject(body.errored ?? new Error('the body ended before it was whole'));
  body.on('error', reject);
  if (body.destroyed) broken();
  else if (body.readableEnded) resolve('');
  else {
    body.on('close', () => !body.readableEnded && broken());
    body.on('end', () => resolve(text.toString()));
    body.on('data', (chunk: Uint8Array) => {
      if (text.length + chunk.byteLength <= maxBytes) return text.add(chunk);
      reject(tooLarge());
      body.destroy();
    });
  }
  return promise;
}

class GrowingBytes {
  length = 0;
  private bytes: Uint8Array = new Uint8Array();

  add(chunk: Uint8Array): void {
    const before = this.length;
    this.length += chunk.byteLength;
    // What comes in one piece is not copied.
    if (before === 0) {
      this.bytes = chunk;
      return;
    }
    if (this.length > this.bytes.byteLength) {
      const larger = Buffer.allocUnsafe(Math.max(2 * this.bytes.byteLength, this.length));
      larger.set(this.bytes.subarray(0, before));
      this.bytes = larger;
    }
    this.bytes.set(chunk, before);
  }

  /** Without a byte order mark. */
  toString(): string {
    const { buffer, byteOffset } = this.bytes;
    const text = Buffer.from(buffer, byteOffset, this.length).toString('utf8');
    return text.startsWith('\uFEFF') ? text.slice(1) : text;
  }
}
