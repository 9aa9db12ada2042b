import type { OperationOutput } from '@patchbay/contract/client';
import { parseRole } from '@patchbay/contract/roles';
import type { Command } from 'commander';
import { type NamedAgent, namedAgent } from '../agent-place.ts';
import { connect } from '../connection.ts';
import type { Io } from '../io.ts';
import { addSharedOptions, type SharedOptions, sharedOptions } from '../shared-options.ts';
import { day, table, writeJson, writeLine } from '../text.ts';

type Shares = OperationOutput<'list_agent_shares'>;

interface ShareOptions extends SharedOptions {
  readonly with?: string;
}

/** Below `agents`. */
export function addShare(agents: Command, io: Io): void {
  addSharedOptions(agents.command('share'))
    .description('let others use an agent, or show who may')
    .argument('<id>', 'id of the agent', namedAgent)
    .option(
      '--with <who>',
      'user:LOGIN, a role as patchbay-user, or everyone who is signed in; default: show',
    )
    .addHelpText(
      'after',
      `
Who may use an agent talks to it, each in conversations of their own, and sees nothing of what it is made of.

Examples:
  npx patchbay agents share demo
  npx patchbay agents share demo --with user:bob
  npx patchbay agents share demo --with patchbay-user
  npx patchbay agents share demo --with everyone`,
    )
    .action(async ({ agentId }: NamedAgent, _: unknown, command: Command) => {
      const options = sharedOptions(command) as ShareOptions;
      const { client } = await connect(io, options);
      const shares =
        options.with === undefined
          ? await client.call('list_agent_shares', { agentId })
          : await client.call('share_agent', { agentId, with: grantee(options.with) });
      show(io, options, shares);
    });

  addSharedOptions(agents.command('unshare'))
    .description('let others use an agent no longer, at once')
    .argument('<id>', 'id of the agent', namedAgent)
    .requiredOption('--with <who>', 'as agents share shows it')
    .addHelpText('after', '\nExample:\n  npx patchbay agents unshare demo --with everyone')
    .action(async ({ agentId }: NamedAgent, _: unknown, command: Command) => {
      const options = sharedOptions(command) as Required<Pick<ShareOptions, 'with'>> & SharedOptions;
      const { client } = await connect(io, options);
      show(io, options, await client.call('unshare_agent', { agentId, with: grantee(options.with) }));
    });
}

/** A role needs no `role:` in front of it. */
function grantee(who: string): string {
  return parseRole(who) ? `role:${who}` : who;
}

function show(io: Io, options: SharedOptions, answer: Shares): void {
  const { agentId, shares } = answer;
  const rows = shares.map(share => [share.with, share.name ?? '', day(share.createdOn)]);
  if (options.json) writeJson(io.stdout, answer);
  else if (shares.length === 0) writeLine(io.stderr, `${agentId} is shared with nobody.`);
  else writeLine(io.stdout, table([['WITH', 'NAME', 'SINCE'], ...rows]));
}
