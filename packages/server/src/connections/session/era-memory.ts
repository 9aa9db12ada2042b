import type { Clock } from '../../kernel/clock.ts';

/** How a server of the older eras was reached last. */
export type OlderWay = 'initialize' | 'sse';

/** A server may have learned a newer revision meanwhile, and would answer the older one for ever. */
const BELIEVED_MS = 3_600_000;
const MAX_KEPT = 10_000;

/** Remembers which servers speak an older era, so that they are not asked at every connection. Of the others nothing is remembered: asking them costs nothing more. */
export interface EraMemory {
  older(key: string): OlderWay | undefined;
  remember(key: string, way: OlderWay): void;
  forget(key: string): void;
}

export function createEraMemory(clock: Pick<Clock, 'now'>): EraMemory {
  const known = new Map<string, { readonly way: OlderWay; readonly until: number }>();
  return {
    older(key) {
      const entry = known.get(key);
      return entry && entry.until > clock.now() ? entry.way : undefined;
    },
    remember(key, way) {
      known.delete(key);
      if (known.size >= MAX_KEPT) known.delete(known.keys().next().value!);
      known.set(key, { way, until: clock.now() + BELIEVED_MS });
    },
    forget: key => void known.delete(key),
  };
}
