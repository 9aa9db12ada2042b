import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ERROR_TABLE } from '@patchbay/contract/errors';
import { describe, expect, it } from 'vitest';
import { readServerOptions } from '../packages/server/src/connections/server/server-options.ts';

// What people click on in the pages of the repository, and which pages they find from its front page.

const ROOT = path.resolve(import.meta.dirname, '..');

const PAGES = ['.', 'docs', 'docs/decisions'].flatMap(folder =>
  readdirSync(path.join(ROOT, folder))
    .filter(name => name.endsWith('.md'))
    .map(name => path.join(folder, name)),
);

const text = (page: string) => readFileSync(path.join(ROOT, page), 'utf8');

/** Targets of the links to other pages and places, outside of code. */
function linksOf(page: string): readonly string[] {
  const prose = text(page)
    .replaceAll(/^```.*?^```/gms, '')
    .replaceAll(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, to]) => to!).filter(to => !/^[a-z]+:/.test(to));
}

/** The names GitHub gives the headings of a page. */
function anchorsOf(page: string): readonly string[] {
  const headings = text(page)
    .replaceAll(/^```.*?^```/gms, '')
    .matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

function leadsNowhere(page: string, to: string): boolean {
  const [file, anchor] = to.split('#') as [string, string?];
  const target = file === '' ? page : path.join(path.dirname(page), file);
  if (!existsSync(path.join(ROOT, target))) return true;
  return anchor !== undefined && !anchorsOf(target).includes(anchor);
}

describe('the pages', () => {
  it.each(PAGES)('%s: its links lead somewhere', page => {
    expect(linksOf(page).filter(to => leadsNowhere(page, to))).toEqual([]);
  });

  it('are all found from the front page', () => {
    const pages = PAGES.filter(page => path.dirname(page) === 'docs').toSorted();
    const linked = new Set(linksOf('README.md'));
    expect(pages.filter(page => !linked.has(page))).toEqual([]);
  });

  it('about diagnostics names every metric', () => {
    const source = text('packages/server/src/records/metrics.ts');
    const names = [...source.matchAll(/'(patchbay_\w+)'/g)].map(([, name]) => name!);
    const page = text('docs/diagnostics.md');
    expect(names.length).toBeGreaterThan(10);
    expect(names.filter(name => !page.includes(`\`${name}\``))).toEqual([]);
  });

  it('about MCP servers names every option that a server may have', () => {
    const context = {
      ref: { scope: 'default', name: 'x' },
      source: 'data',
      texts: { compile: () => expect.fail('nothing here is a reference') },
    } as const;
    let refusal = '';
    try {
      readServerOptions({ unheardOf: 1 }, context);
    } catch (thrown) {
      refusal = (thrown as Error).message;
    }
    const [, names] = /unheardOf is no option; there are ([^.]+)\./.exec(refusal)!;
    const page = text('docs/servers.md');
    expect(names!.split(', ').filter(name => !page.includes(`\`${name}\``))).toEqual([]);
  });

  it('about the doors names every errorCode of the operator door (E-28)', () => {
    const codes = new Set(Object.values(ERROR_TABLE).map(({ errorCode }) => errorCode));
    const page = text('docs/doors.md');
    expect([...codes].filter(code => !page.includes(`\`${code}\``))).toEqual([]);
  });
});
