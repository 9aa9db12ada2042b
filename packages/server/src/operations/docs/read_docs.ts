import type { DocsPages } from '../../docs/pages.ts';
import { PlatformError } from '../../kernel/errors.ts';
import type { OperationHandler } from '../bind.ts';

export function readDocs(docs: DocsPages): OperationHandler<'read_docs'> {
  return async ({ name }) => {
    const page = await docs.read(name);
    if (page.ok) return { name, markdown: page.value };
    switch (page.refusal.reason) {
      case 'invalid-name':
        throw new PlatformError(
          'invalid',
          'name: a page name has no path in it, only letters, digits, dots, - and _; list_docs gives the names.',
        );
      case 'absent':
        throw new PlatformError(
          'not_found',
          `There is no documentation page "${name}"; list_docs gives the names.`,
        );
    }
  };
}
