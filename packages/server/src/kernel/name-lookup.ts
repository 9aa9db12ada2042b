import { createQueue } from './queue.ts';

export type NameLookup = (name: string) => Promise<readonly string[]>;

const MAX_REMEMBERED = 10_000;

/**
 * Looks names up so that those that take long, as where a server is gone for good, hold up neither the others nor the process, whose four threads
 * files and cryptography need, too: few at a time, apart by what came of them last, and one name once however many ask. What was found is not
 * kept: each connection asks anew.
 */
export function createNameLookup(lookup: NameLookup): NameLookup {
  const lanes = { found: createQueue(1), lost: createQueue(1), unknown: createQueue(2) };
  const last = new Map<string, 'found' | 'lost'>();
  const asked = new Map<string, Promise<readonly string[]>>();

  function remember(name: string, outcome: 'found' | 'lost'): void {
    last.delete(name);
    if (last.size >= MAX_REMEMBERED) last.delete(last.keys().next().value!);
    last.set(name, outcome);
  }

  async function ask(name: string): Promise<readonly string[]> {
    try {
      const addresses = await lanes[last.get(name) ?? 'unknown'](() => lookup(name));
      remember(name, 'found');
      return addresses;
    } catch (error) {
      remember(name, 'lost');
      throw error;
    } finally {
      asked.delete(name);
    }
  }

  return name => {
    let asking = asked.get(name);
    if (!asking) {
      asking = ask(name);
      asked.set(name, asking);
    }
    return asking;
  };
}
