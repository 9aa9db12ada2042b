import { aiSdk1, aiSdk2 } from './ai-sdk.ts';
import { langchain } from './langchain.ts';
import { mastra } from './mastra.ts';
import { mcpRemoteNewest, mcpRemoteOlder } from './mcp-remote.ts';
import { openaiAgents } from './openai-agents.ts';
import type { StockClient } from './stock-client.ts';

export const STOCK_CLIENTS: readonly StockClient[] = [
  mcpRemoteOlder,
  mcpRemoteNewest,
  openaiAgents,
  aiSdk2,
  aiSdk1,
  mastra,
  langchain,
];
