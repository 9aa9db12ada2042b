import { z } from 'zod';
import { defineOperation, type Family, READS } from '../operation.ts';

const family: Family = { name: 'Documentation', description: 'The pages of this documentation.' };

export const listDocs = defineOperation({
  name: 'list_docs',
  family,
  title: 'List documentation pages',
  description: 'Names of the pages of the Patchbay documentation. Read one with read_docs.',
  input: z.object({}),
  output: z.object({ count: z.int(), docs: z.array(z.string()) }),
  errors: [],
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
  family,
  title: 'Read a documentation page',
  description: 'The markdown text of one documentation page. Names come from list_docs.',
  input: z.object({ name: z.string().describe('Name of the page as list_docs gives it, without .md') }),
  output: z.object({ name: z.string(), markdown: z.string() }),
  errors: ['not_found'],
  tier: 'docs',
  tool: true,
  annotations: READS,
  runsTurn: false,
  rest: { method: 'GET', path: '/docs/{name}' },
  asText: ({ markdown }) => markdown,
  examples: [{ name: 'getting-started' }],
});
