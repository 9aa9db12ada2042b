import type { CallExpression, Node } from 'oxc-parser';
import { describe, expect, it } from 'vitest';
import { isTest, isTypeScript, listFiles, ROOT, readSource, type Source, sourceOf } from './repository.ts';
import {
  type Finding,
  find,
  globals,
  imports,
  isName,
  lineOf,
  memberName,
  members,
  nameAtStart,
  nameOf,
} from './syntax.ts';
import { titlesOf } from './titles.ts';

// What this repository does not do, each with the reason. A rule carries samples it must refuse and samples it must accept,
// so a rule that cannot fail fails here.

interface Rule {
  /** Reads on after "A file". */
  readonly says: string;
  readonly because: string;
  readonly covers: (file: string) => boolean;
  /** Files that may, and why. An entry that is no longer needed fails. */
  readonly except?: Readonly<Record<string, string>>;
  readonly find: (source: Source) => readonly Finding[];
  /** Samples by the path they would have. */
  readonly refuses: readonly Sample[];
  readonly accepts: readonly Sample[];
}

type Sample = readonly [path: string, text: string];

const isCode = (file: string) => isTypeScript(file) || file.endsWith('.mjs');
const inPackage = (file: string) => /^packages\/[^/]+\/(src|bin)\//.test(file) && isCode(file);
const inServer = (file: string) => file.startsWith('packages/server/src/') && isCode(file);
/** Not tests, and not the helpers that only tests use. */
const ships = (file: string) =>
  inPackage(file) && !isTest(file) && !/^packages\/(testing|[^/]+\/src\/testing)\//.test(file);

/** Where this checkout lies: the path that slips in most easily. */
const CHECKOUT = new RegExp(`(?<![\\w.~}-])${ROOT.replace(/[^\w/]/g, '\\$&')}(?![\\w-])`, 'g');

