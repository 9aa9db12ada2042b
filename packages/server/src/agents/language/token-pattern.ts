/**
 * Regular expressions of dictionaries, matched in time linear in the text whatever the pattern: the states of the
 * pattern run side by side (Thompson), so nothing ever backtracks and no pattern can hang a turn. The price is the
 * subset: literals, `.`, classes, escapes, groups, `|` and quantifiers. What needs backtracking (back references,
 * look-around) is refused.
 */
export interface TokenPattern {
  /** Does the whole text match, in any case? `charge` is told how many states each character meets. */
  matches(text: string, charge: (states: number) => void): boolean;
  /** How big it is. */
  readonly states: number;
}

/** Longer texts never match, so one match visits at most this times `MAX_STATES` states. */
const MAX_TEXT = 200;
const MAX_STATES = 500;
const MAX_REPEAT = 100;

type Node =
  | { readonly is: 'char'; readonly accepts: (char: string) => boolean }
  | { readonly is: 'sequence' | 'choice'; readonly parts: readonly Node[] }
  | { readonly is: 'repeat'; readonly part: Node; readonly min: number; readonly max: number };

/** A state consumes one character (`accepts`) or forks at no cost; `to` are the states after it. */
interface State {
  readonly accepts: ((char: string) => boolean) | undefined;
  to: number[];
}

/** Compiles a pattern; throws an `Error` whose message says in one phrase what is wrong with it. */
export function compileTokenPattern(source: string): TokenPattern {
  const states: State[] = [{ accepts: undefined, to: [] }];
  const start = addStates(parsePattern(source), 0, states);
  return {
    matches: (text, charge) => text.length <= MAX_TEXT && run(states, start, text, charge),
    states: states.length,
  };
}

/** State 0 is the end of the match. */
function run(
  states: readonly State[],
  start: number,
  text: string,
  charge: (states: number) => void,
): boolean {
  let current = new Set<number>();
  enter(states, start, current);
  for (const char of text) {
    charge(current.size);
    const next = new Set<number>();
    for (const at of current) {
      const state = states[at]!;
      if (state.accepts?.(char)) enter(states, state.to[0]!, next);
    }
    if (next.size === 0) return false;
    current = next;
  }
  return current.has(0);
}

function enter(states: readonly State[], at: number, into: Set<number>): void {
  const waiting = [at];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (into.has(next)) continue;
    into.add(next);
    const state = states[next]!;
    if (state.accepts === undefined) waiting.push(...state.to);
  }
}

/** Adds the states of a node that lead to `next`; returns where they start. */
function addStates(node: Node, next: number, states: State[]): number {
  switch (node.is) {
    case 'char':
      return addState(states, node.accepts, [next]);
    case 'sequence':
      return node.parts.reduceRight((after, part) => addStates(part, after, states), next);
    case 'choice':
      return addState(
        states,
        undefined,
        node.parts.map(part => addStates(part, next, states)),
      );
    case 'repeat':
      return addRepeat(node, next, states);
  }
}

function addRepeat(node: Extract<Node, { is: 'repeat' }>, next: number, states: State[]): number {
  let start = next;
  if (node.max === Number.POSITIVE_INFINITY) {
    start = addState(states, undefined, [next]);
    states[start]!.to.push(addStates(node.part, start, states));
  } else {
    for (let i = node.min; i < node.max; i++) {
      start = addState(states, undefined, [next, addStates(node.part, start, states)]);
    }
  }
  for (let i = 0; i < node.min; i++) {
    const before = start;
    start = addStates(node.part, start, states);
    // A part that holds nothing adds no state, which is what ends nested repeats of nothing.
    if (start === before) break;
  }
  return start;
}

function addState(states: State[], accepts: State['accepts'], to: number[]): number {
  if (states.length === MAX_STATES) {
    throw new Error(`is too big: it needs more than ${MAX_STATES} states; repeat less`);
  }
  return states.push({ accepts, to }) - 1;
}

function parsePattern(source: string): Node {
  const anchored = source.replace(/^\^/, '');
  const chars = [...(/(^|[^\\])(\\\\)*\$$/.test(anchored) ? anchored.slice(0, -1) : anchored)];
  const cursor = { at: 0 };
  const node = readChoice(chars, cursor);
  if (cursor.at < chars.length) throw new Error('has a ")" without "("');
  return node;
}

function readChoice(chars: readonly string[], cursor: { at: number }): Node {
  const parts = [readSequence(chars, cursor)];
  while (chars[cursor.at] === '|') {
    cursor.at++;
    parts.push(readSequence(chars, cursor));
  }
  return parts.length === 1 ? parts[0]! : { is: 'choice', parts };
}

