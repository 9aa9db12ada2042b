import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Node } from 'oxc-parser';
import { describe, expect, it } from 'vitest';
import { isTypeScript, listFiles, ROOT, readSource, type Source, sourceOf } from './repository.ts';
import { lineOf, walk } from './syntax.ts';

// Who may import whom (architecture.md, section 2). Every arrow that is not allowed has its reason here, and the reason is
// what the failing test prints. Type-only imports count: a type is knowledge too. Only cycles look at run time alone.

/** Packages that exist. A package that ships is added here in the commit that makes it. */
const PACKAGES: Record<string, PackageRow> = {
  contract: {
    may: {},
    never: {
      'server testing cli': 'the words shared with the outside are read where none of our code runs',
    },
  },
  server: {
    may: { contract: 'any file' },
    never: {
      testing: 'a test that needs a platform or a database server is a behaviour test and lives in test/',
      cli: 'the platform runs without a command line',
    },
  },
  testing: {
    may: { contract: 'any file', server: 'any file' },
    never: { cli: 'a test drives the command as people do, as a process' },
  },
  cli: {
    may: {
      contract: 'any file',
      server: ['@patchbay/server/main', '@patchbay/server/doctor', '@patchbay/server/lint'],
    },
    never: {
      server:
        'the command line only starts the platform, has one that may be stopped looked at, and lints files; it talks to it over HTTP like everybody else',
      testing: 'what ships does not depend on what tests it',
    },
  },
};

interface PackageRow {
  /** Which specifiers of the other package may be imported. */
  readonly may: Readonly<Record<string, 'any file' | readonly string[]>>;
  /** Packages, separated by spaces, and the reason. */
  readonly never: Readonly<Record<string, string>>;
}

const ONLY_THE_ROOT = 'main.ts and platform.ts read the configuration; a part receives only what it uses';
const NOTHING_CALLS_UP = 'calls go down, answers come back as values, news travels by the event log';
const IDENTITY_IS_A_VALUE = 'identity arrives as a Principal';
const DOCTOR_LOOKS =
  'the doctor looks at the parts from outside, also where they are broken; no part knows of it';
const PAGES_ARE_FOR_DOORS = 'the pages are read by the docs operations, the same at every door';

/** Folders of packages/server/src. `main.ts` and `platform.ts`, the composition root, may import all of them. */
const LAYERS: Record<string, LayerRow> = {
  edge: {
    may: ['operations', 'auth', 'agents', 'connections', 'records', 'kernel'],
    never: {
      store: 'an edge that reads tables skips the rules',
      secrets: 'an edge formats answers; a secret is opened where it is used',
      docs: PAGES_ARE_FOR_DOORS,
      config: ONLY_THE_ROOT,
      doctor: DOCTOR_LOOKS,
    },
  },
  operations: {
    may: ['agents', 'connections', 'auth', 'secrets', 'records', 'docs', 'kernel'],
    never: {
      edge: 'an operation must run without HTTP',
      store: 'an operation that reads tables skips the rules',
      config: ONLY_THE_ROOT,
      doctor: DOCTOR_LOOKS,
    },
  },
  agents: {
    may: ['connections', 'secrets', 'records', 'store', 'kernel'],
    never: {
      auth: IDENTITY_IS_A_VALUE,
      'edge operations': NOTHING_CALLS_UP,
      docs: PAGES_ARE_FOR_DOORS,
      config: ONLY_THE_ROOT,
      doctor: DOCTOR_LOOKS,
    },
  },
  connections: {
    may: ['secrets', 'records', 'store', 'kernel'],
    never: {
      agents: 'a call that needs a person returns "needs a person"; the caller decides',
      auth: IDENTITY_IS_A_VALUE,
      'edge operations': NOTHING_CALLS_UP,
      docs: PAGES_ARE_FOR_DOORS,
      config: ONLY_THE_ROOT,
      doctor: DOCTOR_LOOKS,
    },
  },
  auth: {
    may: ['secrets', 'records', 'store', 'kernel'],
    never: {
      'agents connections': 'tokens must not depend on what they open',
      'edge operations': NOTHING_CALLS_UP,
      docs: PAGES_ARE_FOR_DOORS,
      config: ONLY_THE_ROOT,
      doctor: DOCTOR_LOOKS,
    },
  },
  secrets: {
    may: ['store', 'kernel'],
    never: {
      'edge operations agents connections auth': NOTHING_CALLS_UP,
      records: 'who opens a secret records it; a record never needs one',
      docs: PAGES_ARE_FOR_DOORS,
      config: ONLY_THE_ROOT,
      doctor: DOCTOR_LOOKS,
    },
  },
  records: {
    may: ['store', 'kernel'],
    never: {
      'edge operations agents connections auth': NOTHING_CALLS_UP,
      secrets: 'what is recorded must hold no secret',
      docs: PAGES_ARE_FOR_DOORS,
      config: ONLY_THE_ROOT,
      doctor: DOCTOR_LOOKS,
    },
  },
  store: {
    may: ['kernel'],
    never: {
      'edge operations agents connections auth secrets records': 'rows know nothing of rules',
      docs: PAGES_ARE_FOR_DOORS,
      config: ONLY_THE_ROOT,
      doctor: DOCTOR_LOOKS,
    },
  },
  docs: {
    may: ['kernel'],
    never: {
      'edge operations agents connections auth secrets records store':
        'pages are files on disk; they know nothing of what they describe',
      config: ONLY_THE_ROOT,
      doctor: DOCTOR_LOOKS,
    },
  },
  config: {
    may: ['kernel'],
    never: {
      'edge operations agents connections auth secrets records store docs':
        'settings are values; they know nothing of the parts that receive them',
      doctor: DOCTOR_LOOKS,
    },
  },
  doctor: {
    may: ['agents', 'connections', 'config', 'docs', 'store', 'kernel'],
    never: {
      'edge operations': 'what answers requests is asked over HTTP, and a stopped platform has none of it',
      'auth secrets records': 'looking changes nothing, so it needs nobody who could',
    },
  },
  kernel: {
    may: [],
    never: {
      'edge operations agents connections auth secrets records store docs':
        'a file enters kernel when two layers already need it; needing a layer itself, it is not kernel',
      config: ONLY_THE_ROOT,
      doctor: DOCTOR_LOOKS,
    },
  },
};

