import type { CallExpression, Node } from 'oxc-parser';
import type { Source } from './repository.ts';
import { lineOf, walk } from './syntax.ts';

/** One `describe` or `it` of a test file. */
export interface Title {
  readonly text: string;
  readonly kind: 'group' | 'test';
  /** Titles of the groups around it, outermost first. */
  readonly groups: readonly string[];
  /** What was chained: `each`, `only`, `skip`, ... */
  readonly modifiers: readonly string[];
  readonly line: number;
}

/** A helper that wraps `describe` or `it` is found as well when its name starts with that word (`describeOnBoth`). */
const GROUP = /^(describe([A-Z]\w*)?|suite)$/;
const TEST = /^(it([A-Z]\w*)?|test)$/;

/** Titles of a test file in order. A title that is no text in the source (a variable, a class) is not found. */
export function titlesOf(source: Source): readonly Title[] {
  const titles: Title[] = [];
  walk(source.program, (node, ancestors) => {
    const found = titledCall(node);
    if (!found) return;
    titles.push({
      ...found,
      groups: ancestors.flatMap(above => titledCall(above)?.text ?? []),
      line: lineOf(source.text, node.start),
    });
  });
  return titles;
}

function titledCall(node: Node): Pick<Title, 'text' | 'kind' | 'modifiers'> | undefined {
  if (node.type !== 'CallExpression') return undefined;
  const text = node.arguments[0] && textOf(node.arguments[0]);
  const chain = chainOf(node.callee);
  if (text === undefined || !chain) return undefined;
  if (GROUP.test(chain.name)) return { text, kind: 'group', modifiers: chain.modifiers };
  return TEST.test(chain.name) ? { text, kind: 'test', modifiers: chain.modifiers } : undefined;
}

/** `it.only.each(rows)` is the name `it` with the modifiers `only` and `each`. */
function chainOf(callee: Node): { name: string; modifiers: readonly string[] } | undefined {
  if (callee.type === 'Identifier') return { name: callee.name, modifiers: [] };
  if (callee.type === 'CallExpression') return chainOf(callee.callee);
  if (callee.type === 'TaggedTemplateExpression') return chainOf(callee.tag);
  if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return undefined;
  const chain = chainOf(callee.object);
  return chain && { name: chain.name, modifiers: [...chain.modifiers, callee.property.name] };
}

/** A text, or the fixed parts of a template with `*` between them; `undefined` when it is made elsewhere. */
function textOf(node: CallExpression['arguments'][number]): string | undefined {
  if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : undefined;
  if (node.type === 'TemplateLiteral') return node.quasis.map(part => part.value.cooked ?? '').join('*');
  if (node.type !== 'BinaryExpression' || node.operator !== '+') return undefined;
  const left = textOf(node.left);
  const right = textOf(node.right);
  return left !== undefined && right !== undefined ? left + right : undefined;
}
