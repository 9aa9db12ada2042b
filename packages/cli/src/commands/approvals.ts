import type { Command } from 'commander';
import { conversationIn } from '../agent-place.ts';
import { connect } from '../connection.ts';
import type { Io } from '../io.ts';
import { addSharedOptions, type SharedOptions, sharedOptions } from '../shared-options.ts';
import { printable, table, writeJson, writeLine } from '../text.ts';

interface DecideOptions extends SharedOptions {
  readonly note?: string;
  readonly pause?: string;
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

  addDecision(approvals, io, 'approve', 'let the turn of a conversation go on');
  addDecision(approvals, io, 'reject', 'skip the rest of the turn; the agent says the note');

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

function addDecision(approvals: Command, io: Io, verb: Verb, description: string): void {
  addSharedOptions(approvals.command(verb))
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
    approval.pauseReason,
  ]);
  writeLine(io.stdout, table([['CONVERSATION', 'AGENT', 'SINCE (UTC)', 'THEN', 'REASON'], ...rows]));
}

async function show(io: Io, conversationId: string, options: SharedOptions): Promise<void> {
  const { client } = await connect(io, options);
  const status = await client.call('get_approval_status', { conversationId, detail: 'full' });
  if (options.json) return writeJson(io.stdout, status);
  const { state, pauseId, pausedAt, pauseReason, conversation } = status;
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
  writeLine(io.stderr, `Decide with: npx patchbay approvals approve ${conversationId}, or reject`);
}

async function decide(io: Io, conversationId: string, verb: Verb, options: DecideOptions): Promise<void> {
  const { client } = await connect(io, options);
  const { note, pause: pauseId } = options;
  const verdict = VERDICTS[verb];
  const answer = await client.call('resume_conversation', { conversationId, verdict, note, pauseId });
  if (options.json) return writeJson(io.stdout, answer);
  writeLine(io.stdout, printable(`${answer.verdict} ${conversationId}.`));
  writeLine(
    io.stderr,
    `The turn goes on by itself; see its answer with: npx patchbay call read_conversation --arg conversationId=${conversationId}`,
  );
}

/** What happens when nobody decides. */
function afterwards({ timeoutPolicy, approvalTimeout }: { timeoutPolicy: string; approvalTimeout: string }) {
  return approvalTimeout === '' ? 'waits' : `${timeoutPolicy} after ${approvalTimeout}`;
}

function time(at: number): string {
  return new Date(at).toISOString().slice(0, 16).replace('T', ' ');
}
