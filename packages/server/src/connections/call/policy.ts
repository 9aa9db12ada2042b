import { needsApproval, readAnnotations } from '../tool/annotations.ts';
import { type CallStep, refuse } from './outbound-call.ts';

/**
 * Ensures that no rule makes a call that a person must approve: a rule has nobody to ask and nothing to resume, so it is refused (EX-12). A person who
 * calls by hand has approved it.
 */
export const policyStep: CallStep = {
  name: 'policy',
  run({ call, tool, onlyReads = readAnnotations(tool!).readOnly }) {
    if (call.driver === 'person' || !needsApproval(call.server.gated, { readOnly: onlyReads }))
      return undefined;
    return refuse(
      'DENIED',
      `DENIED: a person must approve calls of "${call.tool}", which does not say that it only reads or did not when it was accepted, and a rule cannot wait for one; "gated": false in the definition of the server lets rules call it`,
    );
  },
};
