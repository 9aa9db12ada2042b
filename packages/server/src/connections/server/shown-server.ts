import type { CallOutcome } from '../call/outcome.ts';
import type { ServerFacts } from '../session/session.ts';
import { readAnnotations } from '../tool/annotations.ts';
import { exposeTools } from '../tool/exposed-name.ts';
import { governTool } from '../tool/govern-text.ts';
import { digestOf, snapshotOf } from '../tool/pinned-tools.ts';
import type { ServerDefinition } from './definition.ts';
import type { ServerHealth, ServerProblem, ServerTool, ServerToolAnswer } from './runtime.ts';
import { changeLines, type ServerView } from './server-view.ts';

/** How a server is; `view` only where it is up. */
export function healthOf(
  view: ServerView | undefined,
  {
    facts,
    problem,
    stderr,
  }: {
    readonly facts: ServerFacts | undefined;
    readonly problem: ServerProblem | undefined;
    readonly stderr: readonly string[];
  },
): ServerHealth {
  if (!view) {
    const state = problem ? 'unavailable' : 'unknown';
    return { state, toolCount: 0, problem, shortcomings: [], speaks: undefined, stderr };
  }
  const { shortcomings, offered } = view;
  return {
    state: shortcomings.length > 0 ? 'degraded' : 'available',
    toolCount: offered.size,
    problem: undefined,
    shortcomings,
    speaks: facts && {
      name: facts.name ?? '',
      version: facts.version ?? '',
      protocol: facts.protocolVersion,
    },
    stderr,
  };
}

/** All tools of a server, also those that agents do not get, with the reason. */
export function toolsOf(definition: ServerDefinition, view: ServerView): ServerTool[] {
  const { prefix, ref } = definition;
  const names = exposeTools([{ server: ref, prefix, tools: [...view.offered.keys()] }]);
  const offeredAs = new Map([...names.byName].map(([name, { tool }]) => [tool, name]));
  const known = [...view.known.values()].map((tool): ServerTool => {
    const { name, title, description, inputSchema } =
      definition.descriptions === 'governed' ? governTool(tool) : tool;
    const change = view.changes.get(name);
    const standing = view.held.has(name) ? 'held' : view.offered.has(name) ? 'offered' : 'left-out';
    return {
      ...{ name, title, description, inputSchema, standing },
      offeredAs: offeredAs.get(name),
      annotations: readAnnotations(tool) as ServerTool['annotations'],
      reason: standing === 'offered' ? undefined : view.whyNot(name),
      changes: change ? changeLines(change) : [],
      digest: change || standing === 'held' ? digestOf(snapshotOf(tool)) : undefined,
    };
  });
  const quarantined = view.quarantined.map(
    ({ name, reason }): ServerTool => ({
      ...{ name, reason, standing: 'quarantined', offeredAs: undefined, changes: [] },
      digest: undefined,
      ...{ title: undefined, description: undefined, inputSchema: {}, annotations: {} },
    }),
  );
  return [...known, ...quarantined];
}

/** What a call came to, for whoever made it by hand. */
export function answerOf(outcome: CallOutcome): ServerToolAnswer {
  switch (outcome.kind) {
    case 'answered': {
      const { value, ...result } = outcome.result;
      return {
        kind: 'answered',
        ...result,
        structuredContent: typeof value === 'string' ? undefined : value,
      };
    }
    case 'refused':
      return { kind: 'refused', code: outcome.code, message: outcome.message };
    case 'needs-approval':
      return { kind: 'refused', code: 'DENIED', message: outcome.reason };
    case 'needs-sign-in':
      return { kind: 'refused', code: 'SIGN_IN_NEEDED', message: outcome.message };
    case 'failed':
      return { kind: 'failed', failure: outcome.failure, reached: outcome.reached, message: outcome.message };
  }
}
