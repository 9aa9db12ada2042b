import { createInterface } from 'node:readline';
import type { Client, OperationOutput } from '@patchbay/contract/client';
import type { ConversationSnapshot, TalkResult } from '@patchbay/contract/operations/conversation';
import type { Command } from 'commander';
import { conversationIn, type NamedAgent, namedAgent } from '../agent-place.ts';
import { CliError, EXIT, usageError } from '../cli-error.ts';
import { connect } from '../connection.ts';
import { type AskPerson, decideInline } from '../inline-approval.ts';
import { type AskUntil, awaitSignIn } from '../inline-sign-in.ts';
import type { Io } from '../io.ts';
import { addSharedOptions, type SharedOptions, sharedOptions } from '../shared-options.ts';
import { printable, writeLine } from '../text.ts';
import { printTrace } from '../trace-text.ts';

interface ChatOptions extends SharedOptions {
  readonly message?: string;
  readonly conversation?: string;
  readonly trace?: boolean;
}

/** One exchange with the agent: sends and prints the answer. */
type Say = (message: string, signal?: AbortSignal) => Promise<Answer>;

export function addChat(program: Command, io: Io): void {
  addSharedOptions(program.command('chat'))
    .description('talk to an agent')
    .argument('[agentId]', 'id of the agent; may be left out when there is only one', namedAgent)
    .option('--message <text>', 'say this, print the answer and end')
    .option('--conversation <id>', 'go on with this conversation instead of starting one', conversationIn)
    .option('--trace', 'also show what each step did, and which rules fired and why; for agents of yours')
    .addHelpText(
      'after',
      `
Quick replies are offered with numbers: type the number or anything else. At a terminal, calls that a
person must approve are shown and asked about one by one, and where you have to sign in at a server, the
chat goes on by itself when you have.
With --json every answer is one line of JSON, which holds the conversationId.
With --trace the steps of each turn go to stderr: how long each took, what it changed, and for every rule that was looked at
which of its conditions held (+) or did not (-), and what it met. With --json they are in "steps".

Examples:
  npx patchbay chat demo
  npx patchbay chat demo --message hello
  npx patchbay chat demo --message hello --trace
  printf 'hello\\nbye\\n' | npx patchbay chat demo    one message a line, one conversation`,
    )
    .action(async (named: NamedAgent | undefined, _: unknown, command: Command) =>
      chat(io, named?.agentId, sharedOptions(command) as ChatOptions),
    );
}

async function chat(io: Io, given: string | undefined, options: ChatOptions): Promise<void> {
  const { client } = await connect(io, options);
  const agentId = given ?? (await onlyAgent(client));
  const { message, conversation } = options;
  if (message !== undefined) {
    const call = { agentId, message, conversationId: conversation };
    const speech = speechOf(io, options);
    const answer = await send(client, options, 'chat_with_agent', call, { speech });
    printAnswer(io, options, answer, speech);
    return requireProcessed(answer);
  }
  const conversationId = conversation ?? (await begin(io, client, agentId, options));
  const say: Say = async (text, signal) => {
    const call = { agentId, conversationId, message: text };
    const speech = speechOf(io, options);
    const answer = await send(client, options, 'talk_to_agent', call, { signal, speech });
    printAnswer(io, options, answer, speech);
    return answer;
  };
  if (!io.stdin.isTTY) return talkByLines(io, say);
  const greeting = await client.call('read_conversation', { conversationId });
  if (!options.json) {
    writeLine(io.stderr, `Talking to ${agentId}. End with Ctrl-D.`);
    for (const line of latestTexts(greeting)) writeLine(io.stdout, printable(line));
  }
  const decide: Decide = async (answer, ask, signal) => {
    if (answer.pauseType === 'TOOL_CALL') {
      const read = await decideInline(io, client, conversationId, ask, signal);
      return read && printRead(io, read, answer);
    }
    const after = await awaitSignIn(client, conversationId, ask, signal);
    return after?.kind === 'said' ? say(after.line, signal) : after && printRead(io, after.read, answer);
  };
  const isOver = await talkAtTerminal(
    io,
    say,
    options.json ? undefined : decide,
    latestQuickReplies(greeting),
  );
  if (isOver) writeLine(io.stderr, 'The conversation is over.');
  else
    writeLine(io.stderr, `Go on later with: npx patchbay chat ${agentId} --conversation ${conversationId}`);
}

type Answer = TalkResult & Partial<Traced>;
type Traced = Pick<OperationOutput<'trace_turn'>, 'steps' | 'error'>;

