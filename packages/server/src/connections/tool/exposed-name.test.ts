import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exposeTools, type OfferedTools } from './exposed-name.ts';

const offered = (name: string, prefix: string, ...tools: string[]): OfferedTools => ({
  server: { scope: 'default', name },
  prefix,
  tools,
});
/** Whose tool each name is. */
const names = (servers: readonly OfferedTools[]) =>
  Object.fromEntries(
    [...exposeTools(servers).byName].map(([name, { server, tool }]) => [name, `${server.name}: ${tool}`]),
  );
const nameOf = (prefix: string, tool: string) =>
  [...exposeTools([offered('s', prefix, tool)]).byName.keys()][0]!;

describe('the name a model calls a tool', () => {
  it('is the prefix and the name of the tool (W-16, W-17)', () => {
    expect(
      names([offered('github', 'github', 'search_issues'), offered('linear', 'tickets', 'search')]),
    ).toEqual({
      github__search_issues: 'github: search_issues',
      tickets__search: 'linear: search',
    });
  });
  it('is the name of the tool where there is no prefix (C1)', () => {
    expect(names([offered('github', '', 'search_issues')])).toEqual({
      search_issues: 'github: search_issues',
    });
  });
  it('keeps tools of one name apart (W-22)', () => {
    expect(Object.keys(names([offered('a', 'a', 'search'), offered('b', 'b', 'search')]))).toEqual([
      'a__search',
      'b__search',
    ]);
  });

  it.each([
    ['dots and slashes', 'a', 'repo.search/v2', /^a__repo_search_v2_[0-9a-f]{12}$/],
    ['Chinese', '数据', '搜索', /^______[0-9a-f_]{13}$/],
    ['a digit in front', '3scale', 'list', /^_3scale__list_[0-9a-f]{12}$/],
    ['a sign in front', '', '-x', /^_-x_[0-9a-f]{12}$/],
    ['more than 64 characters', 'p', 'x'.repeat(128), /^p__x{48}_[0-9a-f]{12}$/],
    ['a character of two halves', '', '😀', /^__[0-9a-f]{12}$/],
    ['what looks like a tail', '', 'x_0123456789ab', /^x_0123456789ab_[0-9a-f]{12}$/],
  ])('is one that every provider takes, the same each time: %s', (_, prefix, tool, expected) => {
    expect(nameOf(prefix, tool)).toMatch(expected);
    expect(nameOf(prefix, tool)).toBe(nameOf(prefix, tool));
  });
  it('is as it is up to 64 characters', () => {
    expect(nameOf('p', 'x'.repeat(61))).toBe(`p__${'x'.repeat(61)}`);
  });
  it('tells what was replaced or cut from what looks alike', () => {
    const tools = ['a.b', 'a/b', 'a_b', `${'x'.repeat(80)}1`, `${'x'.repeat(80)}2`, 'é', 'e\u0301'];
    const { byName, setAside } = exposeTools([offered('s', 's', ...tools)]);
    expect([...byName.values()].map(({ tool }) => tool)).toEqual(tools);
    expect(setAside).toEqual([]);
  });
});

describe('tools that would be called the same', () => {
  const ambiguous = [offered('one', 'a', 'b__c', 'd'), offered('other', 'a__b', 'c')];

  it('because of where the separator stands get a tail each (attack 25)', () => {
    const found = names(ambiguous);
    expect(Object.keys(found)).toEqual([
      expect.stringMatching(/^a__b__c_[0-9a-f]{12}$/),
      expect.stringMatching(/^a__b__c_[0-9a-f]{12}$/),
      'a__d',
    ]);
    expect(new Set(Object.values(found))).toEqual(new Set(['one: b__c', 'one: d', 'other: c']));
    expect(names(ambiguous.toReversed())).toEqual(found);
  });

  it('because of the same prefix get a tail each, in whatever order they stand (attack 43)', () => {
    const servers = [offered('one', 'x', 'search', '搜索'), offered('other', 'x', 'search', '搜索')];
    const found = names(servers);
    expect(new Set(Object.values(found))).toEqual(
      new Set(['one: search', 'one: 搜索', 'other: search', 'other: 搜索']),
    );
    expect(names(servers.toReversed())).toEqual(found);
  });

  it('cannot take the tail of another (attack 43)', () => {
    const servers = [offered('one', 'x', 'search'), offered('other', 'x', 'search')];
    const [wanted] = Object.entries(names(servers)).find(([, whose]) => whose === 'one: search')!;
    const attacker = offered('other', 'x', 'search', wanted.slice('x__'.length));
    expect(names([attacker, servers[0]!])[wanted]).toBe('one: search');
  });

  it('without prefixes are one: the first, and the other is set aside with the reason (C1, EX-05)', () => {
    const servers = [offered('one', '', 'search'), offered('other', '', 'search', 'read')];
    expect(names(servers)).toEqual({ search: 'one: search', read: 'other: read' });
    expect(exposeTools(servers).setAside).toEqual([
      {
        server: { scope: 'default', name: 'other' },
        tool: 'search',
        reason:
          'The name search belongs to the tool "search" of default/one; give one of the two servers a prefix.',
      },
    ]);
  });

  it('are the one with the prefix, whichever stands first', () => {
    const bare = offered('evil', '', 'github__search');
    const prefixed = offered('github', 'github', 'search');
    for (const servers of [
      [bare, prefixed],
      [prefixed, bare],
    ]) {
      expect(names(servers)).toEqual({ github__search: 'github: search' });
      expect(exposeTools(servers).setAside.map(({ tool }) => tool)).toEqual(['github__search']);
    }
  });
});

describe('the names of any servers', () => {
  const text = fc.string({
    unit: fc.constantFrom('a', 'b', '_', '__', '.', '-', '1', '搜', 'x'.repeat(40)),
    minLength: 1,
    maxLength: 6,
  });
  const servers = (prefix: fc.Arbitrary<string>) =>
    fc
      .array(fc.record({ prefix, tools: fc.uniqueArray(text, { maxLength: 5 }) }), { maxLength: 5 })
      .map(list => list.map(({ prefix, tools }, at) => offered(`s${at}`, prefix, ...tools)));

  it('are valid, lead back to one tool each, and leave no tool out without a reason', () => {
    fc.assert(
      fc.property(servers(fc.oneof(text, fc.constant(''))), list => {
        const { byName, setAside } = exposeTools(list);
        for (const name of byName.keys()) expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/);
        const found = [...byName.values(), ...setAside].map(({ server, tool }) => `${server.name}: ${tool}`);
        const all = list.flatMap(({ server, tools }) => tools.map(tool => `${server.name}: ${tool}`));
        expect(found.toSorted()).toEqual(all.toSorted());
      }),
    );
  });

  it('are the same in whatever order the servers stand, and whatever is added without a prefix', () => {
    fc.assert(
      fc.property(servers(text), servers(fc.constant('')), fc.nat(), (list, bare, turn) => {
        const found = names(list);
        expect(Object.keys(found)).toHaveLength(list.flatMap(({ tools }) => tools).length);
        const turned = [...list.slice(turn % (list.length + 1)), ...list.slice(0, turn % (list.length + 1))];
        expect(names(turned)).toEqual(found);
        expect(
          names([...bare.map(one => ({ ...one, server: { scope: 'bare', name: 'bare' } })), ...list]),
        ).toMatchObject(found);
      }),
    );
  });
});
