/** What EDDI calls the documents of one of our types (platform.md 1.3). */
interface SeedNames {
  /** `resourceType` in tools, where a tool takes documents of this type. */
  readonly slug?: string;
  /** The domains of a step of this type: the one in use and the ones before it. */
  readonly steps?: readonly string[];
  /** What stands between `eddi://` and the id in references, in use or before. */
  readonly stores: readonly string[];
}

/** By our word. A word that is no document type here is as unknown under EDDI's names as under ours. */
export const SEED_NAMES: Readonly<Record<string, SeedNames>> = {
  agent: { stores: ['ai.labs.agent/agentstore/agents', 'ai.labs.bot/botstore/bots'] },
  workflow: {
    stores: ['ai.labs.workflow/workflowstore/workflows', 'ai.labs.package/packagestore/packages'],
  },
  rules: {
    slug: 'behavior',
    steps: ['behavior', 'rules'],
    stores: ['ai.labs.rules/rulestore/rulesets', 'ai.labs.behavior/behaviorstore/behaviorsets'],
  },
  httpcalls: {
    slug: 'httpcalls',
    steps: ['httpcalls', 'apicalls'],
    stores: ['ai.labs.apicalls/apicallstore/apicalls', 'ai.labs.httpcalls/httpcallsstore/httpcalls'],
  },
  mcpcalls: { slug: 'mcpcalls', steps: ['mcpcalls'], stores: ['ai.labs.mcpcalls/mcpcallsstore/mcpcalls'] },
  llm: {
    slug: 'langchain',
    steps: ['llm', 'langchain'],
    stores: ['ai.labs.llm/llmstore/llms', 'ai.labs.langchain/langchainstore/langchains'],
  },
  output: { slug: 'output', steps: ['output'], stores: ['ai.labs.output/outputstore/outputsets'] },
  property: {
    slug: 'propertysetter',
    steps: ['property', 'propertysetter'],
    stores: ['ai.labs.property/propertysetterstore/propertysetters'],
  },
  dictionary: {
    slug: 'dictionaries',
    stores: [
      'ai.labs.dictionary/dictionarystore/dictionaries',
      'ai.labs.regulardictionary/regulardictionarystore/regulardictionaries',
    ],
  },
};

const WORD_BY_STORE = new Map(
  Object.entries(SEED_NAMES).flatMap(([word, { stores }]) => stores.map(store => [store, word] as const)),
);

const WORD_BY_STEP = new Map(
  Object.entries(SEED_NAMES).flatMap(([word, { steps = [] }]) => steps.map(step => [step, word] as const)),
);

/** Our word for what EDDI keeps at a place such as `ai.labs.rules/rulestore/rulesets`. */
export function wordOfStore(store: string): string | undefined {
  return WORD_BY_STORE.get(store);
}

/** Our word for a type of step: EDDI's `eddi://ai.labs.behavior` is `rules`. What is no form of EDDI's stays as it is. */
export function wordOfStep(type: string): string {
  const [, domain] = /^eddi:\/\/ai\.labs\.([a-z]+)$/.exec(type) ?? [];
  return domain === undefined ? type : (WORD_BY_STEP.get(domain) ?? domain);
}

/** Our word for a part of the parser: EDDI's `eddi://ai.labs.parser.dictionaries.regular` is `regular`. */
export function wordOfExtension(type: string): string {
  return /^eddi:\/\/ai\.labs\.parser\.[a-z]+\.([A-Za-z]+)$/.exec(type)?.[1] ?? type;
}
