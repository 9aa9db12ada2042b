import { Fault } from '../../kernel/errors.ts';

/**
 * The plain data that templates and `valuePath` can reach, and nothing else (platform.md 3.9). What is below an open
 * name is the conversation's own business; a path to anything not listed is refused when saved or deployed.
 */
const OPEN = 'open';
type Shape = typeof OPEN | { readonly [name: string]: Shape };
const LAST = {
  input: OPEN,
  expressions: OPEN,
  intents: OPEN,
  actions: OPEN,
  output: OPEN,
  quickReplies: OPEN,
} as const;
export const DATA_SHAPE = {
  input: OPEN,
  context: OPEN,
  properties: OPEN,
  httpCalls: OPEN,
  mcpCalls: OPEN,
  vars: OPEN,
  memory: {
    current: {
      input: OPEN,
      expressions: OPEN,
      intents: OPEN,
      actions: OPEN,
      output: OPEN,
      quickReplies: OPEN,
      httpCalls: OPEN,
      mcpCalls: OPEN,
      hitlDecision: OPEN,
      hitlDecisionNote: OPEN,
      capabilityMatch: { results: OPEN },
    },
    last: LAST,
    previous: LAST,
    past: OPEN,
  },
  conversationLog: OPEN,
  userInfo: { userId: OPEN },
  conversationInfo: { conversationId: OPEN, agentId: OPEN, agentVersion: OPEN, environment: OPEN },
} as const satisfies Shape;

export type DataPath = readonly (string | number)[];

const MAX_PATH = 1_000;

/** Reads `memory.current.actions[0]`; a text that is no path to known data gives the problem as a phrase. */
export function parseDataPath(text: string): DataPath | string {
  const path = readSegments(text);
  if (typeof path?.[0] !== 'string')
    return 'must be a path such as "memory.current.actions" or "properties.items[0]"';
  return dataPathProblem(path!) ?? path!;
}

/** Reads a path of a document that was parsed, where it was found to be one. */
export function knownDataPath(text: string): DataPath {
  const path = parseDataPath(text);
  if (typeof path !== 'string') return path;
  throw new Fault('no_data_path', 'A document that was parsed holds something else than a path.');
}

/** Reads a path into data nobody knows beforehand, also as JSONPath writes it: `$.user.name`. */
export function parsePath(text: string): DataPath | string {
  return (
    readSegments(text.replace(/^\$\.?(?=.)/, '')) ?? 'must be a path such as "user.names[0]" or "$.user.name"'
  );
}

function readSegments(text: string): DataPath | undefined {
  if (text.length > MAX_PATH || !/^([^.[\]\s]+|\[\d{1,9}\])(\.[^.[\]\s]+|\[\d{1,9}\])*$/.test(text))
    return undefined;
  return [...text.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map(([name, index]) =>
    index === undefined ? name : Number(index),
  );
}

/** What is wrong with a path, as a phrase; a segment that is no text is only known in the turn and accepted. */
export function dataPathProblem(path: readonly unknown[]): string | undefined {
  let shape: Shape = DATA_SHAPE;
  for (const [i, segment] of path.entries()) {
    if (shape === OPEN || typeof segment !== 'string') return undefined;
    const below: Shape | undefined = Object.hasOwn(shape, segment) ? shape[segment] : undefined;
    if (below === undefined) {
      const known = Object.keys(shape).join(', ');
      const where = i === 0 ? '' : ` in ${path.slice(0, i).join('.')}`;
      return `names "${segment}", which is not there${where}; known: ${known}`;
    }
    shape = below;
  }
  return undefined;
}

/** Follows a path over own members only; `undefined` where it ends. */
export function readDataPath(data: unknown, path: DataPath): unknown {
  let at = data;
  for (const segment of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, segment)) return undefined;
    at = (at as Record<string | number, unknown>)[segment];
  }
  return at;
}