interface LayerRow {
  readonly may: readonly string[];
  /** Layers, separated by spaces, and the reason. */
  readonly never: Readonly<Record<string, string>>;
}

const COMPILED_BEFORE_RUN =
  'an agent is written, compiled and then run; what comes earlier knows nothing of what comes later';
const A_CONVERSATION_IS_A_RECORD = 'a conversation is what turns left; reading it needs none of what made it';
const A_FILE_IS_SENT_ALONG =
  'a turn gets what it may know of its files as values; whoever asks for the turn has looked them up';
const A_MEMORY_IS_A_TURNS = 'what is known of a person is read and kept by turns alone';
const A_CALL_COMES_FROM_OUTSIDE = 'a call is what a surface asks for; nothing below knows surfaces';
const WHO_IS_ASKED = 'what needs a person is written in documents and asked about in turns';
const A_MODEL_IS_ASKED = 'a model is asked by the step of a turn; nothing else needs one';
const DEMO_IS_ONE_AGENT = 'the demo is one agent among others; only its test plays it';

/** Folders of packages/server/src/agents, from the words of an agent file up to the turn that runs it. */
const A_PAUSE_IS_A_WAIT = 'what runs is known to turns; a pause only says that one waits, and for what';

const LINT_LOOKS = 'linting looks at what is written; nothing that is written or runs knows of it';

