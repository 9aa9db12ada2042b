import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { agentIdSchema } from '@patchbay/contract/ids';
import { type Command, Option } from 'commander';
import { parse } from 'yaml';
import { CliError, EXIT, usageError } from '../cli-error.ts';
import { connect } from '../connection.ts';
import type { Io } from '../io.ts';
import { answerAgent } from '../new-agent/answer-agent.ts';
import { apiAgent } from '../new-agent/api-agent.ts';
import { formAgent } from '../new-agent/form-agent.ts';
import { modelAgent } from '../new-agent/model-agent.ts';
import type { Head } from '../new-agent/parts.ts';
import type { Field, ModelPlan, Question } from '../new-agent/plan.ts';
import { createQuestions, type Questions } from '../questions.ts';
import { shellWord, writeLine } from '../text.ts';

const KINDS = {
  answer: 'Answers the questions people ask.',
  form: 'Asks for some values and keeps them.',
  api: 'Looks things up in an API, and adds to it after an approval.',
  model: 'Has a language model answer, which may call the tools of MCP servers.',
} as const;
type Kind = keyof typeof KINDS;

interface NewOptions {
  readonly kind?: Kind;
  readonly id?: string;
  readonly name?: string;
  readonly description?: string;
  readonly mcp?: boolean;
  readonly question?: readonly string[];
  readonly field?: readonly string[];
  readonly server?: string;
  readonly readPath?: string;
  readonly writePath?: string;
  /** False with `--no-secret`. */
  readonly secret?: string | boolean;
  readonly model?: string;
  readonly baseUrl?: string;
  readonly prompt?: string;
  readonly mcpServer?: readonly string[];
  readonly yes?: boolean;
  readonly force?: boolean;
}

const collected = (text: string, before: readonly string[] = []) => [...before, text];

/** Below `agents`. */
export function addNew(agents: Command, io: Io): void {
  agents
    .command('new')
    .description('write the file of a new agent: asks what it is to do, and explains what it wrote')
    .argument('[file]', 'where; default: <id>.yaml in this folder. - prints it')
    .addOption(new Option('--kind <kind>', 'what it does').choices(Object.keys(KINDS)))
    .option('--id <id>', 'its id: the first part of its MCP address')
    .option('--name <text>', 'what people call it')
    .option('--description <text>', 'what it is for; people and models choose by it')
    .option('--mcp', 'MCP clients with a key may talk to it')
    .option('--no-mcp', 'they may not')
    .option(
      '--question <words=answer>',
      'answer: what people say, by commas, and the answer; repeat for more',
      collected,
    )
    .option('--field <name=question>', 'form: a value, and how it is asked for; repeat for more', collected)
    .option('--server <address>', 'api: where it is')
    .option('--read-path <path>', 'api: what is read; what was asked for is put behind it')
    .option('--write-path <path>', 'api: what is written')
    .option('--secret <name>', 'api, model: the secret with its key')
    .option('--no-secret', 'api, model: it needs no key')
    .option(
      '--model <provider:model>',
      'model: which one, such as anthropic:claude-sonnet-4-6 or ollama:qwen3',
    )
    .option('--base-url <address>', 'model: where it is served, if not at the provider')
    .option('--prompt <text>', 'model: who it is and what it is to do')
    .option(
      '--mcp-server <name>',
      'model: a registered MCP server whose tools it may call; repeat for more',
      collected,
    )
    .option('--yes', 'ask nothing: what is not given is as usual')
    .option('--force', 'write over a file that is there')
    .addHelpText(
      'after',
      `
What no option answers is asked for, on a terminal or by a script that writes one answer a line. Nothing is deployed.

Kinds:
  answer   ${KINDS.answer}
  form     ${KINDS.form}
  api      ${KINDS.api}
  model    ${KINDS.model} --model is enough to say so.

Examples:
  npx patchbay agents new
  npx patchbay agents new --kind answer --id shop --yes --question 'open,hours=We are open from 9 to 18.'
  npx patchbay agents new --kind form --id visit --yes --field 'name=What is your name?' --field 'day=Which day?'
  npx patchbay agents new - --kind api --id crm --yes --server https://crm.example.com/v1 --secret crm-key
  npx patchbay agents new --model anthropic:claude-sonnet-4-6 --id helper --mcp-server github
  npx patchbay agents new --model ollama:qwen3 --id local --yes`,
    )
    .action(async (file: string | undefined, options: NewOptions) => writeNew(io, file, options));
}

