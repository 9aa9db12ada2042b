import { type Node, visitorKeys } from 'oxc-parser';
import type { Source } from './repository.ts';

/** Something a rule has found, by its offset in the text. */
export interface Finding {
  readonly at: number;
  readonly what: string;
}

/** Calls `visit` for the node and everything below it, parents first; `ancestors` starts at the program. */
export function walk(node: Node, visit: (node: Node, ancestors: readonly Node[]) => void): void {
  const ancestors: Node[] = [];
  const enter = (current: Node) => {
    visit(current, ancestors);
    ancestors.push(current);
    for (const key of visitorKeys[current.type] ?? []) {
      const below = (current as unknown as Record<string, Node | (Node | null)[] | null>)[key];
      for (const child of Array.isArray(below) ? below : [below]) if (child) enter(child);
    }
    ancestors.pop();
  };
  enter(node);
}

export function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

/** Uses of a global name: not a parameter, import or variable of that name, not a property, not a type. */
export function globals(source: Source, name: string): Finding[] {
  return find(source, (node, ancestors) =>
    isName(node, name) && isGlobalUse(node, name, ancestors) ? name : undefined,
  );
}

/** Reads of a global's member: `a.b`, `a['b']`, `globalThis.a.b`, `const { b } = a`. */
export function members(source: Source, object: string, names: readonly string[]): Finding[] {
  return find(source, (node, ancestors) => {
    if (node.type === 'VariableDeclarator') {
      if (node.id.type !== 'ObjectPattern' || !node.init || !isName(node.init, object)) return undefined;
      const taken = node.id.properties.map(each => (each.type === 'Property' ? nameOf(each.key) : undefined));
      const member = taken.find(each => each !== undefined && names.includes(each));
      return member && `${object}.${member}`;
    }
    const member = node.type === 'MemberExpression' ? memberName(node) : undefined;
    if (node.type !== 'MemberExpression' || !member || !names.includes(member)) return undefined;
    const of = node.object;
    const isGlobal = isName(of, object) && isGlobalUse(of, object, [...ancestors, node]);
    const viaGlobal =
      of.type === 'MemberExpression' && isName(of.object, 'globalThis') && memberName(of) === object;
    return isGlobal || viaGlobal ? `${object}.${member}` : undefined;
  });
}

/** Modules imported at run time. */
export function imports(source: Source, specifier: RegExp): Finding[] {
  return find(source, node => {
    const from =
      (node.type === 'ImportDeclaration' && node.importKind !== 'type' && node.source.value) ||
      (node.type === 'ImportExpression' && node.source.type === 'Literal' && String(node.source.value));
    return from && specifier.test(from) ? `import of ${from}` : undefined;
  });
}

/** Every node of which `say` has something to say. */
export function find(
  source: Source,
  say: (node: Node, ancestors: readonly Node[]) => string | undefined,
): Finding[] {
  const found: Finding[] = [];
  walk(source.program, (node, ancestors) => {
    const what = say(node, ancestors);
    if (what !== undefined) found.push({ at: node.start, what });
  });
  return found;
}

export const isName = (node: Node, name: string) => node.type === 'Identifier' && node.name === name;

/** The name after the dot, or in brackets when it is written out. */
export function memberName(node: Extract<Node, { type: 'MemberExpression' }>): string | undefined {
  if (!node.computed) return node.property.type === 'Identifier' ? node.property.name : undefined;
  return node.property.type === 'Literal' ? String(node.property.value) : undefined;
}

/** `a` of `a.b().c`. */
export function nameAtStart(node: Node): string | undefined {
  if (node.type === 'Identifier') return node.name;
  if (node.type === 'MemberExpression') return nameAtStart(node.object);
  return node.type === 'CallExpression' ? nameAtStart(node.callee) : undefined;
}

/** Parts of an expression that oxc names like types. */
const TYPED_EXPRESSIONS = /^TS(As|Satisfies|NonNull|Instantiation)Expression$|^TSTypeAssertion$/;

function isGlobalUse(node: Node, name: string, ancestors: readonly Node[]): boolean {
  const parent = ancestors.at(-1);
  if (parent?.type === 'MemberExpression' && parent.property === node && !parent.computed) return false;
  const isKey = parent && 'key' in parent && parent.key === node;
  if (isKey && !('computed' in parent && parent.computed)) return false;
  if (parent?.type === 'ExportSpecifier' || parent?.type === 'LabeledStatement') return false;
  return !ancestors.some(
    above => (above.type.startsWith('TS') && !TYPED_EXPRESSIONS.test(above.type)) || declares(above, name),
  );
}

function declares(scope: Node, name: string): boolean {
  if ('params' in scope && Array.isArray(scope.params))
    return scope.params.some(each => binds(each as Node, name));
  if (scope.type === 'ImportDeclaration') return true;
  if (scope.type !== 'Program' && scope.type !== 'BlockStatement') return false;
  return scope.body.some(statement => {
    if (statement.type === 'ImportDeclaration')
      return statement.specifiers.some(each => each.local.name === name);
    const declared = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement;
    if (declared?.type === 'VariableDeclaration')
      return declared.declarations.some(each => binds(each.id, name));
    const named = declared?.type === 'FunctionDeclaration' || declared?.type === 'ClassDeclaration';
    return named && declared.id?.name === name;
  });
}

function binds(pattern: Node, name: string): boolean {
  switch (pattern.type) {
    case 'Identifier':
      return pattern.name === name;
    case 'AssignmentPattern':
      return binds(pattern.left, name);
    case 'RestElement':
      return binds(pattern.argument, name);
    case 'ArrayPattern':
      return pattern.elements.some(element => element !== null && binds(element, name));
    case 'ObjectPattern':
      return pattern.properties.some(each => binds(each.type === 'Property' ? each.value : each, name));
    default:
      return false;
  }
}

/** What a plain expression or key is called. */
export function nameOf(node: Node): string | undefined {
  if (node.type === 'Identifier') return node.name;
  if (node.type === 'ChainExpression') return nameOf(node.expression);
  if (node.type === 'Literal') return String(node.value);
  return node.type === 'MemberExpression' ? memberName(node) : undefined;
}
