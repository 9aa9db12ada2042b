import type { Pause } from '../../agents/pause/pauses.ts';
import { serversIn, signInAddress } from '../../agents/pause/sign-in.ts';
import type { UrlQuestion } from '../mcp/door.ts';
import type { AgentCard } from './agent-door.ts';
import { inOneLine } from './approval-form.ts';

/**
 * The address at which the person in the conversation signs in: a page of ours that is good for them alone, so that nothing secret passes the client (mcp.md
 * 1.3, elicitation). Says who asks, since such questions look alike.
 */
export function signInQuestion(pause: Pause, { name, agentId }: AgentCard, base: string): UrlQuestion {
  const servers = serversIn(pause).map(({ server }) => server);
  return {
    id: pause.id,
    message: `The agent "${inOneLine(name)}" (${agentId}) needs you to sign in at ${servers.join(', ')}`,
    url: signInAddress(pause, base),
  };
}