/** One message: as the operation says, or with a trace. */
function send(
  client: Client,
  options: ChatOptions,
  operation: 'chat_with_agent' | 'talk_to_agent',
  call: { readonly agentId: string; readonly message: string; readonly conversationId: string | undefined },
  { signal, speech }: { readonly signal?: AbortSignal | undefined; readonly speech: Speech },
): Promise<Answer> {
  const listening = { ...(signal && { signal }), ...(speech.hear && { onDelta: speech.hear }) };
  return client
    .call(options.trace ? 'trace_turn' : operation, call as never, listening)
    .catch((error: unknown) => {
      speech.end();
      throw error;
    });
}

/** An answer that is printed while it is given. */
interface Speech {
  /** `undefined` where it is printed as a whole. */
  readonly hear?: (text: string, index: number) => void;
  /** Ends the line. False when nothing was printed. */
  end(): boolean;
}

/** Lines of JSON and traces are printed when all of it is there. */
function speechOf(io: Io, { json, trace }: ChatOptions): Speech {
  if (json || trace) return { end: () => false };
  let bubble: number | undefined;
  return {
    hear(text, index) {
      if (bubble !== undefined && index !== bubble) writeLine(io.stdout);
      bubble = index;
      io.stdout.write(printable(text));
    },
    end() {
      if (bubble !== undefined) writeLine(io.stdout);
      return bubble !== undefined;
    },
  };
}

/** Starts a conversation and answers its id. */
async function begin(io: Io, client: Client, agentId: string, options: ChatOptions): Promise<string> {
  if (!options.trace) return (await client.call('create_conversation', { agentId })).conversationId;
  const started = await client.call('trace_turn', { agentId });
  if (!options.json) printTrace(io, started.steps);
  if (started.conversationId !== undefined) return started.conversationId;
  throw new CliError(EXIT.failed, started.error ?? 'The conversation could not be started.');
}

async function onlyAgent(client: Client): Promise<string> {
  const { agents } = await client.call('discover_agents', {});
  if (agents.length === 1) return agents[0]!.agentId;
  if (agents.length === 0) {
    throw new CliError(
      EXIT.failed,
      'There is no agent to talk to; deploy one with `npx patchbay agents deploy FILE`.',
    );
  }
  const ids = agents.map(agent => agent.agentId).join(', ');
  throw usageError(
    `Name the agent to talk to, for example \`npx patchbay chat ${agents[0]!.agentId}\`; there are: ${ids}.`,
  );
}

