// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders such as ${env:NAME} are what hosts write
import type { Io } from '../io.ts';
import type { ServerEntry } from './server-entry.ts';

/** Where the values of placeholders come from. */
export interface Sources {
  readonly env: Io['env'];
  readonly home: string;
  /** The folder a project's file stands in; `undefined` where there is none. */
  readonly workspace: string | undefined;
  /** Answers of `${input:id}`, by id. */
  readonly inputs: ReadonlyMap<string, string>;
}

/** An entry with its placeholders filled in. */
export interface FilledEntry {
  readonly entry: ServerEntry;
  /** Names in `env` whose values came from outside of the file. */
  readonly filled: readonly string[];
  /** What its address gets besides what the file says: variables of this environment by name, and references to what the platform keeps. */
  readonly sent: readonly string[];
  /** Why it cannot be added: a phrase for each placeholder that has no value. */
  readonly missing: readonly string[];
}

/** `${env:NAME}`, `${NAME}`, `${NAME:-default}`, `${input:id}`, and the folders of VS Code. Ours stay: `${vault:name}`, `${vars:name}`. */
const PLACEHOLDER = /\$\{(?:(env|input):)?([A-Za-z_][\w.-]*)(?::-([^}]*))?\}/g;

/** What READMEs write where a value belongs. */
const STANDS_FOR = /^(?:bearer\s+)?(?:<[^<>]+>|\[your[^\]]*\]|your[-_ ][\w -]*|x{4,}|\.{3}|…)$/i;

const SECRET = /token|key|secret|passw|pwd|credential|auth/i;

/** Names that stand for something, where no variable is called so. */
const FOLDERS = new Set(['userHome', 'workspaceFolder', 'workspaceRoot', 'pathSeparator']);

function sentBy({ url = '', headers }: ServerEntry, env: Io['env']): string[] {
  const sent = new Set<string>();
  for (const [found] of [url, ...Object.values(headers)].join('\n').matchAll(/\$\{[^{}]*\}/g)) {
    const [, kind, name] = found.match(new RegExp(`^${PLACEHOLDER.source}$`)) ?? [];
    if (name === undefined) sent.add(found);
    else if (kind !== 'input' && !FOLDERS.has(name) && env[name] !== undefined) sent.add(name);
  }
  return [...sent];
}

/** The command line of a program is seen by all others. */
function isSeen(place: string): boolean {
  return place === 'command' || place.startsWith('args');
}

/** The ids of `${input:id}` in an entry. */
export function inputsIn({ command, args, env, url, headers, cwd }: ServerEntry): string[] {
  const all = [command, ...args, ...Object.values(env), url, ...Object.values(headers), cwd].join('\n');
  return [...all.matchAll(/\$\{input:([\w.-]+)\}/g)].map(([, id]) => id!);
}

export function fillIn(entry: ServerEntry, sources: Sources): FilledEntry {
  const missing: string[] = [];
  const filled: string[] = [];
  const fill = (text: string, place: string, kept: (name: string) => boolean = () => false): string => {
    let isFilled = false;
    const whole = text.replace(
      PLACEHOLDER,
      (found, kind: string | undefined, name: string, usual?: string) => {
        if (kind === undefined && kept(name)) return found;
        const value = sourceOf(kind, name, sources) ?? usual;
        if (value === undefined) missing.push(`${place} needs ${whatFor(kind, name)}`);
        else if (isSeen(place) && SECRET.test(name)) {
          missing.push(`${place} would show ${name} to every program of the machine; put it into env`);
        }
        isFilled = true;
        // What a variable holds is a value, and no reference.
        return (value ?? '').replaceAll('${', () => '$${');
      },
    );
    if (isFilled) filled.push(place);
    return whole;
  };
  const members = (kind: string, texts: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries(texts).map(([name, text]) => {
        const place = `${kind}.${name}`;
        if (STANDS_FOR.test(text)) missing.push(`${place} only says what belongs there; put the value in`);
        return [name, fill(text, place)];
      }),
    );
  const { command, cwd, url } = entry;
  // A program fills these in by itself from its own variables, where nobody sees them.
  const isOwn = (name: string) => Object.hasOwn(entry.env, name);
  const whole: ServerEntry = {
    ...entry,
    command: command && fill(command, 'command'),
    args: entry.args.map((arg, index) => fill(arg, `args[${index}]`, isOwn)),
    env: members('env', entry.env),
    cwd: cwd && fill(cwd, 'cwd'),
    url: url && fill(url, 'url'),
    headers: members('headers', entry.headers),
  };
  const inEnv = filled.flatMap(place => (place.startsWith('env.') ? [place.slice('env.'.length)] : []));
  return { entry: whole, filled: inEnv, sent: sentBy(entry, sources.env), missing };
}

function sourceOf(
  kind: string | undefined,
  name: string,
  { env, home, workspace, inputs }: Sources,
): string | undefined {
  if (kind === 'input') return inputs.get(name);
  if (kind === undefined && name === 'userHome') return home;
  if (kind === undefined && (name === 'workspaceFolder' || name === 'workspaceRoot')) return workspace;
  if (kind === undefined && name === 'pathSeparator') return '/';
  return env[name];
}

function whatFor(kind: string | undefined, name: string): string {
  if (kind === 'input') return `an answer to \${input:${name}}; give --input ${name}=...`;
  if (name === 'workspaceFolder') return 'a project, whose file is named instead of --from';
  return `the variable ${name}, which is not set here`;
}
