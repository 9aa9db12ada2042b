import { z } from 'zod';
import { defineOperation, type Family, READS, REMOVES, RUNS_AGENT, SETS, UPDATES } from '../operation.ts';
import { limitOf } from './arguments.ts';

const family: Family = {
  name: 'Servers',
  description:
    'MCP servers whose tools agents use, by name. Those of the configuration file are changed there; others are added and removed here, while the platform runs.',
};

const MAX_TOOL_NAME = 128;
const MAX_ACCEPTED = 5_000;
const MAX_TOOLS = 200;

const instance = z
  .string()
  .max(100)
  .default('default')
  .describe('Optional. Which set of servers; instances do not see each other; default: default');
const name = z.string().max(100).describe('Name of the server');
const anyInstance = z
  .string()
  .max(100)
  .optional()
  .describe('Optional. Only servers of this instance; if omitted, of all');

const state = z
  .enum(['unknown', 'available', 'degraded', 'unavailable'])
  .describe('degraded is usable, but not all that is expected of it is there');

const server = z.string().describe('As logs name it: default/github');

const summary = {
  server,
  instance: z.string(),
  name: z.string(),
  source: z.enum(['configuration', 'added']).describe('Where it is changed'),
  transport: z.enum(['stdio', 'http', 'unknown']),
  state,
  toolCount: z.int().describe('Tools it offers to agents; 0 while it is down'),
  problem: z.string().optional().describe('Why it is down or degraded, in a sentence'),
};

const tool = {
  name: z.string().describe("The server's own name of it"),
  offeredAs: z.string().optional().describe('Under which agents get it; missing for one they do not get'),
  standing: z
    .enum(['offered', 'left-out', 'held', 'quarantined'])
    .describe('left-out by only and except, held because it changed, quarantined because it cannot be used'),
  reason: z.string().optional(),
  changes: z.array(z.string()).describe('What is different from what was accepted, a line each'),
  digest: z.string().optional().describe('Of the tool as it is now, where it is another than was accepted'),
};

const details = z.object({
  ...summary,
  options: z
    .record(z.string(), z.unknown())
    .describe('Its options. Of headers and variables only that they are set, or what they refer to'),
  says: z.string().describe('How it is, in a sentence'),
  remedy: z.string().optional().describe('What to do about it'),
  retryOn: z.int().optional().describe('When the next try to connect is due'),
  speaks: z
    .object({ name: z.string(), version: z.string(), protocol: z.string() })
    .optional()
    .describe('As it introduced itself, and the revision that is spoken with it'),
  attention: z
    .array(z.object(tool))
    .describe('Tools that were held back, quarantined, or changed since they were accepted; 100 at the most'),
  stderr: z.array(z.string()).describe('The last lines a command wrote to its standard error'),
  addedBy: z.string().optional(),
  addedOn: z.int().optional(),
  changedOn: z.int().optional(),
});

export const addServer = defineOperation({
  name: 'add_server',
  family,
  title: 'Add an MCP server',
  description:
    'Adds an MCP server, on all nodes at once: a program of this machine, or one behind an address. Credentials that stand in its options go into the vault, and no operation shows them again. Rules reach it as patchbay:servers/<name>.',
  input: z.object({
    name: name.describe('Name of the server; its tools are called <name>__<tool>'),
    options: z
      .record(z.string(), z.unknown())
      .describe(
        'How it is reached, and what of it is used: {"command": "npx", "args": [...], "env": {...}} or {"url": "https://...", "headers": {...}}; the page servers has all options',
      ),
    instance,
    vaulted: z
      .array(z.string().max(200))
      .max(100)
      .optional()
      .describe(
        'Optional. Names in env whose values go into the vault whatever they look like; if omitted, those that look like a credential',
      ),
    replace: z
      .boolean()
      .default(false)
      .describe('Optional. Takes the place of one that was added under that name before; default: false'),
    wait: z
      .boolean()
      .default(false)
      .describe(
        'Optional. Answers when the first try to connect has ended, at most its connectTimeout; default: false',
      ),
  }),
  output: details,
  errors: ['not_found', 'conflict', 'disabled'],
  tier: 'admin',
  tool: false,
  annotations: { ...UPDATES, openWorldHint: true },
  runsTurn: false,
  rest: { method: 'POST', path: '/servers', successStatus: 201 },
  examples: [],
});

