import { type BuiltInTool, NoResult, textArgument } from './built-in-tool.ts';

const MAX_CHARACTERS = 1_000;
/** Of brackets, signs and powers in one another. */
const MAX_DEPTH = 100;

export const calculator: BuiltInTool = {
  description:
    'Calculates an expression exactly as it is written: + - * / % ^ and brackets, numbers such as 1.5e3, pi and e, and the functions abs, sqrt, cbrt, exp, ln, log (base 10), sin, cos, tan (radians), round, floor, ceil, min, max.',
  inputSchema: {
    type: 'object',
    properties: { expression: { type: 'string', description: 'Such as (2 + 3) * sqrt(16)' } },
    required: ['expression'],
    additionalProperties: false,
  },
  run: args => calculate(textArgument(args, 'expression', MAX_CHARACTERS)),
};

const FUNCTIONS = new Map<string, (...values: number[]) => number>([
  ...(
    ['abs', 'sqrt', 'cbrt', 'exp', 'sin', 'cos', 'tan', 'round', 'floor', 'ceil', 'min', 'max'] as const
  ).map(name => [name, Math[name]] as const),
  ['ln', Math.log],
  ['log', Math.log10],
]);
const SEVERAL = new Set(['min', 'max']);
const CONSTANTS = new Map([
  ['pi', Math.PI],
  ['e', Math.E],
]);

const TOKEN = /\s*(?:(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)|([A-Za-z]+)|([-+*/%^(),]))/y;

/** The value of an expression, to 15 digits. Throws a `NoResult`. */
export function calculate(expression: string): string {
  const value = new Reading(tokensOf(expression)).whole();
  if (!Number.isFinite(value)) throw new NoResult('it has no finite value');
  return String(Number(value.toPrecision(15)));
}

function tokensOf(expression: string): string[] {
  const text = expression.trimEnd();
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const at = TOKEN.lastIndex;
    const found = TOKEN.exec(text);
    if (!found) throw new NoResult(`it cannot be read from "${text.slice(at, at + 20).trim()}" on`);
    tokens.push(found[0].trim());
  }
  return tokens;
}

/** Sums of products of powers, each read by a method of its own. */
class Reading {
  private readonly tokens: readonly string[];
  private at = 0;
  private depth = 0;

  constructor(tokens: readonly string[]) {
    this.tokens = tokens;
  }

  whole(): number {
    const value = this.sum();
    if (this.at < this.tokens.length) throw new NoResult(`"${this.tokens[this.at]}" is not expected there`);
    return value;
  }

  private sum(): number {
    let value = this.product();
    for (;;) {
      if (this.takes('+')) value += this.product();
      else if (this.takes('-')) value -= this.product();
      else return value;
    }
  }

  private product(): number {
    let value = this.signed();
    for (;;) {
      if (this.takes('*')) value *= this.signed();
      else if (this.takes('/')) value /= this.signed();
      else if (this.takes('%')) value %= this.signed();
      else return value;
    }
  }

  /** A sign counts less than a power: -2^2 is -4. */
  private signed(): number {
    return this.deeper(() => {
      if (this.takes('-')) return -this.signed();
      return this.takes('+') ? this.signed() : this.power();
    });
  }

  private power(): number {
    const base = this.single();
    return this.takes('^') ? base ** this.signed() : base;
  }

  private single(): number {
    const token = this.tokens[this.at++];
    if (token === undefined) throw new NoResult('it ends too early');
    if (token === '(') return this.closed(() => this.sum());
    const number = Number(token);
    if (!Number.isNaN(number)) return number;
    const name = token.toLowerCase();
    const constant = CONSTANTS.get(name);
    if (constant !== undefined) return constant;
    const apply = FUNCTIONS.get(name);
    if (!apply) throw new NoResult(`"${token}" is not known`);
    if (!this.takes('(')) throw new NoResult(`"${token}" must be followed by brackets`);
    const values = this.closed(() => this.list());
    if (values.length > 1 && !SEVERAL.has(name)) throw new NoResult(`"${token}" takes one value`);
    return apply(...values);
  }

  private list(): number[] {
    const values = [this.sum()];
    while (this.takes(',')) values.push(this.sum());
    return values;
  }

  private closed<T>(read: () => T): T {
    const value = read();
    if (!this.takes(')')) throw new NoResult('a bracket is not closed');
    return value;
  }

  private deeper(read: () => number): number {
    this.depth += 1;
    if (this.depth > MAX_DEPTH) throw new NoResult(`it is nested deeper than ${MAX_DEPTH} levels`);
    const value = read();
    this.depth -= 1;
    return value;
  }

  private takes(token: string): boolean {
    if (this.tokens[this.at] !== token) return false;
    this.at += 1;
    return true;
  }
}