const AGENTS: Record<string, LayerRow> = {
  language: {
    may: [],
    never: {
      approval: WHO_IS_ASKED,
      model: A_MODEL_IS_ASKED,
      lint: LINT_LOOKS,
      memory: A_MEMORY_IS_A_TURNS,
      pause: A_PAUSE_IS_A_WAIT,
      'document step deployment configuration turn trigger': COMPILED_BEFORE_RUN,
      conversation: A_CONVERSATION_IS_A_RECORD,
      demo: DEMO_IS_ONE_AGENT,
      file: A_FILE_IS_SENT_ALONG,
      'call delivery': A_CALL_COMES_FROM_OUTSIDE,
    },
  },
  model: {
    may: [],
    never: {
      approval: WHO_IS_ASKED,
      lint: LINT_LOOKS,
      'language document step deployment configuration conversation file memory pause turn trigger call delivery':
        'a model is asked one thing and answers; what for is known to whoever asks',
      demo: DEMO_IS_ONE_AGENT,
    },
  },
  approval: {
    may: ['language'],
    never: {
      'model document step deployment configuration conversation file memory pause turn trigger demo call delivery lint':
        'whether a person is asked is decided by what was written and what is called, and by nothing else',
    },
  },
  document: {
    may: ['approval', 'language', 'model'],
    never: {
      lint: LINT_LOOKS,
      memory: A_MEMORY_IS_A_TURNS,
      pause: A_PAUSE_IS_A_WAIT,
      'step deployment configuration turn trigger': COMPILED_BEFORE_RUN,
      conversation: A_CONVERSATION_IS_A_RECORD,
      demo: DEMO_IS_ONE_AGENT,
      file: A_FILE_IS_SENT_ALONG,
      'call delivery': A_CALL_COMES_FROM_OUTSIDE,
    },
  },
  step: {
    may: ['approval', 'model'],
    never: {
      lint: LINT_LOOKS,
      memory: A_MEMORY_IS_A_TURNS,
      pause: A_PAUSE_IS_A_WAIT,
      'language document': 'what every step promises is said without the words of any one step',
      'deployment configuration turn trigger': COMPILED_BEFORE_RUN,
      conversation: A_CONVERSATION_IS_A_RECORD,
      demo: DEMO_IS_ONE_AGENT,
      file: A_FILE_IS_SENT_ALONG,
      'call delivery': A_CALL_COMES_FROM_OUTSIDE,
    },
  },
  deployment: {
    may: ['approval', 'document', 'step'],
    never: {
      model: A_MODEL_IS_ASKED,
      lint: LINT_LOOKS,
      memory: A_MEMORY_IS_A_TURNS,
      pause: A_PAUSE_IS_A_WAIT,
      language: 'what documents mean is known to the steps that compile them',
      'configuration turn trigger': COMPILED_BEFORE_RUN,
      conversation: 'an agent is compiled once for all conversations',
      demo: DEMO_IS_ONE_AGENT,
      file: A_FILE_IS_SENT_ALONG,
      'call delivery': A_CALL_COMES_FROM_OUTSIDE,
    },
  },
  configuration: {
    may: ['document', 'step', 'deployment'],
    never: {
      approval: WHO_IS_ASKED,
      model: A_MODEL_IS_ASKED,
      lint: LINT_LOOKS,
      memory: A_MEMORY_IS_A_TURNS,
      pause: A_PAUSE_IS_A_WAIT,
      language: 'what documents mean is known to the steps that compile them',
      'turn trigger': COMPILED_BEFORE_RUN,
      conversation: 'what is written is written for all conversations',
      demo: DEMO_IS_ONE_AGENT,
      file: A_FILE_IS_SENT_ALONG,
      'call delivery': A_CALL_COMES_FROM_OUTSIDE,
    },
  },
  conversation: {
    may: [],
    never: {
      approval: WHO_IS_ASKED,
      model: A_MODEL_IS_ASKED,
      lint: LINT_LOOKS,
      memory: A_MEMORY_IS_A_TURNS,
      pause: A_PAUSE_IS_A_WAIT,
      'language document step deployment configuration turn trigger': A_CONVERSATION_IS_A_RECORD,
      demo: DEMO_IS_ONE_AGENT,
      file: A_FILE_IS_SENT_ALONG,
      'call delivery': A_CALL_COMES_FROM_OUTSIDE,
    },
  },
  file: {
    may: ['step'],
    never: {
      approval: WHO_IS_ASKED,
      model: A_MODEL_IS_ASKED,
      lint: LINT_LOOKS,
      memory: A_MEMORY_IS_A_TURNS,
      pause: A_PAUSE_IS_A_WAIT,
      'language document deployment configuration conversation turn call delivery trigger':
        'a file is bytes with an owner, whoever is sent it',
      demo: DEMO_IS_ONE_AGENT,
    },
  },
  memory: {
    may: ['document'],
    never: {
      approval: WHO_IS_ASKED,
      model: A_MODEL_IS_ASKED,
      lint: LINT_LOOKS,
      pause: A_PAUSE_IS_A_WAIT,
      'language step deployment configuration turn trigger':
        'what is known of a person is kept, whoever found it out',
      conversation: 'it outlasts every conversation',
      demo: DEMO_IS_ONE_AGENT,
      file: A_FILE_IS_SENT_ALONG,
      'call delivery': A_CALL_COMES_FROM_OUTSIDE,
    },
  },
  pause: {
    may: ['approval', 'language', 'document', 'conversation'],
    never: {
      model: A_MODEL_IS_ASKED,
      lint: LINT_LOOKS,
      memory: A_MEMORY_IS_A_TURNS,
      'step deployment configuration turn trigger': A_PAUSE_IS_A_WAIT,
      demo: DEMO_IS_ONE_AGENT,
      file: A_FILE_IS_SENT_ALONG,
      'call delivery': A_CALL_COMES_FROM_OUTSIDE,
    },
  },
  turn: {
    may: [
      'approval',
      'language',
      'document',
      'step',
      'deployment',
      'conversation',
      'memory',
      'pause',
      'model',
    ],
    never: {
      lint: LINT_LOOKS,
      configuration: 'a turn runs what is deployed, whoever wrote it',
      trigger: 'a turn is asked for; it does not know by which way',
      demo: DEMO_IS_ONE_AGENT,
      file: A_FILE_IS_SENT_ALONG,
      'call delivery': A_CALL_COMES_FROM_OUTSIDE,
    },
  },
  trigger: {
    may: ['document', 'deployment', 'conversation', 'turn'],
    never: {
      approval: WHO_IS_ASKED,
      model: A_MODEL_IS_ASKED,
      lint: LINT_LOOKS,
      memory: A_MEMORY_IS_A_TURNS,
      pause: A_PAUSE_IS_A_WAIT,
      'language step configuration':
        'an intent stands for agents that are deployed, whatever they are made of',
      'call delivery': 'a call names its agent, a managed one its intent; neither takes the way of the other',
      demo: DEMO_IS_ONE_AGENT,
      file: A_FILE_IS_SENT_ALONG,
    },
  },
  demo: {
    may: ['document', 'deployment', 'conversation', 'turn'],
    never: {
      approval: WHO_IS_ASKED,
      model: A_MODEL_IS_ASKED,
      lint: LINT_LOOKS,
      memory: A_MEMORY_IS_A_TURNS,
      'file call delivery pause': 'an agent file is text',
      'language step configuration trigger': 'an agent file is written without knowing how it is read',
    },
  },
  call: {
    may: ['step', 'file', 'turn'],
    never: {
      approval: WHO_IS_ASKED,
      model: A_MODEL_IS_ASKED,
      lint: LINT_LOOKS,
      memory: A_MEMORY_IS_A_TURNS,
      'language document deployment configuration trigger':
        'a call names an agent; how it is made is known to its turns',
      'conversation pause': 'a call has a turn run; what is read of it afterwards is asked elsewhere',
      demo: DEMO_IS_ONE_AGENT,
      delivery: A_CALL_COMES_FROM_OUTSIDE,
    },
  },
  delivery: {
    may: ['call', 'pause', 'turn'],
    never: {
      approval: WHO_IS_ASKED,
      model: A_MODEL_IS_ASKED,
      lint: LINT_LOOKS,
      'language document step deployment configuration conversation file memory trigger':
        'what is worked on in the background is a call like any other',
      demo: DEMO_IS_ONE_AGENT,
    },
  },
  lint: {
    may: ['language', 'document', 'step', 'deployment', 'turn'],
    never: {
      approval: WHO_IS_ASKED,
      model: A_MODEL_IS_ASKED,
      configuration: 'what is looked at is not changed',
      'conversation pause memory file call trigger delivery': 'what is looked at is not run',
      demo: DEMO_IS_ONE_AGENT,
    },
  },
};

