import type { Command } from 'commander';
import { conversationIn } from '../agent-place.ts';
import { usageError } from '../cli-error.ts';
import { connect } from '../connection.ts';
import type { Io } from '../io.ts';
import { pendingCallText } from '../pending-calls.ts';
import { addSharedOptions, type SharedOptions, sharedOptions } from '../shared-options.ts';
import { printable, table, writeJson, writeLine } from '../text.ts';

interface DecideOptions extends SharedOptions {
  readonly note?: string;
  readonly pause?: string;
  readonly reject?: readonly string[];
  readonly amend?: readonly string[];
}

const VERDICTS = { approve: 'APPROVED', reject: 'REJECTED' } as const;
type Verb = keyof typeof VERDICTS;

export function addApprovals(program: Command, io: Io): void {
  const approvals = program
    .command('approvals')
    .description('decide about turns that wait for a person')
    .addHelpText(
      'after',
      `
Examples:
  npx patchbay approvals list
  npx patchbay approvals show conv_...
  npx patchbay approvals approve conv_... --note 'Paid by invoice'
  npx patchbay approvals approve conv_... --reject 0.1 --amend '0.0={"path":"/tmp/draft"}'
  npx patchbay approvals reject conv_... --note 'Too much, ask again next month'
  npx patchbay approvals cancel conv_...`,
    );

  addSharedOptions(approvals.command('list'))
    .description('list what waits, longest first')
    .addHelpText('after', '\nExample:\n  npx patchbay approvals list')
    .action(async (_: unknown, command: Command) => list(io, sharedOptions(command)));

  addSharedOptions(approvals.command('show'))
    .description('show what a conversation waits for, and what was said last')
    .argument('<conversation>', 'id of the conversation', conversationIn)
    .addHelpText('after', '\nExample:\n  npx patchbay approvals show conv_...')
    .action(async (id: string, _: unknown, command: Command) => show(io, id, sharedOptions(command)));

  addDecision(approvals, io, 'approve', 'let the turn of a conversation go on, with all calls that wait')
    .option('--reject <call...>', 'but not with this call; `show` prints the calls')
    .option('--amend <call=json...>', 'send these arguments in place of those that were asked about');
  addDecision(approvals, io, 'reject', 'skip the rest of the turn, or make none of the calls that wait');

  addSharedOptions(approvals.command('cancel'))
    .description('end a turn that waits or runs; a conversation whose wait is cancelled is over')
    .argument('<conversation>', 'id of the conversation', conversationIn)
    .addHelpText('after', '\nExample:\n  npx patchbay approvals cancel conv_...')
    .action(async (conversationId: string, _: unknown, command: Command) => {
      const options = sharedOptions(command);
      const { client } = await connect(io, options);
      const answer = await client.call('cancel_conversation', { conversationId });
      if (options.json) writeJson(io.stdout, answer);
      else writeLine(io.stdout, `Cancelled ${conversationId}.`);
    });
}

function addDecision(approvals: Command, io: Io, verb: Verb, description: string): Command {
  return addSharedOptions(approvals.command(verb))
    .description(description)
    .argument('<conversation>', 'id of the conversation', conversationIn)
    .option('--note <text>', 'why; templates and rules of the agent may use it')
    .option('--pause <id>', 'only while it waits for this; `show` prints the id')
    .addHelpText('after', `\nExample:\n  npx patchbay approvals ${verb} conv_... --note 'As agreed'`)
    .action(async (id: string, _: unknown, command: Command) =>
      decide(io, id, verb, sharedOptions(command) as DecideOptions),
    );
}

