// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${vault:key} are the product's own syntax
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

describe('the language model of an agent file', () => {
  const taskOf = (llm: object) => file({ llm }).llm!.tasks[0]!;

  it('is one task in few lines, or a list of tasks', () => {
    const short = {
      ...{ model: 'openai:gpt-x', apiKey: '${vault:k}', systemMessage: 'You help.', temperature: '0.5' },
      ...{ mcpServers: ['github'], maxToolIterations: 3 },
    };
    const { model, apiKey, systemMessage, temperature, ...task } = short;
    const parameters = { model: 'gpt-x', apiKey, systemMessage, temperature };
    const long = { tasks: [{ id: 'main', type: 'openai', parameters, ...task }] };
    expect(taskOf(short)).toEqual(taskOf(long));
    expect(taskOf(short)).toMatchObject({ parameters: { temperature: 0.5 }, maxToolIterations: 3 });
  });

  it('is named with its provider, and may have colons in its name or be the usual one', () => {
    expect(taskOf({ model: 'ollama:qwen3:8b' })).toMatchObject({
      type: 'ollama',
      parameters: { model: 'qwen3:8b' },
    });
    expect(taskOf({ model: 'ollama' }).parameters.model).toBeUndefined();
  });

  it.each([
    [
      {},
      'field "llm" at $.llm is not valid: must have "model", such as anthropic:claude-sonnet-4-6, or a list of "tasks"',
    ],
    [{ model: 'antropic:x', apiKey: 'k' }, 'There is no provider "antropic"; did you mean "anthropic"?'],
    [{ model: 'openai:x' }, 'is missing: OpenAI wants a key, such as ${vault:openai}'],
    [{ model: 'ollama', mcpServer: 'github' }, 'field "mcpServer" at $.llm.tasks[0].mcpServer is unknown'],
    [
      { model: 'ollama', mcpServers: ['no name'] },
      'must be the name of a registered server, or instance/name',
    ],
  ])('is refused with what is wrong: %j', (llm, sentence) => {
    expect(() => file({ llm })).toThrow(sentence);
  });
});
