import type { Writable } from 'node:stream';

export function writeLine(to: Writable, text = ''): void {
  to.write(`${text}\n`);
}

/** The machine's form of a result: indented JSON. */
export function writeJson(to: Writable, value: unknown): void {
  to.write(`${JSON.stringify(value, null, 2)}\n`);
}

/** Text of agents and other people without control characters, and marks that turn the direction of a line: it must not move the cursor, recolour the terminal, or read otherwise than it is. */
export function printable(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(/[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/gu, '');
}

/** Columns padded to their widest cell; the last one is left as it is. */
export function table(rows: readonly (readonly string[])[]): string {
  const lines = rows.map(row => row.map(cell => printable(cell).replace(/\s+/g, ' ')));
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map(line => line[column]!.length)));
  const padded = lines.map(line => line.map((cell, column) => cell.padEnd(widths[column]!)).join('  '));
  return padded.map(line => line.trimEnd()).join('\n');
}

/** Every line moved to the right. */
export function indent(text: string, by: string): string {
  return text.replace(/^/gm, by);
}

/** Calendar day of an epoch ms time, in UTC as everywhere in the platform. */
export function day(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** One word for a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
