import type { DocsPages } from '../../docs/pages.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { DoorResources } from '../mcp/door.ts';
import type { OperatorCaller } from './operator-door.ts';

const MARKDOWN = 'text/markdown';

/** `patchbay://docs/index` and `patchbay://docs/{name}` (E-65); `eddi://docs/...` is read too (decisions.md 1). */
export function docsResources(
  docs: DocsPages,
  authorize: (principal: Principal) => void,
): DoorResources<OperatorCaller> {
  return {
    forbiddenCode: -32005,

    async list({ principal }) {
      authorize(principal);
      const pages = (await docs.list()).map(name => ({
        uri: `patchbay://docs/${name}`,
        name,
        mimeType: MARKDOWN,
      }));
      if (pages.length === 0) return { resources: [] };
      return {
        resources: [
          {
            uri: 'patchbay://docs/index',
            name: 'index',
            title: 'All documentation pages',
            mimeType: MARKDOWN,
          },
          ...pages,
        ],
      };
    },

    templates({ principal }) {
      authorize(principal);
      return {
        resourceTemplates: [
          {
            uriTemplate: 'patchbay://docs/{name}',
            name: 'page',
            title: 'One documentation page',
            mimeType: MARKDOWN,
          },
        ],
      };
    },

    async read({ principal }, uri) {
      authorize(principal);
      const name = /^(?:patchbay|eddi):\/\/docs\/(.+)$/.exec(uri)?.[1];
      if (name === undefined) return undefined;
      if (name === 'index') {
        const names = await docs.list();
        if (names.length === 0) return undefined;
        return {
          uri,
          mimeType: MARKDOWN,
          text: names.map(page => `- [${page}](patchbay://docs/${page})`).join('\n'),
        };
      }
      const page = await docs.read(name);
      return page.ok ? { uri, mimeType: MARKDOWN, text: page.value } : undefined;
    },
  };
}
