import { describe, expect, it } from 'vitest';
import { compileTools, type OfferedTool } from './compile-tools.ts';

function tool(name: string, inputSchema: OfferedTool['inputSchema'] = { type: 'object' }): OfferedTool {
  return { name, description: `Does ${name}.`, inputSchema };
}

describe('the tools of an agent for its provider', () => {
  it('are those that were offered, in their order', () => {
    const tools = [tool('b'), tool('a')];
    expect(compileTools('anthropic', tools)).toEqual({ tools, lost: [], quarantined: [] });
  });

  it.each(['openai', 'plain'] as const)('are at most 128 for %s, and the rest is named', dialect => {
    const tools = Array.from({ length: 130 }, (_, index) => tool(`t${index}`));
    const compiled = compileTools(dialect, tools);
    expect(compiled.tools).toEqual(tools.slice(0, 128));
    expect(compiled.quarantined).toEqual([
      { tool: 't128', reason: 'The provider takes at most 128 tools.' },
      { tool: 't129', reason: 'The provider takes at most 128 tools.' },
    ]);
  });

  it('leave out a name that is taken or that no provider takes, and keep the others', () => {
    const { tools, quarantined } = compileTools('gemini', [tool('a'), tool('a'), tool('1'), tool('b')]);
    expect(tools.map(({ name }) => name)).toEqual(['a', 'b']);
    expect(quarantined).toEqual([
      { tool: 'a', reason: 'An earlier tool has the same name.' },
      { tool: '1', reason: 'The provider does not take its name.' },
    ]);
  });
});
