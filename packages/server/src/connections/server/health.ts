import type { FailureKind } from '../call/outcome.ts';
import { formatServerRef, type ServerDefinition } from './definition.ts';
import type { ServerHealth, ServersRuntime } from './runtime.ts';

/** The health of a server in words. */
export interface ExplainedHealth {
  /** What is the matter, in a sentence. */
  readonly summary: string;
  /** What a person does about it; `undefined` where there is nothing to do. */
  readonly remedy: string | undefined;
}

/** Says why a server is as it is, and what to do about it. */
export function explainHealth(
  runtime: Pick<ServersRuntime, 'health'>,
  definition: ServerDefinition,
): ExplainedHealth {
  const health = runtime.health(definition.ref);
  const name = formatServerRef(definition.ref);
  const { auth } = definition;
  if (auth.kind === 'principal') {
    const used = `${name} is reached by each person with their own credential "${auth.credentialName}"`;
    if (health.state === 'unknown')
      return {
        summary: `${used}, and nobody has connected yet: agents have one tool that starts it.`,
        remedy: undefined,
      };
    if (health.state === 'available')
      return { summary: `${used}, and offers ${counted(health.toolCount)}.`, remedy: undefined };
  }
  switch (health.state) {
    case 'available':
      return { summary: `${name} is connected and offers ${counted(health.toolCount)}.`, remedy: undefined };
    case 'degraded':
      return {
        summary: `${name} is connected and offers ${counted(health.toolCount)}, but not all that is expected of it: ${health.shortcomings.join(' ')}`,
        remedy: 'Update the server, or correct `expect` in its definition.',
      };
    case 'unknown':
      return { summary: `Nothing has connected to ${name} yet.`, remedy: undefined };
    case 'unavailable':
      return explainProblem(health, definition);
  }
}

function explainProblem({ problem }: ServerHealth, definition: ServerDefinition): ExplainedHealth {
  if (!problem) return { summary: `${formatServerRef(definition.ref)} is down.`, remedy: undefined };
  const tries = problem.failures === 1 ? 'one try' : `${problem.failures} tries`;
  return {
    summary: `${formatServerRef(definition.ref)} is down after ${tries}: ${problem.message}`,
    remedy: remedyFor(problem.kind, definition),
  };
}

/** Launchers miss variables that they have in a shell. */
const SEES_LITTLE =
  'It sees HOME, LANG, LC_ALL, LOGNAME, PATH, SHELL, TERM, TMPDIR and USER of the platform and what `env` has, and no other variable.';

function remedyFor(kind: FailureKind, { transport }: ServerDefinition): string {
  const isCommand = transport.kind === 'stdio';
  switch (kind) {
    case 'SERVER_UNAVAILABLE':
      return isCommand
        ? `Run the command by hand on this machine, then correct \`command\`, \`args\` or \`env\`. ${SEES_LITTLE}`
        : 'See whether the server runs and `url` is right. One at a private address needs its host in PATCHBAY_EGRESS_PRIVATE_HOSTS.';
    case 'AUTHENTICATION_FAILED':
      return isCommand
        ? 'Give it a valid credential in `env`.'
        : 'Give it a valid credential in `headers`, for example `authorization`.';
    case 'TIMEOUT':
      return isCommand
        ? 'A command that is fetched first, as by npx, may take longer once: raise `connectTimeout`, or install it beforehand.'
        : 'See whether the server is overloaded, or raise `connectTimeout`.';
    case 'PROTOCOL_ERROR':
    case 'UNSUPPORTED_RESULT':
      return isCommand
        ? 'See whether the command is an MCP server: it must write nothing but MCP messages to standard output.'
        : 'See whether `url` is the endpoint of an MCP server, exactly as its documentation gives it.';
    case 'TRANSPORT_ERROR':
    case 'INTERRUPTED':
      return isCommand
        ? `See why the command ended: what it wrote to standard error is below. ${SEES_LITTLE}`
        : 'See the log of the server; Patchbay tries again by itself.';
    case 'TOOL_NOT_FOUND':
    case 'INVALID_ARGUMENTS':
      return 'Update the server, or see its documentation.';
  }
}

function counted(tools: number): string {
  return tools === 1 ? 'one tool' : `${tools} tools`;
}
