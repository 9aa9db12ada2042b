import type { Door } from '../judge.ts';

/** A client as its users know it: how they open it, and what it lets them do. */
export interface StockClient {
  readonly name: string;
  /** Where its users would connect it. */
  readonly doors: readonly Door['name'][];
  /** The revision it must end up with: a client that falls back to an older one does so without a word. */
  readonly speaks: '2025-11-25' | '2026-07-28';
  readonly showsProgress: boolean;
  /** Its way to abort a call is one the server may take for a cancellation. */
  readonly cancels: boolean;
  open(door: Door): Promise<OpenClient>;
}

export interface OpenClient {
  /** Names as the server gave them. */
  listTools(): Promise<string[]>;
  /** The answer as JSON text. Rejects when the call is refused, with what the client says about it. */
  callTool(tool: string, args: Record<string, string>, options?: CallOptions): Promise<string>;
  close(): Promise<void>;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (message: string) => void;
}

/**
 * Imports a package of this folder, of which `T` is what is used. The types of the packages themselves are not there before
 * the judges run.
 */
export function load<T>(specifier: string): Promise<T> {
  return import(specifier) as Promise<T>;
}

export function bearer(door: Door): { readonly Authorization: string } {
  return { Authorization: `Bearer ${door.key}` };
}

/** An MCP tool result as a client hands it on. */
export function answered(result: { readonly isError?: boolean; readonly content: unknown }): string {
  const text = JSON.stringify(result);
  if (result.isError) throw new Error(text);
  return text;
}
