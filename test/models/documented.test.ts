import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseAgentFile } from '../../packages/server/src/agents/document/agent-file.ts';
import { PROVIDERS, type Provider } from '../../packages/server/src/agents/model/providers.ts';

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
