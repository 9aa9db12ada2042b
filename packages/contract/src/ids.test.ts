import { describe, expect, it } from 'vitest';
import { formatDocumentUri, parseDocumentUri } from './ids.ts';
import { documentTypeOf, RESOURCE_TYPES, resourceTypeOf } from './resource-types.ts';
import { wordOfExtension, wordOfStep } from './seed-names.ts';

const HEX = '65f0c0ffee0123456789abcd';
const UUID = '3f2504e0-4f89-41d3-9a0c-0305e82c3301';

describe('a reference to a document', () => {
  it.each([
    ['eddi://ai.labs.agent/agentstore/agents/', 'agent'],
    ['eddi://ai.labs.bot/botstore/bots/', 'agent'],
    ['eddi://ai.labs.workflow/workflowstore/workflows/', 'workflow'],
    ['eddi://ai.labs.package/packagestore/packages/', 'workflow'],
    ['eddi://ai.labs.rules/rulestore/rulesets/', 'rules'],
    ['eddi://ai.labs.behavior/behaviorstore/behaviorsets/', 'rules'],
    ['eddi://ai.labs.llm/llmstore/llms/', 'llm'],
    ['eddi://ai.labs.langchain/langchainstore/langchains/', 'llm'],
    ['eddi://ai.labs.output/outputstore/outputsets/', 'output'],
    ['eddi://ai.labs.dictionary/dictionarystore/dictionaries/', 'dictionary'],
    ['eddi://ai.labs.regulardictionary/regulardictionarystore/regulardictionaries/', 'dictionary'],
    ['patchbay://rules/', 'rules'],
  ])('may be written %s...', (start, type) => {
    for (const id of [HEX, UUID, 'my-rules_2']) {
      expect(parseDocumentUri(`${start}${id}?version=7`)).toEqual({ type, id, version: 7 });
    }
    expect(parseDocumentUri(`${start}${HEX.toUpperCase()}?version=1`)?.id).toBe(HEX);
  });

  it('means version 1 without one in the forms of EDDI, and names its version in ours', () => {
    expect(parseDocumentUri(`eddi://ai.labs.rules/rulestore/rulesets/${HEX}`)?.version).toBe(1);
    expect(parseDocumentUri(`patchbay://rules/${HEX}`)).toBeUndefined();
  });

  it('is written in our form', () => {
    const ref = parseDocumentUri(`eddi://ai.labs.behavior/behaviorstore/behaviorsets/${UUID}?version=2`)!;
    expect(formatDocumentUri(ref)).toBe(`patchbay://rules/${UUID}?version=2`);
  });

  it.each([
    'patchbay://rules/r1?version=0',
    'patchbay://rules/r1?version=01',
    'patchbay://rules/r1?version=1&x=2',
    'patchbay://rules/r1?version=1#x',
    'patchbay://rules/../r1?version=1',
    'patchbay://nothing/r1?version=1',
    'patchbay://rules/UPPER?version=1',
    'eddi://ai.labs.rules/outputstore/rulesets/r1?version=1',
    'eddi://ai.labs.nothing/nothingstore/nothings/r1?version=1',
    'https://rules/r1?version=1',
    '',
  ])('is not %j', text => {
    expect(parseDocumentUri(text)).toBeUndefined();
  });
});

describe('words of EDDI', () => {
  it.each([
    ['eddi://ai.labs.parser', 'parser'],
    ['eddi://ai.labs.behavior', 'rules'],
    ['eddi://ai.labs.rules', 'rules'],
    ['eddi://ai.labs.property', 'property'],
    ['eddi://ai.labs.apicalls', 'httpcalls'],
    ['eddi://ai.labs.output', 'output'],
    ['eddi://ai.labs.templating', 'templating'],
    ['rules', 'rules'],
    ['eddi://ai.labs.', 'eddi://ai.labs.'],
  ])('for the step %s give %s', (type, word) => {
    expect(wordOfStep(type)).toBe(word);
  });

  it('for parts of the parser give the last one', () => {
    expect(wordOfExtension('eddi://ai.labs.parser.dictionaries.regular')).toBe('regular');
    expect(wordOfExtension('eddi://ai.labs.parser.corrections.mergedTerms')).toBe('mergedTerms');
    expect(wordOfExtension('regular')).toBe('regular');
  });

  it('for resources are taken in any case, and only of what there is', () => {
    expect(documentTypeOf(' Behavior ')).toBe('rules');
    expect(documentTypeOf('dictionaries')).toBe('dictionary');
    expect(documentTypeOf('langchain')).toBe('llm');
    for (const unknown of ['rules', 'agent', 'llm', 'constructor', '']) {
      expect(documentTypeOf(unknown)).toBeUndefined();
    }
    expect(RESOURCE_TYPES.map(slug => resourceTypeOf(documentTypeOf(slug)!))).toEqual(RESOURCE_TYPES);
  });
});
