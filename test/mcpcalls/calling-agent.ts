/** An agent file whose agent calls the tool that listens to what is said, and says all that came of it as JSON. */
export function toolCallingAgent(
  agent: string,
  mcpcalls: Readonly<Record<string, unknown>> & { readonly mcpCalls: readonly Call[] },
): Record<string, unknown> {
  return {
    agent,
    name: agent,
    mcp_enabled: true,
    dictionary: { words: mcpcalls.mcpCalls.map(({ name }) => ({ word: name, expressions: name })) },
    rules: {
      expressionsAsActions: true,
      behaviorGroups: [{ name: 'all', rules: [{ name: 'speak', actions: ['speak'], conditions: [] }] }],
    },
    mcpcalls: {
      ...mcpcalls,
      mcpCalls: mcpcalls.mcpCalls.map(call => ({
        actions: [call.name],
        responseObjectName: 'answer',
        continueOnError: true,
        ...call,
      })),
    },
    output: {
      outputSet: [
        {
          action: 'speak',
          outputs: [{ valueAlternatives: [{ type: 'text', text: '{{ mcpCalls | json }}' }] }],
        },
      ],
    },
  };
}

type Call = Readonly<Record<string, unknown>> & { readonly name: string };