async function list(io: Io, options: SharedOptions): Promise<void> {
  const { client } = await connect(io, options);
  const answer = await client.call('list_pending_approvals', { limit: '1000' });
  if (options.json) return writeJson(io.stdout, answer);
  if (answer.approvals.length === 0) return writeLine(io.stderr, 'Nothing waits for an approval.');
  const rows = answer.approvals.map(approval => [
    approval.conversationId,
    approval.agentId,
    time(approval.pausedAt),
    afterwards(approval),
    [approval.pauseReason, ...(approval.toolNames ? [`(${approval.toolNames.join(', ')})`] : [])].join(' '),
  ]);
  writeLine(io.stdout, table([['CONVERSATION', 'AGENT', 'SINCE (UTC)', 'THEN', 'REASON'], ...rows]));
}

async function show(io: Io, conversationId: string, options: SharedOptions): Promise<void> {
  const { client } = await connect(io, options);
  const status = await client.call('get_approval_status', { conversationId, detail: 'full' });
  if (options.json) return writeJson(io.stdout, status);
  const { state, pauseId, pausedAt, pauseReason, conversation, pendingToolCalls = [] } = status;
  if (pausedAt === '') return writeLine(io.stdout, `${conversationId} waits for nobody; it is ${state}.`);
  const last = conversation?.conversationOutputs?.at(-1);
  const said = (last?.output ?? []).flatMap(item => item.text ?? []);
  const rows = [
    ['conversation', conversationId],
    ['agent', conversation?.agentId ?? ''],
    ['person', conversation?.userId ?? ''],
    ['since', `${time(pausedAt)} UTC`],
    ['reason', pauseReason],
    ['then', afterwards(status)],
    ['pause', pauseId],
    ['was asked', last?.input ?? ''],
    ['has said', said.join(' ')],
  ].filter(([, value]) => value !== '');
  writeLine(io.stdout, table(rows as string[][]));
  for (const call of pendingToolCalls) writeLine(io.stdout, `\n${pendingCallText(call)}`);
  writeLine(io.stderr, `Decide with: npx patchbay approvals approve ${conversationId}, or reject`);
}

async function decide(io: Io, conversationId: string, verb: Verb, options: DecideOptions): Promise<void> {
  const { client } = await connect(io, options);
  const { note, pause: pauseId } = options;
  const verdict = VERDICTS[verb];
  const toolDecisions = toolDecisionsIn(options);
  const call = { conversationId, verdict, note, pauseId, toolDecisions };
  const answer = await client.call('resume_conversation', call);
  if (options.json) return writeJson(io.stdout, answer);
  writeLine(io.stdout, printable(`${answer.verdict} ${conversationId}.`));
  writeLine(
    io.stderr,
    `The turn goes on by itself; see its answer with: npx patchbay call read_conversation --arg conversationId=${conversationId}`,
  );
}

/** What is said of single calls. */
function toolDecisionsIn({ reject = [], amend = [] }: DecideOptions) {
  const rejected = reject.map(callId => [callId, { verdict: 'REJECTED' }] as const);
  const amended = amend.map(text => {
    const split = text.indexOf('=');
    if (split < 1) throw usageError(`--amend takes call=json, not '${text}'.`);
    const amendedArguments = objectIn(text.slice(split + 1));
    return [text.slice(0, split), { verdict: 'APPROVED', amendedArguments }] as const;
  });
  const both = reject.find(callId => amended.some(([other]) => other === callId));
  if (both !== undefined) throw usageError(`The call ${both} is either rejected or amended.`);
  const decisions = [...rejected, ...amended];
  return decisions.length > 0 ? Object.fromEntries(decisions) : undefined;
}

function objectIn(json: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {
    // Falls to the sentence below, as JSON that is no object.
  }
  throw usageError(`--amend takes the arguments as one JSON object, such as '0.0={"path":"/tmp"}'.`);
}

/** What happens when nobody decides. */
function afterwards({ timeoutPolicy, approvalTimeout }: { timeoutPolicy: string; approvalTimeout: string }) {
  return approvalTimeout === '' ? 'waits' : `${timeoutPolicy} after ${approvalTimeout}`;
}

function time(at: number): string {
  return new Date(at).toISOString().slice(0, 16).replace('T', ' ');
}
