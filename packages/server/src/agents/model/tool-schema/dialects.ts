/** Which subset of JSON Schema a provider takes for the arguments of tools; `plain` is what all of them take. */
export type SchemaDialect = 'anthropic' | 'openai' | 'gemini' | 'plain';

/** What a provider takes of the list of tools, whatever their schemas. */
export interface ToolLimits {
  readonly name: RegExp;
  /** Tools in one request. */
  readonly tools: number;
}

export const TOOL_LIMITS: Readonly<Record<SchemaDialect, ToolLimits>> = {
  anthropic: { name: /^[A-Za-z0-9_-]{1,128}$/, tools: 1_000 },
  openai: { name: /^[A-Za-z0-9_-]{1,64}$/, tools: 128 },
  gemini: { name: /^[A-Za-z_][A-Za-z0-9_.:-]{0,63}$/, tools: 512 },
  // Groq and DeepSeek document the limit of the interface that they copy.
  plain: { name: /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/, tools: 128 },
};
