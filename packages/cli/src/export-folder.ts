import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { CliError, EXIT } from './cli-error.ts';
import type { Io } from './io.ts';
import { readObjectFile } from './object-file.ts';

/** What a folder that holds an exported agent has in it: this, which lists the documents, and a file for each body. */
export const MANIFEST = 'export.yaml';

interface ListedDocument {
  readonly type: string;
  readonly id: string;
  readonly version: number;
}

/** Where in the folder the body of a document is. */
export function documentFile({ type, id, version }: ListedDocument): string {
  return join(type, `${id}.v${version}.yaml`);
}

const KIND = 'exported agent';

/** An exported agent from a file, from a folder, or from standard input as `-`. */
export async function readExport(io: Io, name: string): Promise<Record<string, unknown>> {
  const isFolder =
    name !== '-' &&
    (await stat(resolve(io.cwd, name)).then(
      found => found.isDirectory(),
      () => false,
    ));
  if (!isFolder) return readObjectFile(io, name, KIND);
  const manifest = await readObjectFile(io, join(name, MANIFEST), KIND);
  const documents: unknown[] = [];
  for (const listed of Array.isArray(manifest.documents) ? manifest.documents : []) {
    if (!isListed(listed)) {
      throw new CliError(
        EXIT.failed,
        `${join(name, MANIFEST)} must list documents with type, id and version; export the agent again.`,
      );
    }
    const body = await readObjectFile(io, join(name, documentFile(listed)), 'document');
    documents.push({ ...listed, body });
  }
  return { ...manifest, documents };
}

/** Plain words, so that no path leads out of the folder. */
function isListed(value: unknown): value is ListedDocument {
  const { type, id, version } = (value ?? {}) as Partial<Record<keyof ListedDocument, unknown>>;
  const isWord = (text: unknown) => typeof text === 'string' && /^[a-z0-9][a-z0-9_-]*$/.test(text);
  return isWord(type) && isWord(id) && Number.isSafeInteger(version);
}
