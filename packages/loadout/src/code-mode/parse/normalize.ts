/**
 * Turns a program in any supported form into the body of an async function with few insertions that keep line numbers.
 * A program with a top-level `return` is unchanged.
 */

import type { Refused } from './strip-types.ts'
import { childrenOf, isFunction, type SyntaxNode } from './syntax.ts'

/** Text replacement; `end` is the end of the replaced range. */
export interface SourceChange {
  at: number
  end: number
  text: string
}

export type Shaped = { ok: true; changes: SourceChange[] } | { ok: false; refused: Refused }

/** Function names that are called as the entry point. */
const ENTRIES = ['main', 'run', 'program', 'execute', 'handler']
const NO_IMPORTS = {
  message: 'A program imports nothing',
  action: 'Leave the import away: tools are there by name, as toolkit.tool(input).',
}

export function shape(text: string, body: readonly SyntaxNode[]): Shaped {
  const statements = body.filter((node) => node.type !== 'EmptyStatement')
  const imported = statements.find(isImport)
  if (imported) return { ok: false, refused: { ...NO_IMPORTS, at: imported.start } }
  const exported = withoutExports(text, statements)
  if ('message' in exported) return { ok: false, refused: exported }
  const { changes, entry } = exported
  if (has(statements, ['ReturnStatement'])) return { ok: true, changes }
  const called = entry ?? entryOf(statements)
  if (called !== undefined) changes.push({ at: text.length, end: text.length, text: `\n;return ${called}` })
  else changes.push(...lastValue(text, statements.at(-1)))
  return { ok: true, changes }
}

export function applyChanges(text: string, changes: readonly SourceChange[]): string {
  let result = ''
  let at = 0
  for (const change of changes.toSorted((a, b) => a.at - b.at)) {
    result += text.slice(at, change.at) + change.text
    at = change.end
  }
  return result + text.slice(at)
}

const isImport = ({ type, source }: SyntaxNode): boolean =>
  type === 'ImportDeclaration' || type === 'ExportAllDeclaration' || (type === 'ExportNamedDeclaration' && !!source)

interface Unexported {
  changes: SourceChange[]
  /** Final call, such as `main(input)`. */
  entry: string | undefined
}

/** Removes `export`; the default export becomes the entry point. */
function withoutExports(text: string, statements: readonly SyntaxNode[]): Unexported | Refused {
  const changes: SourceChange[] = []
  let entry: string | undefined
  for (const node of statements) {
    const inside = node.declaration as SyntaxNode | null | undefined
    if (node.type === 'ExportNamedDeclaration') {
      const end = inside ? inside.start : node.end
      changes.push({ at: node.start, end, text: blank(text.slice(node.start, end)) })
      entry ??= defaultOf(node, statements)
    } else if (node.type === 'ExportDefaultDeclaration' && inside) {
      if (inside.type === 'ClassDeclaration') return { ...NO_CLASS, at: node.start }
      const name = (inside.id as SyntaxNode | null | undefined)?.name
      const isNamed = inside.type === 'FunctionDeclaration' && typeof name === 'string'
      const free = freeName(text)
      entry = isNamed ? callOf(name, inside) : defaultValue(inside, free, statements)
      const head = text.slice(node.start, inside.start)
      changes.push({ at: node.start, end: inside.start, text: isNamed ? blank(head) : constHead(head, free) })
      if (!isNamed && isFunction(inside)) changes.push({ at: inside.end, end: inside.end, text: ';' })
    }
  }
  return { changes, entry }
}

const NO_CLASS = { message: 'A class is nothing to run', action: 'Export a function, or return a value.' }

/** Call of `export { main as default }`. */
function defaultOf({ specifiers }: SyntaxNode, statements: readonly SyntaxNode[]): string | undefined {
  const found = (specifiers as SyntaxNode[]).find(({ exported }) => (exported as SyntaxNode).name === 'default')
  const name = (found?.local as SyntaxNode | undefined)?.name
  return typeof name === 'string' ? (callOfNamed(name, statements) ?? name) : undefined
}

function defaultValue(value: SyntaxNode, name: string, statements: readonly SyntaxNode[]): string {
  if (isFunction(value)) return callOf(name, value)
  const call = value.type === 'Identifier' ? callOfNamed(String(value.name), statements) : undefined
  return call ?? name
}

