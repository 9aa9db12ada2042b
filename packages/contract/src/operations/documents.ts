import { z } from 'zod';
import { DOCUMENT_TYPES } from '../ids.ts';
import { CREATES, DELETES, defineOperation, type Family, READS, UPDATES } from '../operation.ts';
import { RESOURCE_TYPES } from '../resource-types.ts';
import { currentVersion, filter, latestVersion, limit, permanent } from './arguments.ts';

const family: Family = {
  name: 'Documents',
  description:
    'Read and write what agents are made of: versioned documents. A change makes the next version.',
};

/** What is known of a document besides its body. */
export const descriptor = z.object({
  resource: z.string(),
  name: z.string(),
  description: z.string(),
  createdBy: z.string(),
  createdOn: z.int(),
  lastModifiedBy: z.string(),
  lastModifiedOn: z.int(),
});

const configuration = z.record(z.string(), z.unknown());

export const listWorkflows = defineOperation({
  name: 'list_workflows',
  family,
  title: 'List workflows',
  description: 'Your workflows, last changed first.',
  input: z.object({ filter, limit }),
  output: z.object({ count: z.int(), workflows: z.array(descriptor) }),
  errors: [],
  tier: 'author',
  tool: true,
  annotations: READS,
  runsTurn: false,
  rest: { method: 'GET', path: '/workflows' },
  examples: [{}],
});

export const readWorkflow = defineOperation({
  name: 'read_workflow',
  family,
  title: 'Read a workflow',
  description: 'One version of a workflow: which steps a turn runs, in which order, with which resources.',
  input: z.object({ workflowId: z.string().describe('Id of the workflow'), version: latestVersion }),
  output: z.object({
    workflowId: z.string(),
    version: z.int(),
    extensionCount: z.int().describe('Number of steps'),
    configuration,
  }),
  errors: ['not_found'],
  tier: 'author',
  tool: true,
  annotations: READS,
  runsTurn: false,
  rest: { method: 'GET', path: '/workflows/{workflowId}' },
  examples: [{ workflowId: 'demo' }],
});

const resourceType = z.string().describe(`What it is: one of ${RESOURCE_TYPES.join(', ')}`);
const resourceId = z.string().describe('Id of the resource');
const config = z.string().describe('The whole document as JSON text; an unknown member is refused');

export const readResource = defineOperation({
  name: 'read_resource',
  family,
  title: 'Read a resource',
  description: 'One version of a resource of an agent, such as its rules or its output.',
  input: z.object({ resourceType, resourceId, version: latestVersion }),
  output: z.object({
    resourceType: z.string(),
    resourceId: z.string(),
    version: z.int(),
    configuration,
  }),
  errors: ['not_found'],
  tier: 'author',
  tool: true,
  annotations: READS,
  runsTurn: false,
  rest: { method: 'GET', path: '/resources/{resourceType}/{resourceId}' },
  examples: [{ resourceType: 'behavior', resourceId: 'demo' }],
});

export const createResource = defineOperation({
  name: 'create_resource',
  family,
  title: 'Create a resource',
  description: 'Makes version 1 of a new resource. An agent uses it once a workflow names it.',
  input: z.object({ resourceType, config }),
  output: z.object({
    resourceType: z.string(),
    resourceId: z.string(),
    version: z.int(),
    resourceUri: z.string(),
    status: z.int(),
    action: z.literal('created'),
  }),
  errors: [],
  tier: 'author',
  tool: true,
  annotations: CREATES,
  runsTurn: false,
  rest: { method: 'POST', path: '/resources/{resourceType}', successStatus: 201 },
  examples: [
    {
      resourceType: 'dictionaries',
      config: '{"words":[{"word":"coffee","expressions":"drink(coffee)"}]}',
    },
  ],
});

export const updateResource = defineOperation({
  name: 'update_resource',
  family,
  title: 'Update a resource',
  description:
    'Makes the next version of a resource. Agents keep the version they name until apply_agent_changes puts the new one in.',
  input: z.object({ resourceType, resourceId, version: currentVersion, config }),
  output: z.object({
    resourceType: z.string(),
    resourceId: z.string(),
    previousVersion: z.int(),
    newVersion: z.int(),
    resourceUri: z.string(),
    status: z.int(),
    action: z.literal('updated'),
  }),
  errors: ['not_found', 'conflict'],
  tier: 'author',
  tool: true,
  annotations: UPDATES,
  runsTurn: false,
  rest: { method: 'POST', path: '/resources/{resourceType}/{resourceId}' },
  examples: [],
});

