// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${vault:key} are the product's own syntax
import { z } from 'zod';
import { ENVIRONMENTS } from '../environments.ts';
import { CREATES, defineOperation, type Family } from '../operation.ts';
import { environment } from './arguments.ts';
import { DEPLOYMENT_STATES } from './deployment.ts';

const family: Family = {
  name: 'Setup',
  description:
    'Make a whole agent in one call: a language model, the tools it may use, and all that goes with it.',
};

const location = z.string().describe('patchbay://<type>/<id>?version=<n>');

export const setupAgent = defineOperation({
  name: 'setup_agent',
  family,
  title: 'Set up an agent',
  description:
    'Makes an agent with a language model, which may call the tools of MCP servers, and deploys it: all of it or nothing. A key is kept in the vault, and only a reference to it is answered. Calling it again makes another agent: look with list_agents first.',
  input: z.object({
    agentName: z.string().trim().min(1).max(200).describe('What people call the agent'),
    systemPrompt: z
      .string()
      .min(1)
      .max(100_000)
      .describe('Who the agent is and what it is to do; a template'),
    provider: z
      .string()
      .max(100)
      .default('anthropic')
      .describe(
        'Optional. Whose model it is, such as openai, gemini, ollama or openai-compatible; default: anthropic',
      ),
    model: z.string().max(200).optional().describe("Optional. If omitted, the provider's usual one"),
    apiKey: z
      .string()
      .max(10_000)
      .optional()
      .describe(
        'Optional. Key of the provider, which goes into the vault, or a reference to one that is there: ${vault:name}. If omitted, the provider must need none',
      ),
    baseUrl: z
      .string()
      .max(2_000)
      .optional()
      .describe("Optional. Where the model is served. If omitted, the provider's own address"),
    introMessage: z
      .string()
      .max(10_000)
      .optional()
      .describe('Optional. What the agent says when a conversation begins; a template. If omitted, nothing'),
    enableBuiltInTools: z
      .boolean()
      .default(false)
      .describe('Optional. May the model use the tools that come with the platform? default: false'),
    builtInToolsWhitelist: z
      .string()
      .max(2_000)
      .optional()
      .describe('Optional. Comma list of the built-in tools it may use. If omitted, all of them'),
    enableQuickReplies: z
      .boolean()
      .default(false)
      .describe('Optional. Has the model offer answers to click on; default: false'),
    enableSentimentAnalysis: z
      .boolean()
      .default(false)
      .describe(
        'Optional. Has the model say how the person feels, in the record of each turn; default: false',
      ),
    mcpServerUrls: z
      .string()
      .max(20_000)
      .optional()
      .describe(
        'Optional. Comma list of MCP servers whose tools the model may call: http(s) addresses, or patchbay:servers/<name> for a server that is registered here',
      ),
    deploy: z.boolean().default(true).describe('Optional. Deploys the agent; default: true'),
    environment,
  }),
  output: z.object({
    action: z.literal('setup_complete'),
    agentId: z.string(),
    agentName: z.string(),
    provider: z.string(),
    model: z.string(),
    deployed: z.boolean(),
    deploymentStatus: z.enum(DEPLOYMENT_STATES),
    quickRepliesEnabled: z.literal(true).optional(),
    sentimentAnalysisEnabled: z.literal(true).optional(),
    resources: z
      .object({
        parserLocation: location.describe('Of the workflow, which holds the parser'),
        behaviorLocation: location.describe('Of the rules'),
        langchainLocation: location.describe('Of the language model and what it may do'),
        outputLocation: location.optional(),
        packageLocation: location.describe('Of the workflow'),
        agentLocation: location,
        environment: z.enum(ENVIRONMENTS),
        vaultWarning: z.string().optional().describe('What the agent refers to that is not there yet'),
      })
      .catchall(z.string())
      .describe('What was made; mcpCallsLocation_0 and so on are the MCP servers, in their order'),
    apiKeyVaultReference: z
      .string()
      .nullable()
      .describe('How the key is referred to; null where there is none, never the key'),
  }),
  errors: ['forbidden', 'conflict', 'disabled'],
  tier: 'admin',
  tool: true,
  annotations: CREATES,
  runsTurn: false,
  rest: { method: 'POST', path: '/agent-setups', successStatus: 201 },
  examples: [
    {
      agentName: 'Librarian',
      systemPrompt: 'You help people find books. Answer in one sentence.',
      provider: 'ollama',
      introMessage: 'Hello! Which book are you looking for?',
      mcpServerUrls: 'https://books.example/mcp',
    },
  ],
});
