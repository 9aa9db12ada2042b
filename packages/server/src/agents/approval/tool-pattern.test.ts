import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compilePattern, mostPrecise, type NamedTool, patternProblem } from './tool-pattern.ts';

const mcp = (exposedName: string, name = exposedName): NamedTool => ({ source: 'mcp', exposedName, name });
const http = (name: string, method: string, path: string): NamedTool => ({
  ...{ source: 'http', exposedName: name, name, http: { method, path } },
});

describe('a pattern of tools', () => {
  it.each([
    ['delete_*', mcp('delete_repo'), true],
    ['delete_*', mcp('github__delete_repo', 'delete_repo'), true],
    ['github__*', mcp('github__delete_repo', 'delete_repo'), true],
    ['Delete_*', mcp('delete_repo'), false],
    ['mcp:delete_*', mcp('delete_repo'), true],
    ['http:delete_*', mcp('delete_repo'), false],
    ['http.delete:/orders/*', http('drop', 'DELETE', '/orders/{{ id }}'), true],
    ['http.DELETE:/orders/*', http('drop', 'DELETE', '/orders/1'), true],
    ['http.*:/orders', http('drop', 'POST', '/orders'), true],
    ['http.POST:/orders', http('drop', 'POST', '/orders/1'), false],
    ['http.POST:*', mcp('POST'), false],
    ['http:drop', http('drop', 'POST', '/orders'), true],
    ['*', http('drop', 'POST', '/orders'), true],
  ])('%s means %j: %j', (pattern, tool, fits) => {
    expect(patternProblem(pattern)).toBeUndefined();
    expect(compilePattern(pattern).fits(tool)).toBe(fits);
  });

  it.each([
    ['', 'must have letters'],
    ['delete repo', 'must have letters'],
    ['törlés', 'must have letters'],
    [':delete', 'must not begin or end with ":"'],
    ['mcp:', 'must not begin or end with ":"'],
    ['x'.repeat(257), 'at most 256 characters'],
    ['mpc:delete', 'names the unknown source "mpc"; did you mean "mcp:"'],
    ['htp:delete', 'did you mean "http:"'],
    ['memroy:x', 'did you mean "memory:"'],
    ['plugin:delete', 'there are builtin, http, mcp, a2a, dynamic, memory, recall'],
    ['*:delete', 'names the unknown source "*"'],
    ['MCP:delete', 'did you mean "mcp:"'],
    ['http.send:/x', 'names the method "send"; there are GET, HEAD, POST'],
    ['http.post:orders', 'must give a path that begins with "/"'],
  ])('%j is refused: %s', (pattern, problem) => {
    expect(patternProblem(pattern)).toContain(problem);
  });

  it('exempts by the exposed name only, which no other server has', () => {
    const pattern = compilePattern('search');
    expect(pattern.fitsExposed(mcp('search'))).toBe(true);
    expect(pattern.fitsExposed(mcp('evil__search', 'search'))).toBe(false);
  });

  it('is the more precise the more of a tool it says', () => {
    const tool = http('drop_order', 'DELETE', '/orders/1');
    const lines = [
      '*',
      '*_order',
      'drop_order',
      'http:*',
      'http:drop_order',
      'http.*:/*',
      'http.DELETE:/orders/*',
    ];
    for (let count = 1; count <= lines.length; count += 1) {
      const some = lines.slice(0, count).map(text => ({ pattern: compilePattern(text) }));
      for (const order of [some, some.toReversed()])
        expect(mostPrecise(order, tool)?.pattern.text).toBe(lines[count - 1]);
    }
    expect(mostPrecise([{ pattern: compilePattern('x') }], tool)).toBeUndefined();
  });

  it('of any text is refused or can be asked, and means at least the tool it spells out', () => {
    const text = fc.string({ unit: fc.constantFrom(...'ab*:./{}http.mcp_-'), maxLength: 12 });
    fc.assert(
      fc.property(text, pattern => {
        if (patternProblem(pattern) !== undefined) return;
        const name = pattern.replace(/^mcp:/, '').replaceAll('*', 'a');
        if (!/^(?!mcp:)[^:]*:/.test(pattern)) expect(compilePattern(pattern).fits(mcp(name))).toBe(true);
      }),
      { numRuns: 5_000 },
    );
  });
});
