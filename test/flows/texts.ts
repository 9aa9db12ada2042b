/** Documents of an agent that answers everything with one text. */
export const alwaysSays = {
  behaviorGroups: [{ name: 'always', rules: [{ name: 'answer', actions: ['answer'] }] }],
};

export const says = (text: string) => ({
  outputSet: [{ action: 'answer', outputs: [{ valueAlternatives: [{ type: 'text', text }] }] }],
});