export const listServers = defineOperation({
  name: 'list_servers',
  family,
  title: 'List MCP servers',
  description: 'The MCP servers by instance and name, each with how it is now on the node that answers.',
  input: z.object({ instance: anyInstance }),
  output: z.object({ count: z.int(), servers: z.array(z.object(summary)) }),
  errors: ['not_found'],
  tier: 'author',
  tool: false,
  annotations: READS,
  runsTurn: false,
  rest: { method: 'GET', path: '/servers' },
  examples: [{}],
});

export const readServer = defineOperation({
  name: 'read_server',
  family,
  title: 'Read an MCP server',
  description:
    'How a server is reached and used, without its credentials; how it is now, and what to do where it is down; which of its tools need a look.',
  input: z.object({ name, instance }),
  output: details,
  errors: ['not_found'],
  tier: 'author',
  tool: false,
  annotations: READS,
  runsTurn: false,
  rest: { method: 'GET', path: '/servers/{name}' },
  examples: [],
});

export const listServerTools = defineOperation({
  name: 'list_server_tools',
  family,
  title: 'List the tools of an MCP server',
  description:
    'The tools of a server as they were listed last, in the order of their names, those that agents do not get too, with the reason.',
  input: z.object({
    name,
    instance,
    after: z
      .string()
      .max(MAX_TOOL_NAME)
      .optional()
      .describe('Optional. Only names behind this one, for the next page; if omitted, from the first'),
    limit: limitOf(MAX_TOOLS, 50),
  }),
  output: z.object({
    count: z.int(),
    total: z.int(),
    tools: z.array(
      z.object({
        ...tool,
        title: z.string().optional(),
        description: z.string().optional().describe("The server's word"),
        inputSchema: z.record(z.string(), z.unknown()),
        annotations: z.record(z.string(), z.unknown()).describe('Hints the server gives'),
        suspicious: z
          .array(z.string())
          .optional()
          .describe('What in the texts of a server that is not trusted looks like instructions to a model'),
      }),
    ),
  }),
  errors: ['not_found'],
  tier: 'author',
  tool: false,
  annotations: READS,
  runsTurn: false,
  rest: { method: 'GET', path: '/servers/{name}/tools' },
  examples: [],
});

export const acceptServerTools = defineOperation({
  name: 'accept_server_tools',
  family,
  title: 'Accept the tools of an MCP server',
  description:
    'Takes tools as they are now for accepted: they are no longer reported as changed, and those that were held back are offered again.',
  input: z.object({
    name,
    instance,
    tools: z
      .array(z.string().min(1).max(MAX_TOOL_NAME))
      .min(1)
      .max(MAX_ACCEPTED)
      .optional()
      .describe("Optional. The server's own names of the tools; if omitted, all"),
    digests: z
      .record(z.string().max(MAX_TOOL_NAME), z.string().max(100))
      .optional()
      .describe(
        'Optional. By name, the digest of each tool as somebody looked at it: nothing is accepted when one is another by now',
      ),
  }),
  output: z.object({ server, count: z.int(), accepted: z.array(z.string()) }),
  errors: ['not_found', 'conflict', 'unavailable'],
  tier: 'admin',
  tool: false,
  annotations: SETS,
  runsTurn: false,
  rest: { method: 'POST', path: '/servers/{name}/accepted-tools' },
  examples: [],
});

