import { decidedOverMcp } from '../../agents/pause/asked-pauses.ts';
import type { Decider } from '../../agents/pause/pauses.ts';
import { PlatformError } from '../../kernel/errors.ts';
import type { OperationCall } from '../bind.ts';

/** May decisions be made over MCP? The rest of the platform does not ask. */
export interface ApprovalSettings {
  readonly mutationsOverMcp: boolean;
}

/** Who decides, from the call and never from an argument (E-30). Throws `disabled` where the switch is off (E-31). */
export function deciderOf({ principal, door }: OperationCall, settings: ApprovalSettings): Decider {
  if (door !== 'mcp') return { principal, decidedBy: principal.id };
  if (!settings.mutationsOverMcp) {
    throw new PlatformError(
      'disabled',
      'Approvals cannot be decided over MCP here: the setting mcp.hitlMutations is off. Decide over REST or the command line.',
      { details: { property: 'mcp.hitlMutations' } },
    );
  }
  return { principal, decidedBy: decidedOverMcp(principal) };
}
