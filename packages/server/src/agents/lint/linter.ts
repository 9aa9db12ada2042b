// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${vault:key} are the product's own syntax
import type { ServerRef } from '../../connections/server/definition.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { References, ReferredNames } from '../../secrets/references.ts';
import type { Store } from '../../store/store.ts';
import type { Catalogue } from '../deployment/catalogue.ts';
import { loadFor } from '../deployment/reach.ts';
import { agentDocument } from '../document/agent.ts';
import { parseAgentFile } from '../document/agent-file.ts';
import { parseStored } from '../document/parse-document.ts';
import { readServerName, registeredServer } from '../document/registered-server.ts';
import type { StepType } from '../step/step.ts';
import { type Finding, quoted, warning } from './finding.ts';
import { lintAgent } from './lint-agent.ts';
import { documentsOf, type LintedAgent, placeIn } from './linted-agent.ts';
import { documentsOfFile, type ReadAgent, readAgent } from './read-agent.ts';

/** An agent, by its file or by its id. */
export type LintRequest =
  | { readonly file: unknown }
  | { readonly agentId: string; readonly version?: number | undefined };

export interface Linted {
  readonly agentId: string;
  /** What is wrong first, each once. */
  readonly findings: readonly Finding[];
}

/**
 * Looks at an agent without running it: the same documents give the same findings as a file and as a saved agent. Rejects with a
 * `PlatformError`: `invalid` for a file that is not right, and for an id as `Catalogue.getConfiguration` does.
 */
export type Lint = (principal: Principal, request: LintRequest) => Promise<Linted>;

export function createLint(deps: {
  readonly store: Store;
  readonly catalogue: Catalogue;
  readonly stepTypes: readonly StepType[];
  readonly references: Pick<References, 'namesIn'>;
  readonly isRegistered: (server: ServerRef) => boolean;
}): Lint {
  const { store, catalogue, stepTypes, references, isRegistered } = deps;

  async function read(
    principal: Principal,
    request: LintRequest,
  ): Promise<ReadAgent & Pick<Linted, 'agentId'>> {
    if ('file' in request) return readFile(request.file, stepTypes);
    const { document } = await catalogue.getConfiguration(principal, request);
    const agent = { id: document.id, body: parseStored(agentDocument, document.body) };
    return { agentId: document.id, ...(await readAgent(agent, loadFor(store.db, principal), stepTypes)) };
  }

  return async (principal, request) => {
    const found = await read(principal, request);
    const names = await references.namesIn(found.bodies);
    const more = [...undefinedNames(names), ...unknownServers(found.agent, isRegistered)];
    return { agentId: found.agentId, findings: await together(found, more) };
  };
}

/** A file by itself, where no platform says which secrets, variables and servers there are. */
export async function lintFile(file: unknown, stepTypes: readonly StepType[]): Promise<Linted> {
  const found = await readFile(file, stepTypes);
  return { agentId: found.agentId, findings: await together(found, []) };
}

async function readFile(
  raw: unknown,
  stepTypes: readonly StepType[],
): Promise<ReadAgent & Pick<Linted, 'agentId'>> {
  const file = parseAgentFile(raw);
  const { body, load } = documentsOfFile(file);
  return { agentId: file.agent, ...(await readAgent({ id: file.agent, body }, load, stepTypes)) };
}

async function together({ agent, findings }: ReadAgent, more: readonly Finding[]): Promise<Finding[]> {
  const all = [...findings, ...(await lintAgent(agent)), ...more];
  const once = new Map(all.map(finding => [JSON.stringify(finding), finding]));
  return [...once.values()].toSorted(
    (a, b) => Number(a.severity > b.severity) - Number(a.severity < b.severity),
  );
}

function* undefinedNames({ secrets, variables }: ReferredNames): Generator<Finding> {
  for (const { name, isThere } of secrets) {
    if (isThere) continue;
    yield warning({
      code: 'unknown-secret',
      place: `\${vault:${name}}`,
      says: 'There is no secret of that name on this platform.',
      mend: `Store it: npx patchbay secrets set ${name}.`,
    });
  }
  for (const { name, isThere } of variables) {
    if (isThere) continue;
    yield warning({
      code: 'unknown-variable',
      place: `\${vars:${name}}`,
      says: 'There is no variable of that name on this platform.',
      mend: `Set it: npx patchbay vars set ${name}.`,
    });
  }
}

function* unknownServers(
  agent: LintedAgent,
  isRegistered: (server: ServerRef) => boolean,
): Generator<Finding> {
  for (const document of documentsOf(agent, 'mcpcalls')) {
    const server = registeredServer(document.body)?.ref;
    if (!server || isRegistered(server)) continue;
    yield unknownServer(server, placeIn(document), 'its calls come to nothing');
  }
  for (const document of documentsOf(agent, 'llm')) {
    for (const { id, mcpServers } of document.body.tasks) {
      for (const server of mcpServers.map(name => readServerName(name)!)) {
        if (isRegistered(server)) continue;
        yield unknownServer(
          server,
          placeIn(document, `task ${quoted(id)}`),
          'the model has none of its tools',
        );
      }
    }
  }
}

function unknownServer({ scope, name }: ServerRef, place: string, so: string): Finding {
  const ofInstance = scope === 'default' ? '' : ` --instance ${scope}`;
  return warning({
    code: 'unknown-server',
    place,
    says: `There is no MCP server ${scope}/${name} on this platform, so ${so}.`,
    mend: `Add it: npx patchbay servers add ${name}${ofInstance}, with its command or address.`,
  });
}