async function writeNew(io: Io, given: string | undefined, options: NewOptions): Promise<void> {
  const questions = options.yes ? undefined : createQuestions(io);
  try {
    const answers = new Answers(questions);
    const kind = (await answers.one(
      'kind',
      `Kind of agent (${Object.keys(KINDS).join(', ')})`,
      options.kind ?? (options.model === undefined ? undefined : 'model'),
      'answer',
      kindProblem,
    )) as Kind;
    const head = await askHead(answers, kind, options);
    const file = given ?? `${head.id}.yaml`;
    const named = file === '-' ? `${head.id}.yaml` : file;
    const text =
      kind === 'model'
        ? modelAgent(head, named, await askModel(io, answers, options))
        : await textOf(answers, kind, head, named, options);
    await requireRight(io, text);
    if (file === '-') {
      io.stdout.write(text);
      return;
    }
    await write(io, file, text, options.force === true);
    sayWhatNext(io, file, head.id, text);
  } finally {
    questions?.close();
  }
}

/** Whatever was answered, the file is one that can be deployed. */
async function requireRight(io: Io, text: string): Promise<void> {
  const { findings } = await io.lintAgentFile(parse(text));
  const wrong = findings.find(({ severity }) => severity === 'error');
  if (wrong) throw new CliError(EXIT.failed, `Nothing was written. ${wrong.place}: ${wrong.says}`);
}

/** What was given on the line, else what somebody answers, else what is usual. */
class Answers {
  readonly questions: Questions | undefined;
  constructor(questions: Questions | undefined) {
    this.questions = questions;
  }

  async one(
    flag: string,
    question: string,
    given: string | undefined,
    usual: string,
    problemOf: (answer: string) => string | undefined = () => undefined,
  ): Promise<string> {
    if (given === undefined && this.questions) {
      return this.questions.ask(question, { usual, flag: `--${flag}`, problemOf });
    }
    const answer = given ?? usual;
    const problem = problemOf(answer);
    if (problem !== undefined) throw usageError(`--${flag}: '${answer}' ${problem}.`);
    return answer;
  }

  async yesOrNo(flag: string, question: string, given: boolean | undefined): Promise<boolean> {
    if (given !== undefined) return given;
    const problemOf = (answer: string) => (/^(y|yes|n|no)$/i.test(answer) ? undefined : 'must be yes or no');
    return /^y/i.test(await this.one(flag, question, undefined, 'no', problemOf));
  }

  /** Pairs until an empty line. */
  async pairs(
    given: readonly (readonly [string, string])[],
    question: string,
    answer: (first: string) => string,
    usual: readonly (readonly [string, string])[],
  ): Promise<readonly (readonly [string, string])[]> {
    if (given.length > 0) return given;
    const pairs: [string, string][] = [];
    while (this.questions) {
      const first = await this.questions.askMore(question);
      if (first === undefined) break;
      const second = await this.questions.askMore(answer(first));
      if (second === undefined) break;
      pairs.push([first, second]);
    }
    return pairs.length > 0 ? pairs : usual;
  }
}

async function askHead(answers: Answers, kind: Kind, options: NewOptions): Promise<Head> {
  const id = await answers.one('id', 'Id', options.id, `my-${kind}`, idProblem);
  const usualName = id.replaceAll(/[-_]+/g, ' ').replace(/^./, first => first.toUpperCase());
  const name = await answers.one('name', 'Name', options.name, usualName, textProblem);
  return {
    id,
    name,
    description: await answers.one(
      'description',
      'What it is for',
      options.description,
      KINDS[kind],
      textProblem,
    ),
    mcpEnabled: await answers.yesOrNo('mcp', 'May MCP clients with a key talk to it', options.mcp),
  };
}