const RULES: readonly Rule[] = [
  {
    says: 'reads the environment only where it is listed',
    because: 'settings enter once, validated, and are passed on; a hidden one cannot be documented or tested',
    covers: file => inPackage(file) && !isTest(file),
    except: {
      'packages/cli/src/main.ts': 'the entry of the command: it reads the environment once and hands it on',
    },
    find: source => [...members(source, 'process', ['env']), ...imports(source, /^(node:)?process$/)],
    refuses: [
      ['packages/server/src/x.ts', 'const port = process.env.PORT;'],
      ['packages/server/src/x.ts', `const port = process['env'].PORT;`],
      ['packages/server/src/x.ts', 'const port = globalThis.process.env.PORT;'],
      ['packages/server/src/x.ts', 'const { env } = process;'],
      ['packages/server/src/x.ts', `import { env } from 'node:process';`],
      ['packages/cli/bin/x.mjs', 'spawn(node, { env: process.env });'],
    ],
    accepts: [
      ['packages/server/src/x.ts', 'const pid = process.pid;'],
      ['packages/server/src/x.ts', 'function read(process: { env: Env }) { return process.env.PORT; }'],
      ['scripts/x.ts', 'process.env.PORT'],
    ],
  },
  {
    says: 'leaves the process only through the safe fetch',
    because: 'one place checks every address and every redirect; a second way out would go around it',
    covers: ships,
    except: {
      'packages/server/src/kernel/safe-fetch.ts': 'this is the safe fetch',
      'packages/server/src/auth/server/exchange.ts':
        'makes a response in memory, for a library that knows no other; nothing of it is sent',
      'packages/cli/src/main.ts':
        'a command talks to the platform its user names, from the machine of its user',
    },
    find: source => [
      ...globals(source, 'fetch'),
      ...members(source, 'globalThis', ['fetch']),
      ...globals(source, 'WebSocket'),
      ...globals(source, 'EventSource'),
      ...imports(source, /^(undici|(node:)?(https?|http2|net|tls|dgram))$/),
    ],
    refuses: [
      ['packages/server/src/x.ts', 'await fetch(url);'],
      ['packages/server/src/x.ts', 'const client = createClient({ fetch });'],
      ['packages/server/src/x.ts', 'const client = createClient({ fetch: globalThis.fetch });'],
      ['packages/server/src/x.ts', 'function a(fetch: F) {}\nfunction b() { return fetch(url); }'],
      ['packages/server/src/x.ts', `import { fetch } from 'undici';`],
      ['packages/server/src/x.ts', `import http from 'node:http';`],
      ['packages/cli/src/x.ts', `const { connect } = await import('node:net');`],
    ],
    accepts: [
      [
        'packages/server/src/x.ts',
        'function call({ fetch }: { fetch: typeof globalThis.fetch }) { return fetch(url); }',
      ],
      ['packages/server/src/x.ts', 'interface Egress { fetch(url: string): Promise<Response> }'],
      ['packages/server/src/x.ts', 'await egress.fetch(url);'],
      ['packages/server/src/x.ts', `import type { Server } from 'node:http';`],
      ['packages/server/src/x.test.ts', 'await fetch(url);'],
    ],
  },
  {
    says: 'prints nothing',
    because: 'the logger redacts secrets and keeps lines whole, and stdout belongs to the command line',
    covers: file => ships(file) && !file.startsWith('packages/cli/'),
    find: source => [
      ...globals(source, 'console'),
      ...members(source, 'globalThis', ['console']),
      ...members(source, 'process', ['stdout', 'stderr']),
    ],
    refuses: [
      ['packages/server/src/x.ts', 'console.log(token);'],
      ['packages/contract/src/x.ts', 'const { error } = console;'],
      ['packages/server/src/x.ts', 'process.stdout.write(token);'],
      ['packages/server/src/x.ts', 'const to = process.stderr;'],
    ],
    accepts: [
      ['packages/server/src/x.ts', 'function print(console: Printer) { console.log(text); }'],
      ['packages/server/src/x.ts', 'logger.info(text);'],
      ['packages/cli/src/x.ts', 'process.stdout.write(text);'],
    ],
  },
  {
    says: 'holds no secret and no default for one',
    because: 'a secret in the source is known to everybody who reads it; ours are made at the first start',
    covers: file =>
      (inPackage(file) || file.startsWith('scripts/') || file.startsWith('bench/')) &&
      isCode(file) &&
      !isTest(file),
    except: {
      'packages/server/src/edge/pages/words.ts': 'labels of the fields in which people type their passwords',
    },
    find: findSecrets,
    refuses: [
      ['packages/server/src/x.ts', `const key = 'oag_${'0123456789abcdef'.repeat(4)}';`],
      ['packages/server/src/x.ts', `const key = 'sk-${'a1B2c3D4'.repeat(4)}';`],
      ['packages/server/src/x.ts', `const pem = \`-----BEGIN ${'PRIVATE'} KEY-----\`;`],
      [
        'packages/server/src/x.ts',
        `const jwt = '${['eyJhbGciOiJIUzI1NiJ9', 'eyJzdWIiOiIxIn0', 'c2lnbmF0dXJl'].join('.')}';`,
      ],
      ['packages/server/src/x.ts', `const url = 'postgres://admin:hunter2@db/patchbay';`],
      ['packages/server/src/x.ts', `const password = 'changeme';`],
      ['packages/server/src/x.ts', `connect({ user, password: 'postgres' });`],
      ['packages/server/src/x.ts', `const cookieSecret = settings.cookieSecret ?? 'patchbay';`],
      ['packages/server/src/x.ts', `function sign(text: string, signingKey = 'development') {}`],
      ['packages/server/src/x.ts', `class Vault { masterKey = 'development'; }`],
      ['packages/server/src/x.ts', `options.apiKey = 'test';`],
      [
        'packages/server/src/x.ts',
        `const fields = { password: z.string().min(1).default('patchbay').optional() };`,
      ],
    ],
    accepts: [
      ['packages/server/src/x.ts', `const password = settings.password;`],
      ['packages/server/src/x.ts', `const secretName = 'session-id';`],
      ['packages/server/src/x.ts', `const prefix = 'oag_';`],
      ['packages/server/src/x.ts', `const help = 'postgres://user:password@host/database';`],
      ['packages/server/src/x.ts', `const empty = { password: '' };`],
      ['packages/server/src/x.ts', `const fields = { password: z.string().describe('Of the database') };`],
      ['packages/server/src/x.test.ts', `const password = 'changeme';`],
    ],
  },
  {
    says: 'takes its randomness and its time from what it was given',
    because: 'a test must be able to own both, and Math.random guards nothing',
    covers: file => inServer(file) && !isTest(file),
    except: { 'packages/server/src/kernel/clock.ts': 'this is the clock that is given' },
    find: source => [
      ...members(source, 'Math', ['random']),
      ...members(source, 'Date', ['now']),
      ...find(source, node =>
        node.type === 'NewExpression' && isName(node.callee, 'Date') && node.arguments.length === 0
          ? 'new Date()'
          : undefined,
      ),
    ],
    refuses: [
      ['packages/server/src/x.ts', 'const pick = items[Math.floor(Math.random() * items.length)];'],
      ['packages/server/src/x.ts', 'createTurns({ random: Math.random });'],
      ['packages/server/src/x.ts', 'const { random } = Math;'],
      ['packages/server/src/x.ts', 'const now = Date.now();'],
      ['packages/server/src/x.ts', 'const now = new Date();'],
    ],
    accepts: [
      ['packages/server/src/x.ts', 'const text = new Date(clock.now()).toISOString();'],
      ['packages/server/src/x.ts', 'const pick = items[Math.floor(random() * items.length)];'],
    ],
  },
  {
    says: 'holds SQL only inside the store',
    because:
      'one portable subset runs on two engines; SQL elsewhere is tested on neither and skips the rules',
    covers: file => ships(file) && !file.startsWith('packages/server/src/store/'),
    except: {
      'packages/server/src/doctor/folder-lock.ts':
        'asks for a lock without taking it, which the store never does',
      'packages/server/src/doctor/sqlite-file.ts': 'reads a file the store would refuse, or bring up to date',
      'packages/server/src/doctor/postgres-server.ts': 'asks a server why the store could not work with it',
      'packages/server/src/doctor/tables.ts': 'reads tables that may be newer, older or of another program',
    },
    find: source => [
      ...imports(source, /^(kysely|pg|(node:)?sqlite)$/),
      ...find(source, node => {
        if (node.type === 'TaggedTemplateExpression' && isName(node.tag, 'sql')) return 'sql``';
        if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return undefined;
        const { property } = node.callee;
        const builds = /^(selectFrom|insertInto|updateTable|deleteFrom|replaceInto|mergeInto|selectNoFrom)$/;
        return property.type === 'Identifier' && builds.test(property.name)
          ? `.${property.name}(`
          : undefined;
      }),
    ],
    refuses: [
      ['packages/server/src/agents/x.ts', `await db.selectFrom('users').execute();`],
      ['packages/server/src/auth/x.ts', `db.insertInto('keys')`],
      ['packages/server/src/auth/x.ts', 'await sql`SELECT 1`.execute(db);'],
      ['packages/server/src/agents/x.ts', 'await sql<Row>`SELECT 1`.execute(db);'],
      ['packages/server/src/agents/x.ts', `import { DatabaseSync } from 'node:sqlite';`],
    ],
    accepts: [
      ['packages/server/src/store/tables/users.ts', `db.selectFrom('users')`],
      ['packages/server/src/agents/x.ts', `import type { Kysely } from 'kysely';`],
      ['packages/server/src/agents/x.ts', 'await findUser(db, id);'],
    ],
  },
  {
    says: 'checks what it takes in',
    because:
      'z.any() lets everything through and the type then lies about it; z.unknown() says the same honestly',
    covers: inPackage,
    find: source =>
      find(source, node =>
        node.type === 'MemberExpression' && isName(node.object, 'z') && memberName(node) === 'any'
          ? 'z.any'
          : undefined,
      ),
    refuses: [
      ['packages/contract/src/x.ts', `import { z } from 'zod';\nconst body = z.any();`],
      ['packages/contract/src/x.ts', `import { z } from 'zod';\nconst body = z.record(z.string(), z.any());`],
    ],
    accepts: [['packages/contract/src/x.ts', `import { z } from 'zod';\nconst body = z.unknown();`]],
  },
  {
    says: 'is finished',
    because: 'what is not built is not there; what is left to do is an issue, where somebody looks for it',
    covers: file => inPackage(file) || (/^(scripts|test|bench)\//.test(file) && isCode(file)),
    find: source =>
      source.comments
        .filter(comment => /\b(TODO|FIXME|XXX|HACK)\b/.test(comment.value))
        .map(comment => ({ at: comment.start, what: comment.value.trim() })),
    refuses: [['packages/server/src/x.ts', `// TODO: the rest\nexport const one = 1;`]],
    accepts: [['packages/server/src/x.ts', `export const note = 'TODO';`]],
  },
  {
    says: 'names no machine',
    because: 'a path or a registry of one machine works on that machine only, and tells strangers about it',
    covers: () => true,
    find: source => [
      ...matches(source, /(?<![\w.~}-])\/(?:home|Users|root)\/[\w.-]+/g),
      ...matches(source, CHECKOUT),
      ...matches(source, /\b[A-Z]:\\+Users\\+\w+/g),
      ...matches(source, /\bregistry\s*=\s*["']?https?:\/\/\S+/g),
      ...matches(
        source,
        /\bhttps?:\/\/(?:registry\.|npm\.pkg\.|[\w.-]*(?:artifactory|verdaccio|nexus))[\w./:-]*/g,
      ),
      ...matches(source, /"resolved": "(?:https?|git|file):[^"]*"/g),
    ],
    refuses: [
      ['docs/x.md', `cd ${ROOT} && npm run check`],
      ['docs/x.md', `see ${['', 'home', 'ada', 'patchbay'].join('/')}`],
      ['a.json', `{"path":"${['', 'Users', 'ada'].join('/')}"}`],
      ['a.md', ['C:', 'Users', 'ada'].join('\\')],
      ['.npmrc', `${'registry'}=https://packages.example.com/`],
      ['docs/x.md', `https://${'registry'}.npmjs.org/zod`],
      ['package-lock.json', `  ${'"resolved"'}: "http://10.0.0.1/zod.tgz",`],
    ],
    accepts: [
      ['docs/x.md', '~/.patchbay, $HOME/work, ./home/x, https://example.com/home/page, /api/v1/agents'],
      ['package-lock.json', '  "resolved": "packages/cli",'],
      ['.npmrc', 'omit-lockfile-registry-resolved=true'],
    ],
  },
  {
    says: 'runs all its tests',
    because:
      'a test left out on purpose is forgotten on purpose; what cannot run somewhere says so with skipIf',
    covers: isTest,
    find: source => {
      const chained = /^(describe|suite|it|test)$/;
      return find(source, node => {
        if (node.type !== 'MemberExpression' || node.property.type !== 'Identifier') return undefined;
        const start = nameAtStart(node);
        const leavesOut = /^(only|skip|todo)$/.test(node.property.name);
        return leavesOut && start && chained.test(start) ? `${start}.${node.property.name}` : undefined;
      });
    },
    refuses: [
      ['test/x.test.ts', `it.only('a', () => {});`],
      ['test/x.test.ts', `describe.skip('a', () => {});`],
      ['test/x.test.ts', `it.skip.each(rows)('a', () => {});`],
      ['test/x.test.ts', `test.concurrent.only('a', () => {});`],
      ['test/x.test.ts', `it.todo('a');`],
      ['test/x.test.ts', `const later = describe.skip;`],
    ],
    accepts: [
      ['test/x.test.ts', `it.skipIf(noVectors)('a', () => {});`],
      ['test/x.test.ts', `it('a', () => { list.only(one); });`],
    ],
  },
  {
    says: 'gives each of its tests a title of its own',
    because: 'a failure and a cited requirement must lead to one test',
    covers: isTest,
    find: source => {
      const seen = new Set<string>();
      return titlesOf(source).flatMap(title => {
        const whole = [...title.groups, title.text].join(' > ');
        if (title.kind === 'group' || !seen.has(whole)) {
          seen.add(whole);
          return [];
        }
        return [{ at: offsetOf(source.text, title.line), what: `"${whole}" again` }];
      });
    },
    refuses: [
      ['test/x.test.ts', `it('a', () => {});\nit('a', () => {});`],
      ['test/x.test.ts', `describe('g', () => { it('a', () => {}); it.each(rows)('a', () => {}); });`],
    ],
    accepts: [
      [
        'test/x.test.ts',
        `describe('g', () => { it('a', () => {}); });\ndescribe('h', () => { it('a', () => {}); });`,
      ],
    ],
  },
];

function matches(source: Source, pattern: RegExp): Finding[] {
  return [...source.text.matchAll(pattern)].map(match => ({ at: match.index, what: match[0] }));
}

const LOOKS_SECRET = [
  /\b(oag|bak)_[0-9a-f]{32,}/,
  /\b(sk|pk|rk)[-_](?=[\w-]*\d)[\w-]{20,}/,
  /\b(gh[opsu]_|github_pat_|xox[abp]-|AKIA|AIza)[\w-]{16,}/,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /\beyJ[\w-]{10,}\.eyJ[\w-]{8,}\.[\w-]+/,
  /:\/\/(?!user:password@)[^\s:/@]+:[^\s:/@$]+@/,
];
const NAMES_A_SECRET =
  /(password|passphrase|secret|api_?key|private_?key|signing_?key|master_?key|encryption_?key)$/i;

function findSecrets(source: Source): Finding[] {
  return find(source, (node, ancestors) => {
    const text = textIn(node);
    if (!text) return undefined;
    if (LOOKS_SECRET.some(pattern => pattern.test(text))) return 'a text with the shape of a secret';
    const name = nameGiven(node, ancestors);
    return name && NAMES_A_SECRET.test(name) ? `a value for ${name}` : undefined;
  });
}

function textIn(node: Node): string | undefined {
  if (node.type === 'TemplateLiteral') return node.quasis.map(part => part.value.raw).join('');
  return node.type === 'Literal' && typeof node.value === 'string' ? node.value : undefined;
}

/** `z.string().default('...')` */
function isDefault({ callee }: CallExpression): boolean {
  return callee.type === 'MemberExpression' && memberName(callee) === 'default';
}

/** What a text becomes the value or the default of. */
function nameGiven(node: Node, ancestors: readonly Node[]): string | undefined {
  const parent = ancestors.at(-1);
  const above = () => nameGiven(parent!, ancestors.slice(0, -1));
  switch (parent?.type) {
    case 'CallExpression':
      return parent.callee === node || isDefault(parent) ? above() : undefined;
    case 'MemberExpression':
      return parent.object === node ? above() : undefined;
    case 'VariableDeclarator':
      return parent.init === node ? nameOf(parent.id) : undefined;
    case 'Property':
    case 'PropertyDefinition':
      return parent.value === node ? nameOf(parent.key) : undefined;
    case 'AssignmentPattern':
    case 'AssignmentExpression':
      return parent.right === node ? nameOf(parent.left) : undefined;
    case 'LogicalExpression':
      return parent.right === node ? nameOf(parent.left) : undefined;
    default:
      return undefined;
  }
}

function offsetOf(text: string, line: number): number {
  return (
    text
      .split('\n')
      .slice(0, line - 1)
      .join('\n').length + (line > 1 ? 1 : 0)
  );
}

const files = listFiles().filter(file => !/\.(png|ico|woff2|gz|zip)$/.test(file));

describe.each(RULES)('a file $says', rule => {
  it(`because ${rule.because}`, () => {
    const said = files
      .filter(file => rule.covers(file) && !rule.except?.[file])
      .map(readSource)
      .flatMap(source =>
        rule.find(source).map(({ at, what }) => `${source.path}:${lineOf(source.text, at)} ${what}`),
      );
    expect(said).toEqual([]);
  });
  it('and the rule refuses its bad samples', () => {
    for (const [file, text] of rule.refuses)
      expect(rule.covers(file) && rule.find(sourceOf(file, text)).length, `${file}: ${text}`).toBeGreaterThan(
        0,
      );
  });
  it('and the rule accepts its good samples', () => {
    for (const [file, text] of rule.accepts)
      expect(rule.covers(file) ? rule.find(sourceOf(file, text)) : [], `${file}: ${text}`).toEqual([]);
  });
  it('and every listed exception is still needed', () => {
    const needed = Object.keys(rule.except ?? {}).filter(
      file => files.includes(file) && rule.covers(file) && rule.find(readSource(file)).length > 0,
    );
    expect(needed).toEqual(Object.keys(rule.except ?? {}));
  });
});
