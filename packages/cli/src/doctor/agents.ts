import type { Check } from './examination.ts';

/** Can every deployed agent run? */
export const agents: Check = {
  name: 'agents',
  run({ contents }) {
    if (!contents) return [];
    if (contents.agents.length === 0) {
      const says = 'No agent is deployed.';
      return [{ verdict: 'warning', says, mend: 'npx patchbay agents deploy examples/hello.yaml' }];
    }
    const broken = contents.agents.filter(agent => agent.broken !== undefined);
    if (broken.length > 0) {
      return broken.map(({ agentId, environment, version, broken: why }) => ({
        verdict: 'problem',
        says: `${agentId} (version ${version}, ${environment}) is deployed and cannot run: ${why} Mend its file and deploy it again.`,
        mend: 'npx patchbay agents deploy FILE',
      }));
    }
    const closed = contents.agents.filter(agent => agent.mcpEnabled === false).map(agent => agent.agentId);
    const says = `Every deployed agent can run (${contents.agents.length}).`;
    const also =
      closed.length === 0
        ? ''
        : ` MCP clients cannot reach ${closed.join(', ')}: mcp_enabled is off in the agent file.`;
    return [{ verdict: 'ok', says: says + also }];
  },
};
