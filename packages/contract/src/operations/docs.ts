import { z } from 'zod';
import { defineOperation, READS } from '../operation.ts';

export const listDocs = defineOperation({
  name: 'list_docs',
  title: 'List documentation pages',
  description: 'Names of the pages of the Patchbay documentation. Read one with read_docs.',
  input: z.object({}),
  output: z.object({ count: z.int(), docs: z.array(z.string()) }),
  tier: 'docs',
  tool: true,
  annotations: READS,
  runsTurn: false,
  rest: { method: 'GET', path: '/docs' },
  asText: ({ docs }) => (docs.length === 0 ? 'No documentation pages are available.' : docs.join('\n')),
  examples: [{}],
});

export const readDocs = defineOperation({
  name: 'read_docs',
  title: 'Read a documentation page',
  description: 'The markdown text of one documentation page. Names come from list_docs.',
  input: z.object({ name: z.string().describe('Name of the page as list_docs gives it, without .md') }),
  output: z.object({ name: z.string(), markdown: z.string() }),
  tier: 'docs',
  tool: true,
  annotations: READS,
  runsTurn: false,
  rest: { method: 'GET', path: '/docs/{name}' },
  asText: ({ markdown }) => markdown,
  examples: [{ name: 'getting-started' }],
});
