import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseAgentFile } from '../../packages/server/src/agents/document/agent-file.ts';
import { llmDocument } from '../../packages/server/src/agents/document/llm.ts';
import { parseDocument } from '../../packages/server/src/agents/document/parse-document.ts';
import { PROVIDERS, type Provider } from '../../packages/server/src/agents/model/providers.ts';
import type { PlatformError } from '../../packages/server/src/kernel/errors.ts';

const page = await readFile(new URL('../../docs/models.md', import.meta.url), 'utf8');

const code = (text: string | undefined) => (text === undefined ? '' : `\`${text}\``);

describe('The page about models', () => {
  it.each<[string, Provider]>(Object.entries(PROVIDERS))(
    'says where %s is, and which model is asked',
    (name, row) => {
      const line = page.split('\n').find(each => each.startsWith(`| \`${name}\``));
      const [, , address, model] = line!.split('|').map(cell => cell.trim());
      expect([address, model]).toEqual([code(row.baseUrl), code(row.defaultModel)]);
    },
  );
  it('says which providers need no key', () => {
    const without = Object.entries(PROVIDERS).filter(([, { needsKey }]) => !needsKey);
    expect(without.map(([name]) => name)).toEqual(['ollama', 'jlama', 'openai-compatible']);
    expect(page).toContain('`ollama`, `jlama` and `openai-compatible` need none');
  });
  it('says every way a request fails', async () => {
    const source = await readFile(
      new URL('../../packages/server/src/agents/model/model.ts', import.meta.url),
      'utf8',
    );
    const [, union] = /export type ModelFailure =([^;]+);/.exec(source)!;
    const codes = [...union!.matchAll(/'(\w+)'/g)].map(([, name]) => name!);
    expect(codes.length).toBeGreaterThan(5);
    expect(codes.filter(name => !page.includes(`\`${name}\``))).toEqual([]);
  });
  it('has an example that is taken', () => {
    const [, example] = /```yaml\n([\s\S]*?)```/.exec(page)!;
    expect(parseAgentFile(parse(example!)).llm?.tasks).toMatchObject([{ type: 'anthropic' }]);
  });
});

describe('The page of seed names', async () => {
  const seedNames = await readFile(new URL('../../docs/seed-names.md', import.meta.url), 'utf8');
  const [models] = seedNames.split('\n## Models\n')[1]!.split('\n## ');
  const refused = models!
    .split('\n')
    .map(line => line.split('|'))
    .filter(([, , ours]) => ours?.trim().startsWith('refused by name'))
    .flatMap(([, seed]) => [...seed!.matchAll(/`(\w[\w-]*)`/g)].map(([, name]) => [name!, seed!.trim()]));
  const parameters = { baseUrl: 'http://127.0.0.1:8000/v1', model: 'any' };
  const task = { id: 'main', type: 'openai-compatible', parameters };
  const takes = (changes: object) => parseDocument(llmDocument, { tasks: [{ ...task, ...changes }] });

  it.each(refused)('is right that %s is refused by name', (name, row) => {
    expect(() => {
      if (row.startsWith('providers')) takes({ type: name });
      else if (row.startsWith('parameters')) takes({ parameters: { ...parameters, [name]: 'true' } });
      else takes({ [name]: false });
    }).toThrow(JSON.stringify(name));
  });
  it('has all fields that EDDI has and a task here has not (platform.md 3.7)', () => {
    const known = knownFields(() => takes({ nothing: 1 }));
    const listed = new Set([...known, ...refused.map(([name]) => name)]);
    expect(EDDI_TASK.filter(name => !listed.has(name))).toEqual([]);
  });
});

/** Of a task of EDDI, with the names it has there. */
const EDDI_TASK =
  'id actions type description parameters enableBuiltInTools builtInToolsWhitelist tools enableHttpCallTools enableMcpCallTools a2aAgents toolLoadingStrategy maxToolsInContext conversationHistoryLimit maxContextTokens anchorFirstSteps conversationSummary knowledgeBases enableWorkflowRag ragDefaults httpCallRag maxRagContextChars retry maxBudgetPerConversation enforceBudget toolPricing inputPricePer1M outputPricePer1M enableCostTracking enableToolCaching toolCacheScopes defaultToolCacheScope enableRateLimiting defaultRateLimit toolRateLimits maxToolIterations maxToolContextTokens jsonResponseFormat modelCascade toolResponseLimits counterweight identityMasking responseValidation streamingTimeoutSeconds toolApprovals preRequest postResponse responseObjectName responseMetadataObjectName'.split(
    ' ',
  );

function knownFields(parse: () => unknown): readonly string[] {
  try {
    parse();
  } catch (thrown) {
    return (thrown as PlatformError).details!.knownFields as string[];
  }
  return [];
}