async function askModel(io: Io, answers: Answers, options: NewOptions): Promise<ModelPlan> {
  const model = await answers.one(
    'model',
    'Model, as provider:model',
    options.model,
    'anthropic',
    textProblem,
  );
  const needs = await io.modelNeeds(model).catch((cause: Error) => {
    throw usageError(`--model: ${cause.message}`, { cause });
  });
  const asksForAddress = needs.address === undefined || options.baseUrl !== undefined;
  const asksForKey = needs.key || typeof options.secret === 'string';
  const usualAddress = 'http://127.0.0.1:8080/v1';
  const baseUrl = asksForAddress
    ? await answers.one('base-url', 'Where it is served', options.baseUrl, usualAddress, addressProblem)
    : undefined;
  return {
    model,
    baseUrl,
    localHost: localHostOf(baseUrl),
    secret: asksForKey ? await askSecret(answers, options, needs.provider) : undefined,
    prompt: await answers.one(
      'prompt',
      'Who it is and what it is to do',
      options.prompt,
      'You help people. Be brief, and say so when you do not know something.',
      promptProblem,
    ),
    servers: await askServers(io, answers, options.mcpServer),
  };
}

function localHostOf(address = ''): string | undefined {
  return /^https?:\/\/(127(?:\.\d{1,3}){3}|localhost)(?=[:/]|$)/i.exec(address)?.[1];
}

async function askSecret(
  answers: Answers,
  { secret }: NewOptions,
  usual: string,
): Promise<string | undefined> {
  if (secret === false) return undefined;
  const question = 'Name of the secret with its key, or none';
  const name = await answers.one('secret', question, asText(secret), usual, secretProblem);
  return name === 'none' ? undefined : name;
}

/** By their names; a platform that runs says which there are. */
async function askServers(
  io: Io,
  answers: Answers,
  given: readonly string[] | undefined,
): Promise<readonly string[]> {
  if (given === undefined && !answers.questions) return [];
  const known = given === undefined ? await registeredServers(io) : [];
  const hint = known.length > 0 ? `${known.join(', ')}; ` : '';
  const question = `MCP servers whose tools it may call, by commas (${hint}none)`;
  const text = await answers.one('mcp-server', question, given?.join(','), 'none', serversProblem);
  return text === 'none' ? [] : namesIn(text);
}

async function registeredServers(io: Io): Promise<readonly string[]> {
  try {
    const { client } = await connect(io, {});
    const { servers } = await client.call('list_servers', {});
    return servers.map(({ name, instance }) => (instance === 'default' ? name : `${instance}/${name}`));
  } catch {
    // The file can be written without one, or by somebody who may not see them.
    return [];
  }
}

async function textOf(
  answers: Answers,
  kind: Exclude<Kind, 'model'>,
  head: Head,
  file: string,
  options: NewOptions,
): Promise<string> {
  switch (kind) {
    case 'answer': {
      const pairs = await answers.pairs(
        pairsOf('question', options.question),
        'What people say, separated by commas (an empty line ends)',
        () => 'The answer',
        [['hours, open, when are you open', 'We are open from 9 to 18.']],
      );
      return answerAgent(head, file, questionsOf(pairs));
    }
    case 'form': {
      const pairs = await answers.pairs(
        pairsOf('field', options.field),
        'A value it asks for, as one word (an empty line ends)',
        name => `How it asks for ${name}`,
        [
          ['name', 'What is your name?'],
          ['email', 'What is your email address?'],
        ],
      );
      return formAgent(head, file, fieldsOf(pairs));
    }
    case 'api': {
      const server = await answers.one(
        'server',
        'Address of the API',
        options.server,
        'https://api.example.com/v1',
        serverProblem,
      );
      const readPath = await answers.one(
        'read-path',
        'Path that is read',
        options.readPath,
        '/items',
        pathProblem,
      );
      const writePath = await answers.one(
        'write-path',
        'Path that is written',
        options.writePath,
        readPath,
        pathProblem,
      );
      const secret = await askSecret(answers, options, 'api-key');
      return apiAgent(head, file, {
        server,
        readPath,
        writePath,
        secret,
      });
    }
  }
}

const asText = (value: string | boolean | undefined) => (typeof value === 'string' ? value : undefined);

function pairsOf(flag: string, given: readonly string[] = []): [string, string][] {
  return given.map(text => {
    const at = text.indexOf('=');
    const pair: [string, string] = [text.slice(0, at).trim(), text.slice(at + 1).trim()];
    if (at < 1 || pair[0] === '' || pair[1] === '')
      throw usageError(`--${flag}: '${text}' is no pair with = between.`);
    return pair;
  });
}

