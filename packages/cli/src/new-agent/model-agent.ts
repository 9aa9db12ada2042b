// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${vault:key} are the product's own syntax
import { type Head, headText, quoted, says } from './parts.ts';
import type { ModelPlan } from './plan.ts';

/** An agent with a language model that answers, and may call the tools of MCP servers. */
export function modelAgent(head: Head, file: string, plan: ModelPlan): string {
  const { model, secret, baseUrl, localHost, prompt, servers } = plan;
  const key =
    secret === undefined
      ? ''
      : `  # The key is in the vault: npx patchbay secrets set ${secret}. It goes to the provider and nowhere else.\n  apiKey: ${quoted(`\${vault:${secret}}`)}\n`;
  const address = baseUrl === undefined ? '' : `  baseUrl: ${quoted(baseUrl)}\n`;
  const allowed =
    localHost === undefined
      ? ''
      : `  # It is served on this machine, which has to be allowed: PATCHBAY_EGRESS_PRIVATE_HOSTS=${localHost}\n`;
  return `${headText(head, file)}${servers.length > 0 ? APPROVALS : ''}
# A language model answers whatever is said. The docs page models tells about providers, keys, limits and costs.
llm:
  model: ${quoted(model)}
${key}${allowed}${address}  # Who it is and what it is to do. A template: {{ userInfo.userId }} is who talks to it.
  systemMessage: ${quoted(prompt)}
${serversText(servers)}
# What to say when an action is raised. Every conversation begins with CONVERSATION_START.
output:
  outputSet:
${says('CONVERSATION_START', 'Hello! What can I do for you?')}`;
}

const APPROVALS = `
# A call of a tool that may change something waits for a person: npx patchbay approvals list. Nobody within four hours is a no.
hitlConfig:
  approvalTimeout: PT4H
  timeoutPolicy: AUTO_REJECT
`;

function serversText(servers: readonly string[]): string {
  if (servers.length === 0) {
    return `  # Registered MCP servers whose tools it may call: npx patchbay servers list
  # mcpServers: [github]
`;
  }
  return `  # Registered MCP servers whose tools it may call. What may change something waits for a person first.
  mcpServers: [${servers.join(', ')}]
`;
}