/** `import()` hides an arrow from readers and from tools, so each one is named here with what it buys. */
const DYNAMIC_IMPORTS: readonly DynamicImport[] = [
  {
    from: 'packages/cli/src/main.ts',
    specifier: '@patchbay/server/main',
    because: 'only `up` needs the platform; every other command starts in a fraction of the time',
  },
  {
    from: 'packages/cli/src/main.ts',
    specifier: '@patchbay/server/doctor',
    because: 'only `doctor` looks at the parts of a platform; see above',
  },
  {
    from: 'packages/cli/src/main.ts',
    specifier: '@patchbay/server/lint',
    because: 'only `agents lint` reads agent files itself, where no platform runs; see above',
  },
  ...['anthropic', 'google', 'openai', 'openai-compatible'].map(name => ({
    from: 'packages/server/src/agents/model/providers.ts',
    specifier: `@ai-sdk/${name}`,
    because: 'a platform loads the package of a provider when it first asks one of its models',
  })),
  {
    from: 'packages/server/src/auth/server/provider.ts',
    specifier: 'oidc-provider',
    because: 'a platform loads the library when the first client wants to sign somebody in',
  },
  {
    from: 'packages/server/src/config/config-script.ts',
    specifier: 'computed',
    because: 'the configuration may be a program, which people write and change while the platform runs',
  },
  {
    from: 'packages/cli/bin/patchbay.mjs',
    specifier: 'computed',
    because: 'an old Node must be able to read the file up to here, and it cannot read TypeScript',
  },
];

interface DynamicImport {
  readonly from: string;
  /** As written, or `computed`. */
  readonly specifier: string;
  readonly because: string;
}

interface Module {
  readonly path: string;
  readonly imports: readonly Import[];
  /** True when the file has nothing of its own: a barrel. */
  readonly onlyReexports: boolean;
}

interface Import {
  /** As written; `undefined` when it is computed. */
  readonly specifier: string | undefined;
  /** The file it leads to; `undefined` when that is not ours. */
  readonly target: string | undefined;
  readonly atRunTime: boolean;
  readonly dynamic: boolean;
  readonly line: number;
}

type Exports = Readonly<Record<string, Readonly<Record<string, string>>>>;

