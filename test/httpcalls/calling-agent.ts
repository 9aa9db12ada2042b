/** An agent file whose agent makes the call that has the name of what is said, and says what came of it. */
export function callingAgent(
  agent: string,
  targetServerUrl: string,
  calls: readonly (Readonly<Record<string, unknown>> & { readonly name: string })[],
): Record<string, unknown> {
  return {
    agent,
    name: agent,
    mcp_enabled: true,
    dictionary: { words: calls.map(({ name }) => ({ word: name, expressions: name })) },
    rules: {
      expressionsAsActions: true,
      behaviorGroups: [{ name: 'all', rules: [{ name: 'speak', actions: ['speak'], conditions: [] }] }],
    },
    httpcalls: {
      targetServerUrl,
      httpCalls: calls.map(call => ({
        actions: [call.name],
        saveResponse: true,
        responseObjectName: 'answer',
        continueOnError: true,
        timeoutInMillis: 2_000,
        ...call,
        request: { path: `/${call.name}`, ...(call.request as object | undefined) },
      })),
    },
    output: {
      outputSet: [
        {
          action: 'speak',
          outputs: [
            {
              valueAlternatives: [
                {
                  type: 'text',
                  text: '{{ httpCalls | json }}',
                },
              ],
            },
          ],
        },
      ],
    },
  };
}
