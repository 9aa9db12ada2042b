import type { OperationOutput } from '@patchbay/contract/client';
import type { Command } from 'commander';
import { CliError, EXIT } from '../cli-error.ts';
import { connect } from '../connection.ts';
import type { Io } from '../io.ts';
import { addSharedOptions, type SharedOptions, sharedOptions } from '../shared-options.ts';
import { printable, table, writeJson, writeLine } from '../text.ts';

interface VerifyOptions extends SharedOptions {
  readonly conversation?: string;
}

type Part = OperationOutput<'verify_audit'>;
type Verified = Pick<Part, 'intact' | 'chains' | 'entries' | 'breaks'>;

export function addAudit(program: Command, io: Io): void {
  const audit = program
    .command('audit')
    .description('look at the audit trail')
    .addHelpText(
      'after',
      `
Examples:
  npx patchbay audit verify                            is the whole trail what was written?
  npx patchbay audit verify --conversation conv_abc    one conversation alone
  npx patchbay audit events                            who changed what`,
    );

  addSharedOptions(audit.command('verify'))
    .description('find out whether somebody changed, removed, moved or added entries; exits 1 if so')
    .option('--conversation <id>', 'only this conversation')
    .addHelpText('after', '\nExample:\n  npx patchbay audit verify')
    .action(async (_: unknown, command: Command) => verify(io, sharedOptions(command) as VerifyOptions));

  addSharedOptions(audit.command('events'))
    .description('who changed what on the platform, and who was refused, newest first')
    .addHelpText('after', '\nExample:\n  npx patchbay audit events')
    .action(async (_: unknown, command: Command) => events(io, sharedOptions(command)));
}

async function verify(io: Io, options: VerifyOptions): Promise<void> {
  const { client } = await connect(io, options);
  let verified: Verified = { intact: true, chains: 0, entries: 0, breaks: [] };
  let after: string | undefined;
  do {
    const part = await client.call('verify_audit', { conversationId: options.conversation, after });
    verified = together(verified, part);
    after = part.next;
    if (after !== undefined) writeLine(io.stderr, `${said(verified)} so far`);
  } while (after !== undefined);

  if (options.json) writeJson(io.stdout, verified);
  else {
    for (const { chain, seq, entryId, reason, message } of verified.breaks) {
      const where = `${chain} ${seq}${entryId === undefined ? '' : ` (${entryId})`}`;
      writeLine(io.stdout, printable(`${where}: ${reason}. ${message}`));
    }
    if (verified.intact) writeLine(io.stdout, `The audit trail is intact: ${said(verified)}.`);
  }
  if (!verified.intact) {
    const broken = verified.breaks.length;
    throw new CliError(
      EXIT.failed,
      `The audit trail is broken in ${broken} ${broken === 1 ? 'chain' : 'chains'}: ${said(verified)}.`,
    );
  }
}

function together(before: Verified, part: Part): Verified {
  return {
    intact: before.intact && part.intact,
    chains: before.chains + part.chains,
    entries: before.entries + part.entries,
    breaks: [...before.breaks, ...part.breaks],
  };
}

function said({ entries, chains }: Verified): string {
  return `${entries} entries of ${chains} chains are as they were written`;
}

async function events(io: Io, options: SharedOptions): Promise<void> {
  const { client } = await connect(io, options);
  const answer = await client.call('list_audit_events', {});
  if (options.json) return writeJson(io.stdout, answer);
  const rows = answer.events.map(({ seq, timestamp, userId, via, operation, outcome, subject }) => [
    String(seq),
    new Date(timestamp).toISOString(),
    userId,
    via,
    operation,
    outcome,
    Object.entries(subject)
      .map(([name, value]) => `${name}=${value}`)
      .join(' '),
  ]);
  writeLine(io.stdout, table([['PLACE', 'TIME', 'WHO', 'VIA', 'OPERATION', 'OUTCOME', 'ABOUT'], ...rows]));
}
