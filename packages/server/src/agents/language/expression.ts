/**
 * The language between parser and rules: `name`, `name(arg)`, `name(arg, other(nested))`. In a pattern `*` stands for
 * any one expression, and as the last argument for any further arguments: `order(*)` matches every `order`.
 * A name is any text without `(`, `)` and `,`; outer blanks do not count.
 */
export interface Expression {
  readonly name: string;
  readonly args: readonly Expression[];
}

const MAX_DEPTH = 50;

/** `undefined` when the text is not exactly one expression. */
export function parseExpression(text: string): Expression | undefined {
  const list = parseExpressions(text);
  return list?.length === 1 ? list[0] : undefined;
}

/** Reads a comma list; `undefined` when it is malformed, empty or nested deeper than 50. Linear in the text. */
export function parseExpressions(text: string): readonly Expression[] | undefined {
  const cursor = { at: 0 };
  const list = readList(text, cursor, 0);
  return cursor.at === text.length ? list : undefined;
}

function readList(text: string, cursor: { at: number }, depth: number): readonly Expression[] | undefined {
  const list: Expression[] = [];
  for (;;) {
    const start = cursor.at;
    while (cursor.at < text.length && !isMark(text[cursor.at]!)) cursor.at++;
    const name = text.slice(start, cursor.at).trim();
    if (name === '') return undefined;
    const args = text[cursor.at] === '(' ? readArguments(text, cursor, depth + 1) : NONE;
    if (args === undefined) return undefined;
    list.push({ name, args });
    if (text[cursor.at] !== ',') return list;
    cursor.at++;
  }
}

const NONE: readonly Expression[] = [];

function isMark(char: string): boolean {
  return char === '(' || char === ')' || char === ',';
}

function readArguments(
  text: string,
  cursor: { at: number },
  depth: number,
): readonly Expression[] | undefined {
  if (depth > MAX_DEPTH) return undefined;
  cursor.at++;
  skipBlanks(text, cursor);
  const args = text[cursor.at] === ')' ? NONE : readList(text, cursor, depth);
  if (args === undefined || text[cursor.at] !== ')') return undefined;
  cursor.at++;
  skipBlanks(text, cursor);
  return args;
}

function skipBlanks(text: string, cursor: { at: number }): void {
  while (cursor.at < text.length && text[cursor.at]!.trim() === '') cursor.at++;
}

export function printExpression({ name, args }: Expression): string {
  return args.length === 0 ? name : `${name}(${args.map(printExpression).join(', ')})`;
}

/** How many names are in it: what comparing it with one other may cost at the most. */
export function countNames(expressions: readonly Expression[]): number {
  return expressions.reduce((sum, { args }) => sum + 1 + countNames(args), 0);
}

/** `*` is a wildcard in the pattern only: whatever a person typed can never match more than itself. */
export function matchesExpression(pattern: Expression, fact: Expression): boolean {
  if (pattern.name === '*' && pattern.args.length === 0) return true;
  if (pattern.name !== fact.name) return false;
  const open = pattern.args.at(-1);
  const isOpen = open !== undefined && open.name === '*' && open.args.length === 0;
  const fixed = isOpen ? pattern.args.length - 1 : pattern.args.length;
  if (isOpen ? fact.args.length < fixed : fact.args.length !== fixed) return false;
  for (let i = 0; i < fixed; i++) {
    if (!matchesExpression(pattern.args[i]!, fact.args[i]!)) return false;
  }
  return true;
}

/** Do the patterns match some run of neighbouring facts, in order? (platform.md 3.3, inputmatcher) */
export function matchesSubList(patterns: readonly Expression[], facts: readonly Expression[]): boolean {
  for (let start = 0; start + patterns.length <= facts.length; start++) {
    if (patterns.every((pattern, i) => matchesExpression(pattern, facts[start + i]!))) return true;
  }
  return false;
}

/** An expression with one argument taken from free text, whose grammar characters become blanks. */
export function expressionOf(name: string, word: string): Expression {
  return { name, args: [{ name: word.replaceAll(/[(),]/g, ' ').trim(), args: [] }] };
}
