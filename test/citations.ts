import { isTest, listFiles, readSource, type Source } from './repository.ts';
import { HELD, PARTIAL, REQUIREMENTS } from './requirements.ts';
import { titlesOf } from './titles.ts';

/** A requirement id in the title of a test or of a group of tests. */
export interface Citation {
  readonly id: string;
  /** File and line. */
  readonly at: string;
}

export interface States {
  readonly known: readonly string[];
  readonly held: readonly string[];
  readonly partial: readonly (readonly [id: string, missing: string])[];
}

/** The states of this repository. */
export const STATES: States = { known: REQUIREMENTS.map(line => line.id), held: HELD, partial: PARTIAL };

/** What citations and states say against each other: one sentence each, with the remedy. */
export interface Disagreements {
  readonly unknown: readonly string[];
  readonly repeated: readonly string[];
  readonly citedButOpen: readonly string[];
  readonly claimedButUncited: readonly string[];
}

const ID = /\b(?:BX|EX|[WBAE])-\d{2,3}\b/g;

export function citationsIn(source: Source): readonly Citation[] {
  return titlesOf(source).flatMap(title =>
    (title.text.match(ID) ?? []).map(id => ({ id, at: `${source.path}:${title.line}` })),
  );
}

/** Citations in all test files of the repository. */
export function readCitations(): readonly Citation[] {
  return listFiles().filter(isTest).map(readSource).flatMap(citationsIn);
}

export function compare(citations: readonly Citation[], { known, held, partial }: States): Disagreements {
  const claimed = [...held, ...partial.map(([id]) => id)];
  const places = Map.groupBy(citations, citation => citation.id);
  const cited = [...places].map(([id, each]) => ({ id, places: each.map(({ at }) => at).join(', ') }));
  return {
    unknown: [
      ...cited
        .filter(({ id }) => !known.includes(id))
        .map(({ id, places }) => `${id} is no requirement, cited at ${places}`),
      ...claimed.filter(id => !known.includes(id)).map(id => `${id} is no requirement, but has a state`),
    ],
    repeated: claimed
      .filter((id, index) => claimed.indexOf(id) !== index)
      .map(id => `${id} has two states: keep one`),
    citedButOpen: cited
      .filter(({ id }) => known.includes(id) && !claimed.includes(id))
      .map(
        ({ id, places }) =>
          `${id} is cited but open: mark it held or partial in test/requirements.ts (${places})`,
      ),
    claimedButUncited: claimed
      .filter(id => !places.has(id))
      .map(
        id =>
          `${id} is marked held or partial, but no test cites it: cite it where it is proved, or leave it open`,
      ),
  };
}

/** One line: how far the binding requirements are. */
export function summary(): string {
  const binding = new Set<string>(REQUIREMENTS.filter(line => line.binding).map(line => line.id));
  const held = HELD.filter(id => binding.has(id)).length;
  const partial = PARTIAL.filter(([id]) => binding.has(id)).length;
  return `requirements: ${held} held, ${partial} partial, ${binding.size - held - partial} open of ${binding.size} binding`;
}
