import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type Comment, type Program, parseSync } from 'oxc-parser';

/** The root of the repository. */
export const ROOT = path.resolve(import.meta.dirname, '..');

/** One file of the repository, or a made-up one in a test of a rule. Paths use `/` and start at the root. */
export interface Source {
  readonly path: string;
  readonly text: string;
  /** The syntax tree; throws when the text does not parse. */
  readonly program: Program;
  readonly comments: readonly Comment[];
}

/** A file as the rules see it; parsed when a rule asks for its tree, once. */
export function sourceOf(path: string, text: string): Source {
  let parsed: { program: Program; comments: readonly Comment[] } | undefined;
  const parse = () => {
    if (parsed) return parsed;
    const { program, comments, errors } = parseSync(path, text, { preserveParens: false });
    if (errors[0]) throw new Error(`${path} does not parse: ${errors[0].message}`);
    parsed = { program, comments };
    return parsed;
  };
  return {
    path,
    text,
    get program() {
      return parse().program;
    },
    get comments() {
      return parse().comments;
    },
  };
}

/** Paths of the files under version control; in an unpacked archive, of all files that are not ignored. */
export function listFiles(): readonly string[] {
  const listed = listTracked() ?? listUnpacked('');
  return listed.toSorted();
}

/** New files count before they are added, so that a rule speaks up before the commit. */
function listTracked(): string[] | undefined {
  try {
    const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
    const output = execFileSync('git', args, {
      cwd: ROOT,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const removed = execFileSync('git', ['ls-files', '-z', '--deleted'], { cwd: ROOT, encoding: 'utf8' });
    const gone = new Set(removed.split('\0'));
    return output.split('\0').filter(file => file !== '' && !gone.has(file));
  } catch {
    return undefined;
  }
}

const IGNORED_FOLDERS = new Set(['node_modules', 'dist', '.git']);

function listUnpacked(folder: string): string[] {
  return readdirSync(path.join(ROOT, folder), { withFileTypes: true }).flatMap(entry => {
    const file = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) return IGNORED_FOLDERS.has(entry.name) ? [] : listUnpacked(file);
    return entry.isFile() ? [file] : [];
  });
}

const read = new Map<string, Source>();

/** A file of the repository; read and parsed once a process, however many rules ask. */
export function readSource(file: string): Source {
  let source = read.get(file);
  if (!source) {
    source = sourceOf(file, readFileSync(path.join(ROOT, file), 'utf8'));
    read.set(file, source);
  }
  return source;
}

export const isTest = (file: string) => file.endsWith('.test.ts');
export const isTypeScript = (file: string) => file.endsWith('.ts') || file.endsWith('.tsx');