function readSequence(chars: readonly string[], cursor: { at: number }): Node {
  const parts: Node[] = [];
  while (cursor.at < chars.length && chars[cursor.at] !== '|' && chars[cursor.at] !== ')') {
    parts.push(readQuantifier(readAtom(chars, cursor), chars, cursor));
  }
  return { is: 'sequence', parts };
}

function readAtom(chars: readonly string[], cursor: { at: number }): Node {
  const char = chars[cursor.at++]!;
  switch (char) {
    case '(':
      return readGroup(chars, cursor);
    case '[':
      return readClass(chars, cursor);
    case '\\':
      return readEscape(chars, cursor);
    case '.':
      return { is: 'char', accepts: () => true };
    case '*':
    case '+':
    case '?':
    case '{':
      throw new Error(`has a "${char}" with nothing to repeat; write "\\${char}" for the character`);
    case '^':
    case '$':
      throw new Error(
        `has a "${char}" in the middle; a pattern always covers a whole word, so leave it out or write "\\${char}"`,
      );
    default: {
      const folded = char.toLowerCase();
      return { is: 'char', accepts: other => other === char || other.toLowerCase() === folded };
    }
  }
}

function readGroup(chars: readonly string[], cursor: { at: number }): Node {
  if (chars[cursor.at] === '?') {
    if (chars[cursor.at + 1] !== ':') throw new Error('uses "(?": only plain groups and "(?:" are supported');
    cursor.at += 2;
  }
  const node = readChoice(chars, cursor);
  if (chars[cursor.at++] !== ')') throw new Error('has a "(" without ")"');
  return node;
}

function readClass(chars: readonly string[], cursor: { at: number }): Node {
  const start = cursor.at - 1;
  while (cursor.at < chars.length && chars[cursor.at] !== ']') cursor.at += chars[cursor.at] === '\\' ? 2 : 1;
  if (cursor.at >= chars.length) throw new Error('has a "[" without "]"');
  cursor.at++;
  return charNode(chars.slice(start, cursor.at).join(''));
}

function readEscape(chars: readonly string[], cursor: { at: number }): Node {
  const char = chars[cursor.at++];
  if (char === undefined) throw new Error('ends with a single "\\"');
  if (/[bBk1-9]/.test(char)) {
    throw new Error(`uses "\\${char}": word boundaries and back references are not supported`);
  }
  if (!/\w/.test(char)) return { is: 'char', accepts: other => other === char };
  let source = `\\${char}`;
  if (chars[cursor.at] === '{' && /[pPu]/.test(char)) {
    const end = chars.indexOf('}', cursor.at) + 1;
    source += chars.slice(cursor.at, end).join('');
    cursor.at = end === 0 ? cursor.at : end;
  }
  return charNode(source);
}

/** One character is tested at a time, so the native engine has nothing to backtrack over. */
function charNode(source: string): Node {
  let test: RegExp;
  try {
    test = new RegExp(`^${source}$`, 'iu');
  } catch {
    throw new Error(`has "${source}", which is not a regular expression`);
  }
  return { is: 'char', accepts: char => test.test(char) };
}

function readQuantifier(part: Node, chars: readonly string[], cursor: { at: number }): Node {
  const bounds = readBounds(chars, cursor);
  if (bounds === undefined) return part;
  // A lazy quantifier matches the same texts.
  if (chars[cursor.at] === '?') cursor.at++;
  return { is: 'repeat', part, ...bounds };
}

function readBounds(
  chars: readonly string[],
  cursor: { at: number },
): { min: number; max: number } | undefined {
  switch (chars[cursor.at]) {
    case '*':
      cursor.at++;
      return { min: 0, max: Number.POSITIVE_INFINITY };
    case '+':
      cursor.at++;
      return { min: 1, max: Number.POSITIVE_INFINITY };
    case '?':
      cursor.at++;
      return { min: 0, max: 1 };
    case '{': {
      const text = chars.slice(cursor.at, cursor.at + 12).join('');
      const match = /^\{(\d{1,4})(,(\d{0,4}))?\}/.exec(text);
      if (!match) throw new Error('has a "{" that is no {n}, {n,} or {n,m}; write "\\{" for the character');
      cursor.at += match[0].length;
      const min = Number(match[1]);
      const max = match[2] === undefined ? min : match[3] ? Number(match[3]) : Number.POSITIVE_INFINITY;
      if (max < min || min > MAX_REPEAT || (max !== Number.POSITIVE_INFINITY && max > MAX_REPEAT)) {
        throw new Error(`repeats ${match[0]}: at most ${MAX_REPEAT} times, the smaller number first`);
      }
      return { min, max };
    }
    default:
      return undefined;
  }
}
