/** Where an agent is deployed; a conversation keeps the environment it was started in (E-19). */
export const ENVIRONMENTS = ['production', 'test'] as const;
export type Environment = (typeof ENVIRONMENTS)[number];

/** EDDI's older words for production (platform.md 1.6). */
export const OLD_NAMES_OF_PRODUCTION: readonly string[] = ['unrestricted', 'restricted'];
