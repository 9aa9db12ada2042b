import { Command, CommanderError } from 'commander';
import { EXIT, toCliError } from './cli-error.ts';
import { addAgents } from './commands/agents.ts';
import { addApprovals } from './commands/approvals.ts';
import { addAudit } from './commands/audit.ts';
import { addCall } from './commands/call.ts';
import { addChat } from './commands/chat.ts';
import { addConnect } from './commands/connect.ts';
import { addCredentials } from './commands/credentials.ts';
import { addDoctor } from './commands/doctor.ts';
import { addExport } from './commands/export.ts';
import { addGrants } from './commands/grants.ts';
import { addImport } from './commands/import.ts';
import { addKeys } from './commands/keys.ts';
import { addLogs } from './commands/logs.ts';
import { addSecrets } from './commands/secrets.ts';
import { addServers } from './commands/servers.ts';
import { addSignIn } from './commands/sign-in.ts';
import { addStdio } from './commands/stdio.ts';
import { addUp } from './commands/up.ts';
import { addUsers } from './commands/users.ts';
import { addVars } from './commands/vars.ts';
import type { Io } from './io.ts';
import { addSharedOptions } from './shared-options.ts';
import { writeLine } from './text.ts';

/** Runs one command line and gives the exit code. Whatever goes wrong becomes one sentence on stderr. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  try {
    await buildProgram(io).parseAsync(argv.length === 0 ? ['--help'] : argv, { from: 'user' });
    return EXIT.ok;
  } catch (thrown) {
    // Commander has already written its help or its sentence.
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? EXIT.ok : EXIT.usage;
    const error = toCliError(thrown);
    writeLine(io.stderr, `patchbay: ${error.message}`);
    return error.exitCode;
  }
}

function buildProgram(io: Io): Command {
  const program = new Command('patchbay')
    .description(
      "A two-way MCP platform: every agent is an MCP server, and every MCP server is an agent's tool.",
    )
    .exitOverride()
    // So `call` can have a --json of its own.
    .enablePositionalOptions()
    .configureOutput({
      writeOut: text => io.stdout.write(text),
      writeErr: text => io.stderr.write(text),
      outputError: (text, write) => write(text.replace(/^error: /, 'patchbay: ')),
    })
    .addHelpText(
      'after',
      `
Examples:
  npx patchbay up                                  start the platform
  npx patchbay chat demo                           talk to an agent
  npx patchbay connect claude-code                 let an MCP host in
  npx patchbay agents deploy my-agent.yaml         deploy an agent
  npx patchbay export demo --file demo.yaml        carry an agent to another platform
  KEY=$(npx patchbay keys create)                  make a key
  npx patchbay users add anna --role editor        let somebody sign in
  npx patchbay sign-in                             sign in in a browser
  npx patchbay servers add files -- npx -y @modelcontextprotocol/server-filesystem /srv/files
                                                   give agents the tools of an MCP server
  npx patchbay secrets set crm-key                 store what agents need and nobody may read
  npx patchbay approvals list                      what waits for a person
  npx patchbay call discover_agents                call any operation
  npx patchbay doctor                              say what is wrong

Commands talk to the platform of this machine as its owner. PATCHBAY_URL and PATCHBAY_KEY reach another one.

Exit codes: 0 ok, 1 failed, 2 wrong command line, 3 not allowed, 4 platform not reachable.`,
    );
  addSharedOptions(program);
  addUp(program, io);
  addChat(program, io);
  addConnect(program, io);
  addAgents(program, io);
  addApprovals(program, io);
  addExport(program, io);
  addImport(program, io);
  addKeys(program, io);
  addGrants(program, io);
  addUsers(program, io);
  addSignIn(program, io);
  addServers(program, io);
  addSecrets(program, io);
  addCredentials(program, io);
  addVars(program, io);
  addCall(program, io);
  addLogs(program, io);
  addAudit(program, io);
  addDoctor(program, io);
  addStdio(program, io);
  return program;
}