/** `const $main  = ` is as long as `export default `, so columns stay. */
function constHead(head: string, name: string): string {
  const start = `const ${name}`
  const room = Math.max(0, 'export default'.length - start.length - 1)
  return `${start}${' '.repeat(room)}=${blank(head.slice('export default'.length)) || ' '}`
}

function freeName(text: string): string {
  let name = '$main'
  while (text.includes(name)) name += '_'
  return name
}

const blank = (text: string): string => text.replace(/[^\n\r\u2028\u2029]/g, ' ')

/** Top-level functions by name. */
function* functionsOf(statements: readonly SyntaxNode[]): Generator<[name: string, node: SyntaxNode]> {
  for (const statement of statements) {
    const node =
      (statement.type.startsWith('Export') ? (statement.declaration as SyntaxNode | null) : statement) ?? statement
    if (node.type === 'FunctionDeclaration' && node.id) yield [String((node.id as SyntaxNode).name), node]
    if (node.type !== 'VariableDeclaration') continue
    for (const { id, init } of node.declarations as SyntaxNode[])
      if (init && isFunction(init as SyntaxNode) && (id as SyntaxNode).type === 'Identifier')
        yield [String((id as SyntaxNode).name), init as SyntaxNode]
  }
}

function callOfNamed(name: string, statements: readonly SyntaxNode[]): string | undefined {
  for (const [functionName, node] of functionsOf(statements)) if (functionName === name) return callOf(name, node)
  return undefined
}

const callOf = (name: string, { params }: SyntaxNode): string =>
  `${name}(${(params as SyntaxNode[]).length > 0 ? 'input' : ''})`

/** Entry point of a program that only declares functions. */
function entryOf(statements: readonly SyntaxNode[]): string | undefined {
  const functions = [...functionsOf(statements)].filter(([, node]) => node.generator !== true)
  const doesSomething = has(statements, ['CallExpression', 'AwaitExpression', 'NewExpression', 'ExpressionStatement'])
  if (doesSomething || functions.length === 0) return undefined
  const named = ENTRIES.flatMap((entry) => functions.filter(([name]) => name === entry))[0]
  const [name, node] = named ?? (functions.length === 1 ? functions[0] : undefined) ?? []
  return name !== undefined && node ? callOf(name, node) : undefined
}

/** Returns the last expression, or calls it if it is a function. */
function lastValue(text: string, last: SyntaxNode | undefined): SourceChange[] {
  if (last?.type !== 'ExpressionStatement') return []
  const value = bare(last.expression as SyntaxNode)
  if (isFunction(value)) {
    if (value.generator === true) return []
    const end = text[last.end - 1] === ';' ? last.end - 1 : last.end
    const argument = (value.params as SyntaxNode[]).length > 0 ? 'input' : ''
    return [insert(last.start, 'return ('), insert(end, `)(${argument})`)]
  }
  if (value.type === 'UnaryExpression' && value.operator === 'void' && text.startsWith('void', last.start))
    return [{ at: last.start, end: last.start + 4, text: 'return' }]
  return tellsNothing(value) ? [] : [insert(last.start, 'return ')]
}

const insert = (at: number, text: string): SourceChange => ({ at, end: at, text })

function bare(node: SyntaxNode): SyntaxNode {
  return node.type === 'TSAsExpression' || node.type === 'TSSatisfiesExpression'
    ? bare(node.expression as SyntaxNode)
    : node
}

/** True for expressions that are evaluated for their effect. */
function tellsNothing(node: SyntaxNode): boolean {
  if (['AssignmentExpression', 'UpdateExpression'].includes(node.type)) return true
  if (node.type === 'UnaryExpression') return node.operator === 'delete' || node.operator === 'void'
  const callee = node.type === 'CallExpression' ? (node.callee as SyntaxNode) : undefined
  return callee?.type === 'MemberExpression' && (callee.object as SyntaxNode).name === 'console'
}

/** True if such a node occurs outside functions and classes. */
function has(nodes: Iterable<SyntaxNode>, types: readonly string[]): boolean {
  for (const node of nodes) {
    if (types.includes(node.type)) return true
    if (!isFunction(node) && !node.type.startsWith('Class') && has(childrenOf(node), types)) return true
  }
  return false
}