function readModule(source: Source, exportsOf: Exports): Module {
  const imports: Import[] = [];
  walk(source.program, node => {
    const found = readImport(node);
    if (!found) return;
    const { specifier } = found;
    const target = specifier === undefined ? undefined : resolveImport(source.path, specifier, exportsOf);
    imports.push({ ...found, target, line: lineOf(source.text, node.start) });
  });
  const { body } = source.program;
  const reexports = body.filter(statement => 'source' in statement && statement.type.startsWith('Export'));
  return {
    path: source.path,
    imports,
    onlyReexports: reexports.length > 0 && body.every(isImportOrReexport),
  };
}

type Statement = Source['program']['body'][number];

function isImportOrReexport(statement: Statement): boolean {
  if (statement.type === 'ImportDeclaration' || statement.type === 'ExportAllDeclaration') return true;
  return statement.type === 'ExportNamedDeclaration' && !statement.declaration;
}

/** `import { type A }` stays an import at run time: only `import type` is erased. */
function readImport(node: Node) {
  switch (node.type) {
    case 'ImportDeclaration':
      return { specifier: node.source.value, atRunTime: node.importKind !== 'type', dynamic: false };
    case 'ExportAllDeclaration':
      return { specifier: node.source.value, atRunTime: node.exportKind !== 'type', dynamic: false };
    case 'ExportNamedDeclaration':
      if (!node.source) return undefined;
      return { specifier: node.source.value, atRunTime: node.exportKind !== 'type', dynamic: false };
    case 'TSImportType':
      return { specifier: node.source.value, atRunTime: false, dynamic: false };
    case 'ImportExpression': {
      const { source } = node;
      const specifier =
        source.type === 'Literal' && typeof source.value === 'string' ? source.value : undefined;
      return { specifier, atRunTime: true, dynamic: true };
    }
    default:
      return undefined;
  }
}

function resolveImport(from: string, specifier: string, exportsOf: Exports): string | undefined {
  if (specifier.startsWith('.')) return path.posix.join(path.posix.dirname(from), specifier);
  const [, name, rest] = /^@patchbay\/([^/]+)(\/.+)?$/.exec(specifier) ?? [];
  if (name === undefined) return undefined;
  const exported = exportsOf[name] ?? {};
  const exact = exported[`.${rest ?? ''}`];
  const file = exact ?? exported['./*']?.replace('*', (rest ?? '').slice(1));
  return path.posix.join('packages', name, file ?? 'not-exported');
}

const packageOf = (file: string) => /^packages\/([^/]+)\//.exec(file)?.[1];

function layerOf(file: string): string | undefined {
  const inside = /^packages\/server\/src\/(.+)$/.exec(file)?.[1];
  if (inside === undefined) return undefined;
  return /^(main|platform)(\.test)?\.ts$/.test(inside) ? 'the composition root' : inside.split('/')[0];
}

const agentFolderOf = (file: string) => /^packages\/server\/src\/agents\/([^/]+)/.exec(file)?.[1];

function reasonIn(never: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.entries(never).find(([names]) => names.split(' ').includes(name))?.[1];
}

function* packageViolations(modules: readonly Module[]): Generator<string> {
  for (const { path: file, imports } of modules) {
    const from = packageOf(file)!;
    for (const { specifier, target, line } of imports) {
      const to = target && packageOf(target);
      if (!to || to === from) {
        if (target && !to)
          yield `${file}:${line} imports ${specifier}: a package reads nothing outside packages/`;
        continue;
      }
      const allowed = PACKAGES[from]?.may[to];
      if (specifier?.startsWith('.'))
        yield `${file}:${line} imports ${specifier}: another package is imported by its name, @patchbay/${to}/...`;
      else if (allowed !== 'any file' && !allowed?.includes(specifier!))
        yield `${file}:${line} imports ${specifier}: ${reasonIn(PACKAGES[from]?.never ?? {}, to) ?? `no row of PACKAGES allows it`}`;
    }
  }
}

function* layerViolations(modules: readonly Module[]): Generator<string> {
  for (const { path: file, imports } of modules) {
    const from = layerOf(file);
    if (from === undefined) continue;
    if (from !== 'the composition root' && !LAYERS[from])
      yield `${file}: no layer of packages/server/src is named ${from}; put the file in one, or add a row with its reasons`;
    for (const { specifier, target, line } of imports) {
      const to = target && layerOf(target);
      if (!to || to === from || from === 'the composition root') continue;
      if (to === 'the composition root') {
        yield `${file}:${line} imports ${specifier}: the composition root builds the parts; a part that imports it is built by nobody`;
        continue;
      }
      const row = LAYERS[from];
      if (row && !row.may.includes(to))
        yield `${file}:${line} ${from} imports ${to} (${specifier}): ${reasonIn(row.never, to) ?? 'no row of LAYERS allows it'}`;
    }
  }
}

