import { describe, expect, it } from 'vitest';
import { parseAgentFile, workflowOf } from './agent-file.ts';

const file = (members: object) =>
  parseAgentFile({
    agent: 'hello',
    name: 'Hello',
    rules: { behaviorGroups: [] },
    output: { outputSet: [] },
    ...members,
  });
const parserOf = (members: object) =>
  workflowOf(file(members), type => (type === 'dictionary' ? 3 : 1)).workflowSteps[0]!;
const dictionary = { words: [{ word: 'hello', expressions: 'greeting' }] };

describe('the parser of an agent file', () => {
  it('is the usual one unless the file says otherwise', () => {
    expect(parserOf({})).toEqual({ type: 'parser' });
    expect(parserOf({ dictionary })).toEqual({
      type: 'parser',
      extensions: {
        dictionaries: [{ type: 'regular', config: { uri: 'patchbay://dictionary/hello?version=3' } }],
      },
    });
  });

  it('has the dictionaries, corrections, normalizers and options of the file', () => {
    const parser = {
      dictionaries: [{ type: 'integer' }],
      corrections: [{ type: 'levenshtein', config: { distance: 1 } }],
      normalizers: [{ type: 'contractedWords' }],
      config: { includeUnknown: false },
    };
    expect(parserOf({ dictionary, parser })).toMatchObject({
      type: 'parser',
      config: { includeUnknown: false, includeUnused: true, maxInputTokens: 200 },
      extensions: {
        dictionaries: [{ type: 'regular' }, { type: 'integer' }],
        corrections: [{ type: 'levenshtein', config: { distance: 1, maxCandidates: 5 } }],
        normalizer: [{ type: 'contractedWords' }],
      },
    });
  });

  it('names what it does not know', () => {
    expect(() => file({ parser: { normalizer: [] } })).toThrow(
      'agent file: field "normalizer" at $.parser.normalizer is unknown (known fields there: dictionaries, corrections, normalizers, config)',
    );
    expect(() => file({ parser: { dictionaries: [{ type: 'regular' }] } })).toThrow('must be one of');
  });
});