/** A word belongs to the question that names it first. */
function questionsOf(pairs: readonly (readonly [string, string])[]): Question[] {
  const taken = new Set<string>();
  const topics = new Set<string>();
  return pairs.map(([list, answer]) => {
    const words = list
      .split(',')
      .map(word => word.trim().replaceAll(/\s+/g, ' '))
      .filter(word => word !== '' && !taken.has(word.toLowerCase()));
    if (words.length === 0) throw usageError(`'${list}': every word of it belongs to a question before it.`);
    for (const word of words) taken.add(word.toLowerCase());
    const topic = topicOf(words[0]!);
    // Some differ in marks only.
    const key = topics.has(topic) ? `${topic}_${topics.size + 1}` : topic;
    topics.add(key);
    return { words, meaning: `ask(${key})`, action: `tell_${key}`, answer };
  });
}

function topicOf(word: string): string {
  const plain = word.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '_');
  return plain.replaceAll(/^_|_$/g, '') || 'topic';
}

function fieldsOf(pairs: readonly (readonly [string, string])[]): Field[] {
  const names = new Set<string>();
  return pairs.map(([name, question]) => {
    if (!/^[A-Za-z][A-Za-z0-9_]{0,40}$/.test(name)) {
      throw usageError(`'${name}' must be one word of letters, digits and "_", such as first_name.`);
    }
    if (names.has(name)) throw usageError(`'${name}' is asked for twice.`);
    names.add(name);
    return { name, question };
  });
}

const kindProblem = (text: string) =>
  Object.hasOwn(KINDS, text) ? undefined : `must be one of ${Object.keys(KINDS).join(', ')}`;
const idProblem = (text: string) => agentIdSchema.safeParse(text).error?.issues[0]?.message;
const textProblem = (text: string) =>
  text.trim() !== '' && text.length <= 200 ? undefined : 'must have 1 to 200 characters';
const promptProblem = (text: string) =>
  text.trim() !== '' && text.length <= 100_000 ? undefined : 'must have 1 to 100000 characters';
const addressProblem = (text: string) =>
  /^https?:\/\/[^/\s]/i.test(text) ? undefined : 'must be an address such as http://127.0.0.1:8080/v1';
const namesIn = (list: string) =>
  [...new Set(list.split(',').map(name => name.trim()))].filter(name => name !== '');
const serversProblem = (text: string) =>
  namesIn(text).every(name => /^(?:[\w-]{1,64}\/)?[\w-]{1,64}$/.test(name))
    ? undefined
    : 'must be names of registered servers, or instance/name, by commas';
const serverProblem = (text: string) =>
  /^https?:\/\/[^/\s]/i.test(text) ? undefined : 'must be an address such as https://api.example.com/v1';
const pathProblem = (text: string) => (/^\/\S*$/.test(text) ? undefined : 'must be a path such as /items');
const secretProblem = (text: string) =>
  /^[a-zA-Z0-9._-]{1,128}$/.test(text) ? undefined : 'must be a name of letters, digits, ".", "_" and "-"';

async function write(io: Io, file: string, text: string, force: boolean): Promise<void> {
  try {
    await writeFile(resolve(io.cwd, file), text, { flag: force ? 'w' : 'wx' });
  } catch (cause) {
    const isThere = (cause as NodeJS.ErrnoException).code === 'EEXIST';
    const why = isThere ? 'is there already; name another file, or give --force' : 'cannot be written';
    throw new CliError(EXIT.failed, `${file} ${why}.`, { cause });
  }
}

function sayWhatNext(io: Io, file: string, id: string, text: string): void {
  const [, secret] = /secrets set ([\w.-]+)\./.exec(text) ?? [];
  const [allowed] = /PATCHBAY_EGRESS_PRIVATE_HOSTS=\S+/.exec(text) ?? [];
  writeLine(io.stdout, `Wrote ${file}.`);
  if (secret !== undefined) writeLine(io.stdout, `  store the key: npx patchbay secrets set ${secret}`);
  if (allowed !== undefined) writeLine(io.stdout, `  let it be asked: start the platform with ${allowed}`);
  writeLine(io.stdout, `  look at it:    npx patchbay agents lint ${shellWord(file)}`);
  writeLine(io.stdout, `  deploy it:     npx patchbay agents deploy ${shellWord(file)}`);
  writeLine(io.stdout, `  talk to it:    npx patchbay chat ${id}`);
}
