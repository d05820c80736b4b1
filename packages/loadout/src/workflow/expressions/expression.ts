/**
 * Parses CEL expressions. Our evaluator meters every step, because the CEL library bounds only the text, not its loops.
 * Parsing throws only `ExpressionFault`.
 */
import { type ASTNode, Environment, ParseError } from '@marcbachmann/cel-js'
import { ExpressionFault } from './expression-error.ts'
import { EXPRESSION_FUNCTIONS, METHODS, noFunction } from './functions.ts'

export type ExpressionNode = ASTNode

export interface Expression {
  text: string
  root: ExpressionNode
  /** Free variables with their static paths, such as `['nodes', 'fetch', 'output']`. */
  names: readonly NamedPath[]
}

export interface NamedPath {
  path: readonly string[]
  at: number
  /** The path continues with a dynamic key, such as `nodes[x]`. */
  isOpen: boolean
}

export const MAX_EXPRESSION_LENGTH = 4000
const MAX_NODES = 1000
const MAX_DEPTH = 100

/** Macros over a list; the first argument names the item. */
export const LOOPS: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'map', 'filter'])

/** Limits the characters parsed in total, because parsing is expensive. */
export function createReader(maxCharacters = Number.POSITIVE_INFINITY): (text: string) => Expression {
  let remaining = maxCharacters
  const environment = new Environment({
    unlistedVariablesAreDyn: true,
    homogeneousAggregateLiterals: false,
    enableOptionalTypes: true,
    limits: { maxAstNodes: MAX_NODES, maxDepth: 64, maxListElements: 500, maxMapEntries: 500, maxCallArguments: 8 },
  })
  return (text) => {
    if (text.trim() === '') throw new ExpressionFault('is empty')
    if (text.length > MAX_EXPRESSION_LENGTH)
      throw new ExpressionFault(`is longer than ${MAX_EXPRESSION_LENGTH} characters; do it in a code node`)
    remaining -= text.length
    if (remaining < 0)
      throw new ExpressionFault(`is one too many: all expressions have ${maxCharacters} characters at most`)
    const root = parseText(environment, text)
    const names: NamedPath[] = []
    collect(root, { names, bound: new Set(), depth: 0 })
    return { text, root, names }
  }
}

function parseText(environment: Environment, text: string): ExpressionNode {
  try {
    return environment.parse(text).ast
  } catch (error) {
    if (!(error instanceof ParseError)) throw new ExpressionFault('cannot be read')
    throw new ExpressionFault(`cannot be read: ${shortSummary(error.summary)}`, error.range?.start)
  }
}

const shortSummary = (summary: string) =>
  /limit|maxDepth|maxAst/i.test(summary) ? 'it is too large' : summary.slice(0, 200).replace('EOF', 'its end')

interface CollectContext {
  names: NamedPath[]
  bound: ReadonlySet<string>
  depth: number
}

function collect(node: ExpressionNode, parent: CollectContext): void {
  const context = { ...parent, depth: parent.depth + 1 }
  if (context.depth > MAX_DEPTH) throw new ExpressionFault('is nested too deeply', node.start)
  const path = pathOf(node)
  if (path) {
    if (!context.bound.has(path.path[0] as string)) context.names.push(path)
    for (const inner of path.inside) collect(inner, context)
    return
  }
  assertCallable(node)
  if (node.op === 'rcall' && LOOPS.has(node.args[0])) collectLoop(node.args, context)
  else for (const inner of childrenOf(node)) collect(inner, context)
}

/** Throws unless the function exists with this number of arguments. */
function assertCallable(node: ExpressionNode): void {
  if (node.op !== 'call' && node.op !== 'rcall') return
  const isMethod = node.op === 'rcall'
  const name = node.args[0]
  const count = node.op === 'rcall' ? node.args[2].length : node.args[1].length
  if (isMethod ? LOOPS.has(name) : name === 'has') return
  const table = isMethod ? METHODS : EXPRESSION_FUNCTIONS
  const fn = Object.hasOwn(table, name) ? table[name] : undefined
  if (!fn?.takes.includes(count)) throw new ExpressionFault(noFunction(name, count, table), node.start)
}

function collectLoop([, list, args]: [string, ExpressionNode, ExpressionNode[]], context: CollectContext): void {
  collect(list, context)
  const [item, ...rest] = args
  const bound = item?.op === 'id' ? new Set([...context.bound, item.args]) : context.bound
  for (const inner of rest) collect(inner, { ...context, bound })
}

/** Static path of `a.b["c"]`; undefined if it does not start with a variable. */
function pathOf(node: ExpressionNode): (NamedPath & { inside: ExpressionNode[] }) | undefined {
  const path: string[] = []
  const inside: ExpressionNode[] = []
  let isOpen = false
  let current: ExpressionNode = node
  while (current.op !== 'id') {
    if (current.op === '.' || current.op === '.?') path.unshift(current.args[1])
    else if (current.op === '[]' || current.op === '[?]') {
      const key = current.args[1]
      if (key.op === 'value' && typeof key.args === 'string') path.unshift(key.args)
      else {
        // Keys after a dynamic key are unknown until evaluation.
        path.length = 0
        isOpen = true
        inside.push(key)
      }
    } else return undefined
    current = current.args[0]
  }
  return { path: [current.args, ...path], at: current.start, isOpen, inside }
}

function childrenOf({ op, args }: ExpressionNode): readonly ExpressionNode[] {
  if (op === 'value' || op === 'id') return []
  if (op === '!_' || op === '-_') return [args]
  if (op === 'call') return args[1]
  if (op === 'rcall') return [args[1], ...args[2]]
  if (op === 'map') return args.flat()
  if (op === '.' || op === '.?') return [args[0]]
  return args as readonly ExpressionNode[]
}