/** Standard input that is no terminal: every line is a message, nothing but answers goes to stdout. */
async function talkByLines(io: Io, say: Say): Promise<void> {
  for await (const line of createInterface({ input: io.stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line.trim() !== '') requireProcessed(await say(line));
  }
}

/** Talks until the person or the agent ends it; says whether it was the agent. */
async function talkAtTerminal(
  io: Io,
  say: Say,
  decide: Decide | undefined,
  offered: readonly string[],
): Promise<boolean> {
  const terminal = createInterface({ input: io.stdin, output: io.stdout, terminal: true, prompt: 'you> ' });
  const interrupted = new AbortController();
  terminal.on('SIGINT', () => {
    interrupted.abort();
    terminal.close();
  });
  let isClosed = false;
  terminal.on('close', () => {
    isClosed = true;
  });
  let choices = offered;
  const ask = (): void => {
    // Ctrl-C, or Ctrl-D while the answer was still awaited.
    if (isClosed) return;
    for (const [index, choice] of choices.entries())
      writeLine(io.stdout, `  ${index + 1}) ${printable(choice)}`);
    terminal.prompt();
  };
  /** `undefined` when they leave instead of answering. */
  const question = (text: string, until?: AbortSignal): Promise<string | undefined> =>
    new Promise(resolve => {
      if (isClosed) return resolve(undefined);
      const left = () => resolve(undefined);
      terminal.once('close', left);
      until?.addEventListener('abort', () => {
        terminal.off('close', left);
        left();
      });
      terminal.question(text, until ? { signal: until } : {}, said => {
        terminal.off('close', left);
        resolve(said);
      });
    });
  ask();
  try {
    for await (const line of terminal) {
      if (line.trim() !== '') {
        let answer = await say(chosen(line, choices), interrupted.signal);
        while (decide && (answer.pauseType === 'TOOL_CALL' || answer.pauseType === 'SIGN_IN')) {
          const later = await decide(answer, question, interrupted.signal);
          if (!later) return false;
          answer = later;
        }
        if (answer.status !== 'BUSY') requireProcessed(answer);
        else writeLine(io.stderr, answer.message ?? 'The agent is still busy with another message.');
        if (answer.conversationState === 'ENDED') return true;
        choices = answer.quickReplies ?? [];
      }
      ask();
    }
  } catch (thrown) {
    if (!interrupted.signal.aborted) throw thrown;
  }
  writeLine(io.stdout);
  return false;
}

/**
 * Asks about what an answer waits for and prints what the turn says then. `undefined` when whoever is asked left; an answer that waits again is
 * asked about again.
 */
type Decide = (answer: Answer, ask: AskPerson & AskUntil, signal: AbortSignal) => Promise<Answer | undefined>;

/** What is new in a conversation since that answer, as the answer after it. */
function printRead(
  io: Io,
  read: ConversationSnapshot,
  { agentResponseParts, agentResponse, pauseType }: Answer,
): Answer {
  const texts = latestTexts(read);
  // Where to sign in was said beside what the agent says.
  const heard = (agentResponseParts?.length ?? (agentResponse ? 1 : 0)) - (pauseType === 'SIGN_IN' ? 1 : 0);
  for (const text of texts.slice(heard)) writeLine(io.stdout, printable(text));
  const { conversationState } = read;
  const [failed] = (latestOutput(read)?.taskErrors ?? []) as readonly { readonly message?: string }[];
  if (failed?.message !== undefined) throw new CliError(EXIT.failed, failed.message);
  const { hitlPauseType, hitlPauseReason = '' } = read;
  if (hitlPauseType === 'SIGN_IN') {
    writeLine(io.stdout, printable(hitlPauseReason));
    return { conversationState, agentResponseParts: [...texts, hitlPauseReason], pauseType: 'SIGN_IN' };
  }
  return {
    conversationState,
    agentResponseParts: texts,
    quickReplies: latestQuickReplies(read),
    ...(conversationState === 'AWAITING_HUMAN' && {
      ...{ status: 'PAUSED_FOR_APPROVAL', message: read.hitlPauseReason },
      pauseType: read.hitlPauseType as Answer['pauseType'],
    }),
  };
}

/** A number picks the quick reply of that number, unless a quick reply reads just so. */
function chosen(line: string, choices: readonly string[]): string {
  const typed = line.trim();
  if (choices.includes(typed) || !/^\d{1,3}$/.test(typed)) return line;
  return choices[Number(typed) - 1] ?? line;
}

/** Throws when the message was not processed. */
function requireProcessed({ status, message, error, pauseType, conversationId = '' }: Answer): void {
  if (error !== undefined) throw new CliError(EXIT.failed, error);
  if (pauseType === 'TOOL_CALL') {
    throw new CliError(
      EXIT.failed,
      `${message} See what it is with: npx patchbay approvals show ${conversationId}`,
    );
  }
  if (status !== undefined) {
    throw new CliError(EXIT.failed, message ?? `The message was not processed: ${status}.`);
  }
}

function printAnswer(io: Io, options: ChatOptions, answer: Answer, speech: Speech): void {
  if (options.json) {
    io.stdout.write(`${JSON.stringify(answer)}\n`);
    return;
  }
  printTrace(io, answer.steps ?? []);
  const texts = answer.agentResponseParts?.length ? answer.agentResponseParts : [answer.agentResponse ?? ''];
  if (!speech.end())
    for (const text of texts.filter(text => text !== '')) writeLine(io.stdout, printable(text));
  const isAsked = answer.pauseType === 'TOOL_CALL' || answer.pauseType === 'SIGN_IN';
  if (answer.conversationState === 'AWAITING_HUMAN' && !isAsked) {
    writeLine(io.stderr, 'The conversation waits for a person to decide.');
  }
}

function latestTexts(snapshot: OperationOutput<'read_conversation'>): string[] {
  const output = latestOutput(snapshot)?.output ?? [];
  return output.flatMap(item => (item.text === undefined ? [] : [item.text]));
}

function latestQuickReplies(snapshot: ConversationSnapshot): string[] {
  return (latestOutput(snapshot)?.quickReplies ?? []).map(reply => reply.value);
}

function latestOutput(
  snapshot: ConversationSnapshot,
): NonNullable<ConversationSnapshot['conversationOutputs']>[number] | undefined {
  return snapshot.conversationOutputs?.at(-1);
}
