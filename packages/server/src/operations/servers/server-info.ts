import { formatServerRef } from '../../connections/server/definition.ts';
import { explainHealth } from '../../connections/server/health.ts';
import { shownOptions } from '../../connections/server/options-of.ts';
import type { RegisteredServer, UnusableServer } from '../../connections/server/registry.ts';
import type { ServersRuntime, ServerTool } from '../../connections/server/runtime.ts';
import { redactText } from '../../kernel/redact.ts';
import type { OperationOutput } from '../bind.ts';

/** Tools that need a look, of those of a server. */
const MAX_ATTENTION = 100;

type Summary = OperationOutput<'list_servers'>['servers'][number];

/** How a server is, in a row of a list. */
export function serverSummary(found: RegisteredServer | UnusableServer, runtime: ServersRuntime): Summary {
  if (!('definition' in found)) {
    const { ref, reason } = found;
    return {
      ...{ server: formatServerRef(ref), instance: ref.scope, name: ref.name, source: 'added' },
      ...{ transport: 'unknown', state: 'unavailable', toolCount: 0, problem: reason },
    };
  }
  const { definition, stored } = found;
  const { ref, transport } = definition;
  const { state, toolCount, problem, shortcomings } = runtime.health(ref);
  const says = problem?.message ?? (shortcomings.length > 0 ? shortcomings.join(' ') : undefined);
  return {
    server: formatServerRef(ref),
    instance: ref.scope,
    name: ref.name,
    source: stored ? 'added' : 'configuration',
    transport: transport.kind,
    state,
    toolCount,
    ...(says !== undefined && { problem: redactText(says) }),
  };
}

/** All that may be shown of a server. */
export function serverDetails(
  found: RegisteredServer | UnusableServer,
  runtime: ServersRuntime,
): OperationOutput<'read_server'> {
  const { stored } = found;
  const from = stored && {
    addedBy: stored.createdBy,
    addedOn: stored.createdAt,
    changedOn: stored.updatedAt,
  };
  if (!('definition' in found)) {
    return {
      ...serverSummary(found, runtime),
      ...from,
      ...{ options: {}, says: found.reason, attention: [], stderr: [] },
      remedy: `Remove it with \`npx patchbay servers remove ${found.ref.name}\`, or add it again as it should be.`,
    };
  }
  const { definition } = found;
  const { ref } = definition;
  const { summary, remedy } = explainHealth(runtime, definition);
  const { problem, speaks, stderr } = runtime.health(ref);
  const attention = runtime
    .tools(ref)
    .filter(
      ({ standing, changes }) => standing === 'held' || standing === 'quarantined' || changes.length > 0,
    );
  return {
    ...serverSummary(found, runtime),
    ...from,
    options: shownOptions(definition),
    says: redactText(summary),
    ...(remedy !== undefined && { remedy }),
    ...(problem?.retryAt !== undefined && { retryOn: problem.retryAt }),
    ...(speaks && { speaks: { ...speaks } }),
    attention: attention.slice(0, MAX_ATTENTION).map(toolInfo),
    stderr: stderr.map(redactText),
  };
}

/** What may be said of a tool without its schema. */
export function toolInfo({ name, offeredAs, standing, reason, changes, digest }: ServerTool) {
  return {
    ...{ name, standing, changes: [...changes] },
    ...(offeredAs !== undefined && { offeredAs }),
    ...(reason !== undefined && { reason }),
    ...(digest !== undefined && { digest }),
  };
}
