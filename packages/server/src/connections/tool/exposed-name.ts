import { sha256OfJson } from '../../kernel/digest.ts';
import { formatServerRef, type ServerRef } from '../server/definition.ts';

/** What a server offers to an agent. */
export interface OfferedTools {
  readonly server: ServerRef;
  /** In front of each name, with two underscores; empty is none. */
  readonly prefix: string;
  /** The server's own names, each once. */
  readonly tools: readonly string[];
}

export interface ExposedTool {
  readonly server: ServerRef;
  /** The server's own name. */
  readonly tool: string;
}

export interface ExposedTools {
  /** By the name a model calls it: the only way back from a name to a tool. No name is ever taken apart. */
  readonly byName: ReadonlyMap<string, ExposedTool>;
  /** Tools that no name was left for, each with the reason, a sentence for whoever has configured the agent. */
  readonly setAside: readonly (ExposedTool & { readonly reason: string })[];
}

const SEPARATOR = '__';
const MAX_LENGTH = 64;
/** What every provider takes for the name of a tool. */
const VALID = /^[A-Za-z_][A-Za-z0-9_-]*$/;
const TAIL_DIGITS = 12;
/** A name of a server that ends like this gets a tail of its own, so that nobody can take the name of another's tool. */
const TAILED = new RegExp(`_[0-9a-f]{${TAIL_DIGITS}}$`);

/**
 * Gives all tools of an agent their names: `<prefix>__<tool>`, or the tool's own where there is no prefix (W-16, W-17), shortened or with
 * characters replaced where providers would refuse it, and then with a tail that tells it from others. A name depends on the tool, not
 * on the order of the servers: prefixed tools that would be called the same all get a tail (attack 25). A tool without a prefix
 * gives way to one with a prefix, and to an earlier one without (C1, EX-05).
 */
export function exposeTools(servers: readonly OfferedTools[]): ExposedTools {
  const all = servers.flatMap(({ server, prefix, tools }) => tools.map(tool => ({ server, prefix, tool })));
  const byName = new Map<string, ExposedTool>();
  const setAside: (ExposedTool & { reason: string })[] = [];
  const take = (name: string, { server, tool }: ExposedTool): void => {
    const taken = byName.get(name);
    if (taken) setAside.push({ server, tool, reason: whyTaken(name, taken) });
    else byName.set(name, { server, tool });
  };
  const prefixed = all.filter(({ prefix }) => prefix !== '');
  for (const [name, same] of Map.groupBy(prefixed, one => nameOf(one.prefix + SEPARATOR + one.tool, one))) {
    for (const one of same) take(same.length === 1 ? name : apart(one), one);
  }
  for (const one of all.filter(({ prefix }) => prefix === '')) take(nameOf(one.tool, one), one);
  return { byName, setAside };
}

interface PrefixedTool extends ExposedTool {
  readonly prefix: string;
}

function nameOf(wanted: string, { prefix, tool }: PrefixedTool): string {
  const isFree = wanted.length <= MAX_LENGTH && VALID.test(wanted) && !TAILED.test(wanted);
  return isFree ? wanted : withTail(wanted, [prefix, tool]);
}

function apart({ server, prefix, tool }: PrefixedTool): string {
  return withTail(prefix + SEPARATOR + tool, [server.scope, server.name, prefix, tool]);
}

/** `whose` is what tells the name from others that look alike without their tails. */
function withTail(wanted: string, whose: readonly string[]): string {
  const valid = wanted.replace(/[^A-Za-z0-9_-]/gu, '_').replace(/^(?![A-Za-z_])/, '_');
  const tail = `_${sha256OfJson(whose).slice(0, TAIL_DIGITS)}`;
  return valid.slice(0, MAX_LENGTH - tail.length) + tail;
}

function whyTaken(name: string, { server, tool }: ExposedTool): string {
  return `The name ${name} belongs to the tool ${JSON.stringify(tool)} of ${formatServerRef(server)}; give one of the two servers a prefix.`;
}
