/** What is odd about an agent, told to whoever runs the platform once, and not again with each turn. */
export interface Warnings {
  /** `undefined` says that nothing is odd about it any more. */
  about(subject: string, sentence: string | undefined): void;
}

export function createWarnings(warn: (sentence: string) => void): Warnings {
  const said = new Map<string, string>();
  return {
    about(subject, sentence) {
      if (said.get(subject) === sentence) return;
      if (sentence === undefined) said.delete(subject);
      else {
        said.set(subject, sentence);
        warn(sentence);
      }
    },
  };
}
