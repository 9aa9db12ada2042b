import { describe, expect, it } from 'vitest';
import { selectTools } from './select-tools.ts';

const tools = ['read', 'write', 'Read', 'constructor'].map(name => ({ name }));
const select = (only: readonly string[] | undefined, except: readonly string[]) => {
  const { tools: selected, missing } = selectTools(tools, { only, except });
  return { names: selected.map(({ name }) => name), missing };
};

describe('the tools of a server that are offered', () => {
  it('are all, unless the definition says otherwise (W-23, W-24)', () => {
    expect(select(undefined, [])).toEqual({ names: ['read', 'write', 'Read', 'constructor'], missing: [] });
  });
  it('are those in only, in the order of the server (W-23, E-83)', () => {
    expect(select(['write', 'read'], []).names).toEqual(['read', 'write']);
  });
  it('are not those in except (W-24, E-84)', () => {
    expect(select(undefined, ['write', 'none']).names).toEqual(['read', 'Read', 'constructor']);
  });
  it('are those that except leaves of only (W-25, E-87)', () => {
    expect(select(['read', 'write'], ['write']).names).toEqual(['read']);
    expect(select(['write'], ['write'])).toEqual({ names: [], missing: [] });
  });
  it('have exactly the names of the server (attack 25)', () => {
    expect(select(['READ', 'read ', 'ｒead', 'toString'], []).names).toEqual([]);
  });
  it('miss what only names and the server does not have', () => {
    expect(select(['read', 'gone', 'toString', 'gone'], [])).toEqual({
      names: ['read'],
      missing: ['gone', 'toString'],
    });
  });
});
