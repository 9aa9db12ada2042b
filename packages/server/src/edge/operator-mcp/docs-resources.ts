import { listDocs, readDocs } from '@patchbay/contract/operations/docs';
import { PlatformError } from '../../kernel/errors.ts';
import { plainCall } from '../../operations/bind.ts';
import type { Operations } from '../../operations/invoke.ts';
import type { Caller, DoorResources } from '../mcp/door.ts';

const MARKDOWN = 'text/markdown';
const INDEX = {
  uri: 'patchbay://docs/index',
  name: 'index',
  title: 'All documentation pages',
  mimeType: MARKDOWN,
};
const TEMPLATE = {
  uriTemplate: 'patchbay://docs/{name}',
  name: 'page',
  title: 'One documentation page',
  mimeType: MARKDOWN,
};

/**
 * The documentation as resources (E-65): the same two operations as the tools, so the same roles and the same switch.
 * `eddi://docs/...` is read too (decisions.md 1).
 */
export function docsResources(operations: Operations): DoorResources<Caller> {
  async function pageNames(caller: Caller): Promise<string[]> {
    const { docs } = await operations.invoke(listDocs, {}, plainCall(caller.principal, 'mcp'));
    return docs as string[];
  }

  return {
    forbiddenCode: -32005,

    async list(caller) {
      const names = await pageNames(caller);
      if (names.length === 0) return { resources: [] };
      return {
        resources: [
          INDEX,
          ...names.map(name => ({ uri: `patchbay://docs/${name}`, name, mimeType: MARKDOWN })),
        ],
      };
    },

    async templates(caller) {
      return { resourceTemplates: (await pageNames(caller)).length === 0 ? [] : [TEMPLATE] };
    },

    async read(caller, uri) {
      const name = /^(?:patchbay|eddi):\/\/docs\/(.+)$/.exec(uri)?.[1];
      if (name === undefined || name === 'index') {
        const names = await pageNames(caller);
        if (name === undefined || names.length === 0) return undefined;
        return {
          uri,
          mimeType: MARKDOWN,
          text: names.map(page => `- [${page}](patchbay://docs/${page})`).join('\n'),
        };
      }
      try {
        const { markdown } = await operations.invoke(readDocs, { name }, plainCall(caller.principal, 'mcp'));
        return { uri, mimeType: MARKDOWN, text: markdown as string };
      } catch (thrown) {
        if (thrown instanceof PlatformError && (thrown.kind === 'not_found' || thrown.kind === 'invalid'))
          return undefined;
        throw thrown;
      }
    },
  };
}