function* agentViolations(modules: readonly Module[]): Generator<string> {
  for (const { path: file, imports } of modules) {
    const from = agentFolderOf(file);
    if (from === undefined) continue;
    const row = AGENTS[from];
    if (!row) {
      yield `${file}: AGENTS has no row for ${from}; put the file in a folder that has one, or add a row with its reasons`;
      continue;
    }
    for (const { specifier, target, line } of imports) {
      const to = target && agentFolderOf(target);
      if (to && to !== from && !row.may.includes(to))
        yield `${file}:${line} agents/${from} imports agents/${to} (${specifier}): ${reasonIn(row.never, to) ?? 'no row of AGENTS allows it'}`;
    }
  }
}

function* barrels(modules: readonly Module[]): Generator<string> {
  for (const { path: file, onlyReexports } of modules)
    if (onlyReexports)
      yield `${file} only re-exports: import from the file that defines, barrels are how cycles start`;
}

function* hiddenImports(modules: readonly Module[], listed: readonly DynamicImport[]): Generator<string> {
  const used = new Set<DynamicImport>();
  for (const { path: file, imports } of modules) {
    for (const { specifier, line } of imports.filter(each => each.dynamic)) {
      const entry = listed.find(each => each.from === file && each.specifier === (specifier ?? 'computed'));
      if (entry) used.add(entry);
      else
        yield `${file}:${line} imports ${specifier ?? 'a computed module'} with import(): list it in DYNAMIC_IMPORTS with what it buys; it never mends a cycle`;
    }
  }
  for (const entry of listed)
    if (!used.has(entry))
      yield `DYNAMIC_IMPORTS lists ${entry.specifier} in ${entry.from}, which is not there any more`;
}

/** Each cycle once, as the path that closes it; `import()` counts, it only closes the cycle later. */
function* cycles(modules: readonly Module[]): Generator<string> {
  const byPath = new Map(modules.map(module => [module.path, module]));
  const done = new Set<string>();
  function* follow(file: string, trail: readonly string[]): Generator<string> {
    if (trail.includes(file)) {
      yield `${[...trail.slice(trail.indexOf(file)), file].join(' -> ')}: a cycle at run time; move what both need below them`;
      return;
    }
    if (done.has(file)) return;
    for (const { target, atRunTime } of byPath.get(file)?.imports ?? [])
      if (atRunTime && target && byPath.has(target)) yield* follow(target, [...trail, file]);
    done.add(file);
  }
  for (const { path: file } of modules) yield* follow(file, []);
}

function* unknownPackages(folders: readonly string[]): Generator<string> {
  for (const folder of folders)
    if (!PACKAGES[folder])
      yield `packages/${folder} has no row in PACKAGES: say what it may import and why not the rest`;
  for (const named of Object.keys(PACKAGES))
    if (!folders.includes(named)) yield `PACKAGES has a row for ${named}, which does not exist`;
}

