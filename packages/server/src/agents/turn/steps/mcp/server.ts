import { MCPCALLS_SCOPE } from '../../../../connections/call/outbound-calls.ts';
import type { ServerDefinition } from '../../../../connections/server/definition.ts';
import { definitionOfMcpcalls, type ReadMcpcalls } from '../../../../connections/server/from-mcpcalls.ts';
import type { McpcallsDocument } from '../../../document/mcpcalls.ts';
import { registeredServer } from '../../../document/registered-server.ts';
import type { StepTools } from '../../../step/step.ts';
import { compileForCheck } from '../http/request-template.ts';
import type { CallError } from './call.ts';

/** The server of an mcpcalls document as it is now, or why there is none. */
export type McpcallsServer = (
  tools: Pick<StepTools, 'mcp' | 'references' | 'conversation'>,
) => ServerDefinition | CallError;

/** Throws a `PlatformError` of kind `invalid` for a server that could never be called. */
export function mcpcallsServer(document: McpcallsDocument): McpcallsServer {
  const registered = registeredServer(document);
  if (!registered) literalServer(document, { compile: compileForCheck });
  let literal: ServerDefinition | undefined;
  let isMissing = false;
  return ({ mcp, references, conversation: { agentId } }) => {
    if (!registered) {
      if (literal) return literal;
      const { definition, warnings } = literalServer(document, references);
      for (const warning of warnings) mcp.warn(warning, agentId);
      literal = definition;
      return literal;
    }
    const definition = mcp.registered(registered.ref);
    if (definition) {
      isMissing = false;
      return registered.narrow(definition);
    }
    const { scope, name } = registered.ref;
    const ofInstance = scope === 'default' ? '' : ` --instance ${scope}`;
    // Once, and not again with each turn.
    if (!isMissing)
      mcp.warn(`The agent is to call tools of the server ${scope}/${name}, which is not registered`, agentId);
    isMissing = true;
    return {
      code: 'SERVER_UNAVAILABLE',
      message: `there is no server ${scope}/${name}; it is added with \`npx patchbay servers add ${name}${ofInstance}\``,
      sent: false,
    };
  };
}

function literalServer(
  document: McpcallsDocument,
  texts: Pick<StepTools['references'], 'compile'>,
): ReadMcpcalls {
  return definitionOfMcpcalls(document, { scope: MCPCALLS_SCOPE, when: 'loading', texts });
}
