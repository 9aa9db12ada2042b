/** Tools of the platform itself that a task may let its model call: none of them reaches anything outside. */
export const BUILT_IN_TOOLS = ['calculator', 'datetime', 'dataformatter'] as const;

export type BuiltInToolName = (typeof BUILT_IN_TOOLS)[number];