export const callServerTool = defineOperation({
  name: 'call_server_tool',
  family,
  title: 'Call a tool of an MCP server',
  description:
    'Calls a tool by hand, once, to see what a server answers. A call that failed is an answer, too; it says whether the server may have got it.',
  input: z.object({
    name,
    tool: z.string().min(1).max(MAX_TOOL_NAME).describe("The server's own name of the tool"),
    arguments: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('Optional. What the tool is given, as an object; if omitted, nothing'),
    instance,
  }),
  output: z.object({
    server,
    outcome: z
      .enum(['answered', 'refused', 'failed'])
      .describe('refused was not sent; failed may have arrived, which reached says'),
    isError: z.boolean().optional().describe('The tool answered that it failed'),
    text: z.string().optional().describe("The server's word"),
    structuredContent: z.unknown().optional().describe("The server's word"),
    cut: z.boolean().optional().describe('It was longer than maxResultBytes'),
    outside: z.boolean().optional().describe('The server is not trusted'),
    suspicious: z
      .array(z.string())
      .optional()
      .describe('What in the answer of a server that is not trusted looks like instructions to a model'),
    code: z.string().optional().describe('Why it was refused or failed, as SERVER_UNAVAILABLE or TIMEOUT'),
    message: z.string().optional(),
    reached: z.enum(['no', 'yes', 'unknown']).optional().describe('Did the server get the call?'),
  }),
  errors: ['not_found'],
  tier: 'admin',
  tool: false,
  annotations: RUNS_AGENT,
  runsTurn: false,
  rest: { method: 'POST', path: '/servers/{name}/calls' },
  examples: [],
});

export const discoverMcpTools = defineOperation({
  name: 'discover_mcp_tools',
  family,
  title: 'Look at the tools of an address',
  description:
    'Connects once to an MCP server behind an address, says which tools it has, and keeps nothing: for who writes an mcpcalls document.',
  input: z.object({
    url: z.string().min(1).max(2_000).describe('Where the server is, as mcpServerUrl of a document'),
    transport: z.string().max(40).optional().describe('Optional. http; if omitted, http'),
    apiKey: z
      .string()
      .max(10_000)
      .optional()
      .describe('Optional. The key itself, as apiKey of a document; no reference to a secret'),
    limit: limitOf(MAX_TOOLS, MAX_TOOLS),
  }),
  output: z.object({
    count: z.int().describe('Of all its tools'),
    tools: z
      .array(
        z.object({
          name: z.string(),
          description: z.string().optional().describe('Without what gives orders to a model'),
          inputSchema: z.record(z.string(), z.unknown()),
        }),
      )
      .describe('As many as asked for'),
    quarantined: z
      .array(z.object({ name: z.string(), reason: z.string() }))
      .describe('Tools that cannot be used, and why; as many as asked for'),
  }),
  errors: ['unavailable'],
  tier: 'author',
  tool: false,
  annotations: { ...READS, openWorldHint: true },
  runsTurn: false,
  rest: { method: 'POST', path: '/mcpcalls/discover-tools' },
  examples: [],
});

export const reconcileServers = defineOperation({
  name: 'reconcile_servers',
  family,
  title: 'Read the added servers again',
  description:
    'Has the node that answers read the added servers at once. It hears of changes by itself and reads them every minute; this is for who does not want to wait.',
  input: z.object({ instance }),
  output: z.object({ count: z.int(), servers: z.array(z.string()).describe('Names') }),
  errors: ['not_found'],
  tier: 'admin',
  tool: false,
  annotations: SETS,
  runsTurn: false,
  rest: { method: 'POST', path: '/servers/reconciliation' },
  examples: [{}],
});

export const removeServer = defineOperation({
  name: 'remove_server',
  family,
  title: 'Remove an MCP server',
  description:
    'Removes a server that was added, on all nodes at once, with its credentials in the vault. One of the configuration file is taken out there.',
  input: z.object({ name, instance }),
  output: z.object({ server, removed: z.boolean().describe('There was one') }),
  errors: ['not_found', 'conflict'],
  tier: 'admin',
  tool: false,
  annotations: REMOVES,
  runsTurn: false,
  rest: { method: 'DELETE', path: '/servers/{name}' },
  examples: [],
});
