import { createDocsPages } from '../docs/pages.ts';
import type { Remark } from './finding.ts';

/** Are there pages to serve? */
export async function examineDocs(
  docs: { readonly enabled: boolean; readonly path: string },
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly Remark[]> {
  if (!docs.enabled) return [{ verdict: 'ok', says: 'The documentation is switched off.' }];
  const pages = await createDocsPages({ enabled: true, folder: docs.path }).list();
  if (pages.length > 0) {
    return [
      { verdict: 'ok', says: `The documentation is served from ${docs.path} (pages: ${pages.length}).` },
    ];
  }
  return [
    {
      verdict: 'warning',
      says: `There is no page of documentation in ${docs.path}, so list_docs and read_docs find nothing; correct docs.path.`,
      mend: env.PATCHBAY_DOCS_PATH?.trim() ? 'unset PATCHBAY_DOCS_PATH' : undefined,
    },
  ];
}