export const deleteResource = defineOperation({
  name: 'delete_resource',
  family,
  title: 'Delete a resource',
  description:
    'Hides a resource; its versions stay readable by number, and agents that name one go on. With permanent every version is gone.',
  input: z.object({ resourceType, resourceId, version: currentVersion, permanent }),
  output: z.object({
    resourceType: z.string(),
    resourceId: z.string(),
    version: z.int(),
    permanent: z.boolean(),
    status: z.int(),
    action: z.literal('deleted'),
  }),
  errors: ['not_found', 'conflict'],
  tier: 'author',
  tool: true,
  annotations: DELETES,
  runsTurn: false,
  rest: { method: 'DELETE', path: '/resources/{resourceType}/{resourceId}' },
  examples: [],
});

const type = z.enum(DOCUMENT_TYPES).describe('Type of the document');
const id = z.string().describe('Id of the document');
const body = z.record(z.string(), z.unknown()).describe('The whole document');

const savedDocument = z.object({
  type: z.enum(DOCUMENT_TYPES),
  id: z.string(),
  version: z.int(),
  uri: z.string(),
  name: z.string(),
  description: z.string(),
});

export const createDocument = defineOperation({
  name: 'create_document',
  family,
  title: 'Create a document',
  description:
    'Makes version 1 of a document of any type: also of a workflow or an agent, and under an id of your choice.',
  input: z.object({
    type,
    id: z
      .string()
      .optional()
      .describe('Optional. 2 to 64 characters of a-z, 0-9, _ and -; if omitted, one is made up'),
    name: z.string().max(200).optional().describe('Optional. If omitted, the id'),
    description: z.string().max(2_000).optional().describe('Optional. What it is for'),
    body,
  }),
  output: savedDocument,
  errors: ['conflict'],
  tier: 'author',
  tool: false,
  annotations: CREATES,
  runsTurn: false,
  rest: { method: 'POST', path: '/documents/{type}', successStatus: 201 },
  examples: [
    {
      type: 'workflow',
      id: 'front-desk',
      name: 'Front desk',
      body: {
        workflowSteps: [
          { type: 'parser' },
          { type: 'rules', config: { uri: 'patchbay://rules/demo?version=1' } },
          { type: 'output', config: { uri: 'patchbay://output/demo?version=1' } },
          { type: 'templating' },
        ],
      },
    },
  ],
});

export const updateDocument = defineOperation({
  name: 'update_document',
  family,
  title: 'Update a document',
  description: 'Makes the next version of a document of any type.',
  input: z.object({
    type,
    id,
    version: currentVersion,
    body,
    name: z.string().max(200).optional().describe('Optional. If omitted, the name stays'),
    description: z.string().max(2_000).optional().describe('Optional. If omitted, the description stays'),
    compatible: z
      .boolean()
      .default(false)
      .describe(
        'Optional. Of an agent: running conversations go on with this version from their next turn on, once it is deployed; default: false',
      ),
  }),
  output: savedDocument.extend({ previousVersion: z.int() }),
  errors: ['not_found', 'agent_not_found', 'conflict'],
  tier: 'author',
  tool: false,
  annotations: UPDATES,
  runsTurn: false,
  rest: { method: 'POST', path: '/documents/{type}/{id}' },
  examples: [],
});

export const readDocument = defineOperation({
  name: 'read_document',
  family,
  title: 'Read a document',
  description: 'One version of a document of any type, a deleted one by its number.',
  input: z.object({ type, id, version: latestVersion }),
  output: z.object({
    type: z.enum(DOCUMENT_TYPES),
    id: z.string(),
    version: z.int(),
    uri: z.string(),
    createdBy: z.string(),
    createdOn: z.int(),
    body: configuration,
  }),
  errors: ['not_found', 'agent_not_found'],
  tier: 'author',
  tool: false,
  annotations: READS,
  runsTurn: false,
  rest: { method: 'GET', path: '/documents/{type}/{id}' },
  examples: [{ type: 'output', id: 'demo', version: 1 }],
});

export const listDocuments = defineOperation({
  name: 'list_documents',
  family,
  title: 'List documents',
  description: 'Your documents of one type, last changed first.',
  input: z.object({ type, filter, limit }),
  output: z.object({ count: z.int(), documents: z.array(descriptor) }),
  errors: [],
  tier: 'author',
  tool: false,
  annotations: READS,
  runsTurn: false,
  rest: { method: 'GET', path: '/documents/{type}' },
  examples: [{ type: 'rules' }],
});

export const deleteDocument = defineOperation({
  name: 'delete_document',
  family,
  title: 'Delete a document',
  description: 'Hides a document, or removes every version for good. An agent is undeployed first.',
  input: z.object({ type, id, version: currentVersion, permanent }),
  output: z.object({
    type: z.enum(DOCUMENT_TYPES),
    id: z.string(),
    version: z.int(),
    permanent: z.boolean(),
  }),
  errors: ['not_found', 'agent_not_found', 'conflict'],
  tier: 'author',
  tool: false,
  annotations: DELETES,
  runsTurn: false,
  rest: { method: 'DELETE', path: '/documents/{type}/{id}' },
  examples: [],
});