const folders = readdirSync(path.join(ROOT, 'packages'));
const exportsOf: Exports = Object.fromEntries(
  folders.map(folder => {
    const manifest = readFileSync(path.join(ROOT, 'packages', folder, 'package.json'), 'utf8');
    return [folder, JSON.parse(manifest).exports ?? {}];
  }),
);
const modules = listFiles()
  .filter(file => /^packages\/[^/]+\/(src|bin)\//.test(file) && (isTypeScript(file) || file.endsWith('.mjs')))
  .map(file => readModule(readSource(file), exportsOf));

describe('imports of the repository', () => {
  it('are found in every package', () => {
    expect(new Set(modules.map(module => packageOf(module.path)))).toEqual(new Set(Object.keys(PACKAGES)));
    expect(modules.some(module => module.imports.length > 0)).toBe(true);
  });
  it('stay within the packages table', () => expect([...packageViolations(modules)]).toEqual([]));
  it('stay within the layers table', () => expect([...layerViolations(modules)]).toEqual([]));
  it('inside agents/ stay within its table', () => expect([...agentViolations(modules)]).toEqual([]));
  it('lead to files that exist', () => {
    const known = new Set(listFiles());
    const lost = modules.flatMap(module =>
      module.imports
        .filter(each => each.target !== undefined && !known.has(each.target))
        .map(each => `${module.path}:${each.line} imports ${each.specifier}`),
    );
    expect(lost).toEqual([]);
  });
  it('have no cycle at run time', () => expect([...cycles(modules)]).toEqual([]));
  it('use no barrel', () => expect([...barrels(modules)]).toEqual([]));
  it('use import() only where listed', () =>
    expect([...hiddenImports(modules, DYNAMIC_IMPORTS)]).toEqual([]));
});

describe('the tables', () => {
  it('have a row for every package and no other', () => expect([...unknownPackages(folders)]).toEqual([]));
  it('refuse a package without a row, and a row without a package', () => {
    expect([...unknownPackages([...Object.keys(PACKAGES), 'gadgets'])]).toEqual([
      expect.stringContaining('packages/gadgets has no row'),
    ]);
    expect([...unknownPackages(Object.keys(PACKAGES).filter(name => name !== 'cli'))]).toEqual([
      expect.stringContaining('a row for cli, which does not exist'),
    ]);
  });
  it.each(Object.entries(PACKAGES))('give the package %s a word on every other', (name, row) => {
    const partly = Object.entries(row.may).filter(([, allowed]) => allowed !== 'any file');
    const spoken = [...Object.keys(row.may), ...namesIn(row.never)];
    expect(spoken.toSorted()).toEqual(
      [
        ...Object.keys(PACKAGES).filter(other => other !== name),
        ...partly.map(([other]) => other),
      ].toSorted(),
    );
  });
  it.each(Object.entries(LAYERS))('give the layer %s a word on every other', (name, row) => {
    const others = Object.keys(LAYERS).filter(other => other !== name);
    expect([...row.may, ...namesIn(row.never)].toSorted()).toEqual(others.toSorted());
  });
  it.each(Object.entries(AGENTS))('give the folder agents/%s a word on every other', (name, row) => {
    const others = Object.keys(AGENTS).filter(other => other !== name);
    expect([...row.may, ...namesIn(row.never)].toSorted()).toEqual(others.toSorted());
  });
  it('have a row for every folder of agents/ and no other', () => {
    const inUse = new Set(modules.flatMap(module => agentFolderOf(module.path) ?? []));
    expect(Object.keys(AGENTS).toSorted()).toEqual([...inUse].toSorted());
  });
  it('have no circle among the folders of agents/', () => {
    const above = (name: string, trail: readonly string[]): boolean =>
      trail.includes(name) || AGENTS[name]!.may.some(below => above(below, [...trail, name]));
    expect(Object.keys(AGENTS).filter(name => above(name, []))).toEqual([]);
  });
});

const namesIn = (never: Readonly<Record<string, string>>) =>
  Object.keys(never).flatMap(names => names.split(' '));

describe('the checks', () => {
  const EXPORTS: Exports = {
    contract: { './*': './src/*.ts' },
    server: { '.': './src/platform.ts', './main': './src/main.ts' },
    testing: { './*': './src/*.ts' },
  };
  const made = (files: Readonly<Record<string, string>>) =>
    Object.entries(files).map(([file, text]) => readModule(sourceOf(file, text), EXPORTS));
  const inServer = (folder: string, text: string) => made({ [`packages/server/src/${folder}`]: text });

  it('refuse an arrow between layers with its reason, types included', () => {
    for (const text of [
      `import { findUser } from '../../store/tables/users.ts';`,
      `import type { User } from '../../store/tables/users.ts';`,
      `export { findUser } from '../../store/tables/users.ts';`,
      `type User = import('../../store/tables/users.ts').User;`,
      `const { findUser } = await import('../../store/tables/users.ts');`,
    ])
      expect([...layerViolations(inServer('edge/rest/routes.ts', text))]).toEqual([
        `packages/server/src/edge/rest/routes.ts:1 edge imports store (../../store/tables/users.ts): an edge that reads tables skips the rules`,
      ]);
  });
  it('allow arrows down, inside a layer, and all from the composition root', () => {
    expect([
      ...layerViolations(inServer('edge/rest/routes.ts', `import '../../auth/credential.ts';`)),
    ]).toEqual([]);
    expect([...layerViolations(inServer('edge/rest/routes.ts', `import '../http/host.ts';`))]).toEqual([]);
    expect([
      ...layerViolations(inServer('platform.ts', `import './store/store.ts'; import './main.ts';`)),
    ]).toEqual([]);
  });
  it('refuse an arrow up inside agents/ with its reason, types included, and a folder without a row', () => {
    const refusals = (file: string, specifier: string) => [
      ...agentViolations(inServer(`agents/${file}`, `import type { X } from '${specifier}';`)),
    ];
    expect(refusals('document/rules.ts', '../turn/steps/rules.ts')).toEqual([
      `packages/server/src/agents/document/rules.ts:1 agents/document imports agents/turn (../turn/steps/rules.ts): ${COMPILED_BEFORE_RUN}`,
    ]);
    expect(refusals('conversation/transcript.ts', '../turn/turn-memory.ts')).toEqual([
      expect.stringContaining(A_CONVERSATION_IS_A_RECORD),
    ]);
    expect(refusals('turn/steps/rules.ts', '../../document/rules.ts')).toEqual([]);
    expect(refusals('turn/steps/rules.ts', '../run-turn.ts')).toEqual([]);
    expect(refusals('helpers/x.ts', './y.ts')).toEqual([expect.stringContaining('no row for helpers')]);
  });
  it('refuse the configuration and the composition root anywhere below', () => {
    const text = `import type { Config } from '../config/config.ts';\nimport { start } from '../platform.ts';`;
    expect([...layerViolations(inServer('kernel/x.ts', text))]).toEqual([
      expect.stringContaining(ONLY_THE_ROOT),
      expect.stringContaining(':2 imports ../platform.ts: the composition root'),
    ]);
  });
  it('refuse a folder that is no layer', () => {
    expect([...layerViolations(inServer('utils/x.ts', ''))]).toEqual([
      expect.stringContaining('named utils'),
    ]);
    expect([...layerViolations(inServer('index.ts', ''))]).toEqual([
      expect.stringContaining('named index.ts'),
    ]);
  });
  it('refuse an arrow between packages', () => {
    const refusals = (file: string, specifier: string) => [
      ...packageViolations(made({ [file]: `import type { X } from '${specifier}';` })),
    ];
    expect(refusals('packages/contract/src/x.ts', '@patchbay/server')).toEqual([
      expect.stringContaining('none of our code runs'),
    ]);
    expect(refusals('packages/cli/src/x.ts', '@patchbay/server')).toEqual([
      expect.stringContaining('over HTTP like everybody else'),
    ]);
    expect(refusals('packages/cli/src/x.ts', '@patchbay/server/main')).toEqual([]);
    expect(refusals('packages/cli/src/x.ts', '@patchbay/contract/ids')).toEqual([]);
    expect(refusals('packages/cli/src/x.ts', '@patchbay/gadgets/x')).toEqual([
      expect.stringContaining('no row of PACKAGES allows it'),
    ]);
  });
  it('refuse a way around the name of a package', () => {
    const file = 'packages/testing/src/x.ts';
    expect([...packageViolations(made({ [file]: `import '../../server/src/store/store.ts';` }))]).toEqual([
      expect.stringContaining('imported by its name'),
    ]);
    expect([...packageViolations(made({ [file]: `import '../../../test/titles.ts';` }))]).toEqual([
      expect.stringContaining('outside packages/'),
    ]);
  });
  it('refuse a barrel, but not a file with something of its own', () => {
    const isBarrel = (text: string) => [...barrels(inServer('kernel/x.ts', text))].length === 1;
    expect(isBarrel(`export * from './ids.ts';`)).toBe(true);
    expect(isBarrel(`export type { Clock } from './clock.ts'; export { newKeyId } from './ids.ts';`)).toBe(
      true,
    );
    expect(isBarrel(`import { newKeyId } from './ids.ts'; export { newKeyId };`)).toBe(true);
    expect(isBarrel(`export { newKeyId } from './ids.ts'; export const one = 1;`)).toBe(false);
    expect(isBarrel(`const one = 1; export { one };`)).toBe(false);
    expect(isBarrel(`import './polyfill.ts';`)).toBe(false);
  });
  it('refuse import() that is not listed, and a listing that is no longer needed', () => {
    const modules = inServer('agents/model/x.ts', `await import('ai'); await import(name);`);
    const listed = { from: 'packages/server/src/agents/model/x.ts', specifier: 'ai', because: 'a test' };
    expect([...hiddenImports(modules, [listed])]).toEqual([expect.stringContaining('a computed module')]);
    expect([...hiddenImports(modules, [])]).toHaveLength(2);
    expect([...hiddenImports([], [listed])]).toEqual([expect.stringContaining('not there any more')]);
  });
  it('refuse a cycle at run time, and only there', () => {
    const pair = (there: string, back: string) => [
      ...cycles(made({ 'packages/server/src/kernel/a.ts': there, 'packages/server/src/kernel/b.ts': back })),
    ];
    expect(pair(`import { b } from './b.ts';`, `import { a } from './a.ts';`)).toEqual([
      expect.stringMatching(/^\S+\/a\.ts -> \S+\/b\.ts -> \S+\/a\.ts: a cycle/),
    ]);
    expect(pair(`import { type B } from './b.ts';`, `import { a } from './a.ts';`)).toHaveLength(1);
    expect(pair(`import { b } from './b.ts';`, `await import('./a.ts');`)).toHaveLength(1);
    expect(pair(`import { b } from './b.ts';`, `import type { A } from './a.ts';`)).toEqual([]);
    expect([...cycles(inServer('kernel/a.ts', `import './a.ts';`))]).toHaveLength(1);
  });
});
