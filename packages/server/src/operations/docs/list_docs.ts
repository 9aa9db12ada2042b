import type { DocsPages } from '../../docs/pages.ts';
import type { OperationHandler } from '../bind.ts';

export function listDocs(docs: DocsPages): OperationHandler<'list_docs'> {
  return async () => {
    const names = await docs.list();
    return { count: names.length, docs: names };
  };
}
