import { type DocumentRef, formatDocumentUri, parseDocumentUri } from '@patchbay/contract/ids';
import { PlatformError } from '../../kernel/errors.ts';
import { compileStep } from '../deployment/compiled-agent.ts';
import type { AgentDocument } from '../document/agent.ts';
import { type AgentFile, agentOf, contentDocuments, workflowOf } from '../document/agent-file.ts';
import { DOCUMENT_SCHEMAS } from '../document/documents.ts';
import { parseStored } from '../document/parse-document.ts';
import { referencesOf, type WorkflowDocument } from '../document/workflow.ts';
import type { LoadDocument, StepType } from '../step/step.ts';
import type { Finding } from './finding.ts';
import type { LintedAgent, PlacedDocument } from './linted-agent.ts';

/** An agent as far as it can be read, and what is wrong with the rest. */
export interface ReadAgent {
  readonly agent: LintedAgent;
  readonly findings: readonly Finding[];
  /** Of every document that was read. */
  readonly bodies: readonly unknown[];
}

/** Reads what an agent is made of and compiles its steps, as a deployment does, and goes on after a mistake. */
export async function readAgent(
  { id, body }: { readonly id: string; readonly body: AgentDocument },
  load: LoadDocument,
  stepTypes: readonly StepType[],
): Promise<ReadAgent> {
  const findings: Finding[] = [];
  const documents = new Map<string, PlacedDocument>();
  const bodies: unknown[] = [body];
  let step = 0;

  /** The parsed body; what is missing or wrong is told once. */
  async function read(ref: DocumentRef, place: string): Promise<unknown> {
    try {
      const parsed = parseStored(DOCUMENT_SCHEMAS[ref.type], await load(ref));
      bodies.push(parsed);
      return parsed;
    } catch (thrown) {
      findings.push(findingOf(thrown, place));
      return undefined;
    }
  }

  async function readStep(written: WorkflowDocument['workflowSteps'][number], place: string): Promise<void> {
    let isWhole = true;
    for (const ref of referencesOf(written)) {
      const uri = formatDocumentUri(ref);
      const known = documents.get(uri);
      const found = known?.body ?? (await read(ref, place));
      if (found === undefined) isWhole = false;
      else
        documents.set(uri, {
          ref,
          first: known?.first ?? step,
          last: step,
          body: found as PlacedDocument['body'],
        });
    }
    if (!isWhole) return;
    await compileStep(written, { load }, stepTypes, place).catch(thrown => {
      findings.push(findingOf(thrown, place));
    });
  }

  if (body.workflows.length === 0) {
    const says = 'It has no workflow, so it does nothing.';
    findings.push({
      severity: 'error',
      code: 'does-not-compile',
      place: `agent ${id}`,
      says,
      mend: 'Name one in "workflows".',
    });
  }
  for (const uri of body.workflows) {
    // Agent documents keep references in our form.
    const ref = parseDocumentUri(uri)!;
    const workflow = (await read(ref, `agent ${id}`)) as WorkflowDocument | undefined;
    for (const [index, written] of workflow?.workflowSteps.entries() ?? []) {
      await readStep(written, `workflow ${ref.id}, step ${index + 1} (${written.type})`);
      step += 1;
    }
  }
  return { agent: { documents: [...documents.values()] }, findings, bodies };
}

function findingOf(thrown: unknown, place: string): Finding {
  if (!(thrown instanceof PlatformError)) throw thrown;
  const says = thrown.message.startsWith(`${place}: `)
    ? thrown.message.slice(place.length + 2)
    : thrown.message;
  return thrown.kind === 'not_found' || thrown.kind === 'agent_not_found'
    ? {
        severity: 'error',
        code: 'unknown-reference',
        place,
        says,
        mend: 'Name a document that is there, in a version it has.',
      }
    : {
        severity: 'error',
        code: 'does-not-compile',
        place,
        says,
        mend: 'Correct the document; until then the agent cannot be deployed.',
      };
}

/** The documents of an agent file as they would be saved the first time. */
export function documentsOfFile(file: AgentFile): {
  readonly body: AgentDocument;
  readonly load: LoadDocument;
} {
  const contents = contentDocuments(file);
  const bodies = new Map<string, unknown>(contents.map(({ type, body }) => [type, body]));
  bodies.set(
    'workflow',
    workflowOf(file, () => 1),
  );
  return {
    body: agentOf(file, 1),
    load: async ref => {
      const found = ref.id === file.agent && ref.version === 1 ? bodies.get(ref.type) : undefined;
      if (found === undefined)
        throw new PlatformError('not_found', `${formatDocumentUri(ref)} is not there.`);
      return found;
    },
  };
}
