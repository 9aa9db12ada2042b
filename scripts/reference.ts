import { renderOpenApi } from '@patchbay/contract/openapi';
import { type Generated, writeGenerated } from './generated-file.ts';
import { renderOperationsPage } from './operations-page.ts';
import { readExamples } from './record-examples.ts';

/** The OpenAPI document as the platform serves it, for those who read the repository. */
export async function generateOpenApi(options: { readonly check: boolean }): Promise<Generated> {
  const document = renderOpenApi(await readExamples());
  return writeGenerated('docs/openapi.json', `${JSON.stringify(document, null, 2)}\n`, options);
}

/** The docs page `operations`. */
export async function generateOperationsPage(options: { readonly check: boolean }): Promise<Generated> {
  return writeGenerated('docs/operations.md', renderOperationsPage(await readExamples()), options);
}
