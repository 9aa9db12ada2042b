const LINE_FEED = 0x0a;

export interface LineSplitter {
  /** Takes the next bytes in; `onLine` is called for each line that they end. */
  push(chunk: Buffer): void;
  /** Hands over what stands behind the last line end, if anything. */
  end(): void;
}

/**
 * Cuts bytes into lines at the line feeds and nowhere else, before anything is decoded: a character whose bytes come in two
 * chunks stays whole, and U+2028 ends no line (field-reports 2.17). A line has no line feed at its end. Of one longer than `maxBytes` the first
 * `maxBytes` are handed over, as soon as they are there and with `cut`; the rest of it is dropped, so memory stays bounded.
 */
export function createLineSplitter(options: {
  readonly maxBytes: number;
  readonly onLine: (line: Buffer, cut: boolean) => void;
}): LineSplitter {
  const { maxBytes, onLine } = options;
  let parts: Buffer[] = [];
  let length = 0;
  let dropping = false;

  const handOver = (cut: boolean) => {
    const line = parts.length === 1 ? parts[0]! : Buffer.concat(parts, length);
    parts = [];
    length = 0;
    onLine(line, cut);
  };
  const take = (bytes: Buffer) => {
    if (dropping || bytes.length === 0) return;
    const room = maxBytes - length;
    const kept = bytes.length > room ? bytes.subarray(0, room) : bytes;
    parts.push(kept);
    length += kept.length;
    if (kept.length === bytes.length) return;
    dropping = true;
    handOver(true);
  };
  const endLine = () => {
    if (!dropping) handOver(false);
    dropping = false;
  };

  return {
    push(chunk) {
      let start = 0;
      for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, start)) {
        take(chunk.subarray(start, at));
        endLine();
        start = at + 1;
      }
      take(chunk.subarray(start));
    },
    end() {
      if (length > 0) endLine();
    },
  };
}
