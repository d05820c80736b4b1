/**
 * Finds assertions that depend on the machine's speed or load: a clock, a lag, a memory size or a CPU time that is compared with
 * something. It follows values through variables, functions and arrays of one file, and knows durations by their names.
 */
import { parseSync } from 'vite'

interface Node {
  type: string
  start: number
  end: number
  [key: string]: unknown
}

/** A variable, a parameter or a function, with what is known of its value. */
interface Binding {
  isTimed: boolean
  /** Its value is the outcome of a timed comparison. */
  isVerdict: boolean
}

interface Scope {
  bindings: Map<string, Binding>
  parent?: Scope
}

const CLOCKS = new Set([
  'performance.now',
  'Date.now',
  'process.hrtime',
  'process.hrtime.bigint',
  'process.uptime',
  'process.memoryUsage',
  'process.memoryUsage.rss',
  'process.cpuUsage',
  'process.threadCpuUsage',
  'process.resourceUsage',
  'os.loadavg',
  'loadavg',
  'monitorEventLoopDelay',
  'os.freemem',
  'freemem',
])
/** Whatever a test does with these, its outcome depends on the machine. */
const FORBIDDEN = new Set(['loadavg', 'monitorEventLoopDelay'])
const ORDER = /^(toBe(Less|Greater)Than(OrEqual)?|toBeCloseTo)$/
const COMPARES = new Set(['<', '>', '<=', '>='])
const DURATION = /([a-z\d]Ms|Millis|Lag|Elapsed|Duration)$|^(ms|elapsed|took|lag|duration|rss)$/
/** What was asked for, or what the code itself reports that it used up, is no measurement of a test. */
const CONFIGURED = /^(limit|timeout|max|most|every|within)Ms$|(Limit|Timeout)Ms$/
const CHECKS = new Set(['expect', 'check', 'assert', 'ok', 'same', 'equal'])
const COLLECTS = new Set(['push', 'unshift', 'add', 'set'])
/** Calls whose result is a time where an argument is one; others make data of it. */
const ARITHMETIC = /^(Math\.\w+|Number|BigInt|String)$/
const COUNTS = new Set(['length', 'size'])
const OPENS_SCOPE = /^(Program|BlockStatement|Function|ArrowFunction|For)/

const isDuration = (name: string) => DURATION.test(name) && !CONFIGURED.test(name)
const isNode = (value: unknown): value is Node => typeof (value as Node | null)?.type === 'string'
const isFunction = ({ type }: Node) => /^(Function|ArrowFunction)/.test(type)
const as = (value: unknown) => value as Node
const list = (value: unknown) => ((value as (Node | null)[] | undefined) ?? []).filter(isNode)

/** `a.b.c`, or an empty text where it is more than names. */
function nameOf(node: unknown): string {
  if (!isNode(node)) return ''
  if (node.type === 'Identifier') return node.name as string
  if (node.type === 'ChainExpression') return nameOf(node.expression)
  if (node.type !== 'MemberExpression' || node.computed) return ''
  const object = nameOf(node.object)
  return object && `${object}.${nameOf(node.property)}`
}

function childrenOf(node: Node): Node[] {
  return Object.entries(node).flatMap(([key, value]) => {
    if (key === 'parent' || key === 'typeAnnotation' || key === 'typeArguments') return []
    return Array.isArray(value) ? value.filter(isNode) : isNode(value) ? [value] : []
  })
}

class Reader {
  readonly #text: string
  readonly #scopes = new Map<Node, Scope>()
  readonly #nodes: Node[] = []
  readonly #found = new Set<number>()
  #isChanged = false

  constructor(path: string, text: string) {
    this.#text = text
    const { program, errors } = parseSync(path, text)
    if (errors.length > 0) throw new Error(`${path} cannot be parsed: ${errors[0]?.message}. Fix its syntax.`)
    this.#enter(as(program), { bindings: new Map() })
    do {
      this.#isChanged = false
      for (const node of this.#nodes) this.#learn(node)
    } while (this.#isChanged)
    for (const node of this.#nodes) if (this.#isViolation(node)) this.#found.add(this.#lineOf(node))
  }

  /** The lines, from 1. */
  lines(): number[] {
    return [...this.#found].sort((a, b) => a - b)
  }

  #lineOf({ start }: Node): number {
    return this.#text.slice(0, start).split('\n').length
  }

  #enter(node: Node, outer: Scope): void {
    const scope = OPENS_SCOPE.test(node.type) ? { bindings: new Map(), parent: outer } : outer
    this.#scopes.set(node, scope)
    this.#nodes.push(node)
    if (node.type === 'VariableDeclarator') this.#declare(node.id, scope)
    if (node.type === 'FunctionDeclaration') this.#declare(node.id, outer)
    if (isFunction(node)) for (const parameter of list(node.params)) this.#declare(parameter, scope)
    for (const child of childrenOf(node)) this.#enter(child, scope)
  }

  /** Every name of a pattern. */
  #declare(pattern: unknown, { bindings }: Scope): void {
    for (const name of this.#namesIn(pattern)) bindings.set(name, { isTimed: false, isVerdict: false })
  }

  #namesIn(pattern: unknown): string[] {
    if (!isNode(pattern)) return []
    if (pattern.type === 'Identifier') return [pattern.name as string]
    if (pattern.type === 'Property') return this.#namesIn(pattern.value)
    if (pattern.type === 'AssignmentPattern') return this.#namesIn(pattern.left)
    if (pattern.type === 'RestElement') return this.#namesIn(pattern.argument)
    return [...list(pattern.properties), ...list(pattern.elements)].flatMap((part) => this.#namesIn(part))
  }

  #binding(name: string, at: Node): Binding | undefined {
    for (let scope = this.#scopes.get(at); scope; scope = scope.parent) {
      const found = scope.bindings.get(name)
      if (found) return found
    }
    return undefined
  }

  #learn(node: Node): void {
    const { type } = node
    if (type === 'VariableDeclarator') this.#assign(node.id, node.init, node)
    if (type === 'AssignmentExpression') this.#assign(node.left, node.right, node)
    if (type === 'FunctionDeclaration') this.#assign(node.id, node, node)
    if (type !== 'CallExpression') return
    const callee = as(node.callee)
    if (callee.type !== 'MemberExpression' || !COLLECTS.has(nameOf(callee.property))) return
    if (list(node.arguments).some((argument) => this.#isTimed(argument)))
      this.#mark(nameOf(callee.object), node, 'isTimed')
  }

  #assign(target: unknown, value: unknown, at: Node): void {
    if (!isNode(target) || !isNode(value)) return
    // A tuple gives each name its own value.
    if (target.type === 'ArrayPattern' && value.type === 'ArrayExpression') {
      const values = value.elements as unknown[]
      for (const [index, part] of (target.elements as unknown[]).entries()) this.#assign(part, values[index], at)
      return
    }
    for (const name of this.#namesIn(target)) {
      if (this.#isTimed(value)) this.#mark(name, at, 'isTimed')
      if (this.#isVerdict(value)) this.#mark(name, at, 'isVerdict')
    }
  }

  #mark(name: string, at: Node, what: keyof Binding): void {
    const binding = this.#binding(name, at)
    if (!binding || binding[what]) return
    binding[what] = true
    this.#isChanged = true
  }

  /** What a function gives: its expression, or what it returns. */
  #returned(node: Node): Node[] {
    const body = as(node.body)
    if (body.type !== 'BlockStatement') return [body]
    const visit = (inner: Node): Node[] =>
      isFunction(inner)
        ? []
        : inner.type === 'ReturnStatement' && isNode(inner.argument)
          ? [inner.argument]
          : childrenOf(inner).flatMap(visit)
    return visit(body)
  }

  /** A value that depends on a clock, or has the name of one that does. */
  #isTimed(node: Node): boolean {
    if (isFunction(node)) return this.#returned(node).some((value) => this.#isTimed(value))
    const name = nameOf(node)
    if (node.type === 'Identifier') return isDuration(name) || (this.#binding(name, node)?.isTimed ?? false)
    if (node.type === 'MemberExpression') {
      const property = node.computed ? '' : nameOf(node.property)
      const isReported = nameOf(node.object).split('.').at(-1) === 'usage'
      return !COUNTS.has(property) && !isReported && (isDuration(property) || this.#isTimed(as(node.object)))
    }
    if (node.type === 'CallExpression' || node.type === 'NewExpression') {
      const called = nameOf(node.callee)
      const args = list(node.arguments)
      if (CLOCKS.has(called) || (called === 'Date' && args.length === 0)) return true
      if (ARITHMETIC.test(called) || called === 'Date') return args.some((argument) => this.#isTimed(argument))
      return this.#isTimed(as(node.callee))
    }
    if (node.type === 'ObjectExpression' || /Literal$/.test(node.type)) return false
    if (node.type === 'BinaryExpression' && !/^[-+*/%]|\*\*$/.test(node.operator as string)) return false
    return childrenOf(node).some((child) => this.#isTimed(child))
  }

  #isComparison(node: Node): boolean {
    if (node.type !== 'BinaryExpression' || !COMPARES.has(node.operator as string)) return false
    return this.#isTimed(as(node.left)) || this.#isTimed(as(node.right))
  }

  /** The outcome of a timed comparison, itself or by its name. */
  #isVerdict(node: Node): boolean {
    if (isFunction(node)) return this.#returned(node).some((value) => this.#isVerdict(value))
    if (node.type === 'Identifier') return this.#binding(nameOf(node), node)?.isVerdict ?? false
    return this.#isComparison(node) || childrenOf(node).some((child) => !isFunction(child) && this.#isVerdict(child))
  }

  #isViolation(node: Node): boolean {
    if (node.type === 'ImportSpecifier') return FORBIDDEN.has(nameOf(node.imported))
    if (node.type === 'IfStatement') return this.#isVerdict(as(node.test)) && this.#throws(as(node.consequent))
    if (node.type !== 'CallExpression') return false
    const callee = as(node.callee)
    const args = list(node.arguments)
    if (CHECKS.has(nameOf(callee).split('.')[0] as string)) return args.some((argument) => this.#isVerdict(argument))
    if (callee.type !== 'MemberExpression' || !ORDER.test(nameOf(callee.property))) return false
    return [...args, ...this.#subjects(as(callee.object))].some((value) => this.#isTimed(value))
  }

  /** What is given to the `expect` at the root of a chain. */
  #subjects(node: Node): Node[] {
    if (node.type === 'CallExpression' && nameOf(node.callee).split('.')[0] === 'expect') return list(node.arguments)
    if (node.type === 'CallExpression') return this.#subjects(as(node.callee))
    return node.type === 'MemberExpression' ? this.#subjects(as(node.object)) : []
  }

  #throws(node: Node): boolean {
    return node.type === 'ThrowStatement' || childrenOf(node).some((child) => !isFunction(child) && this.#throws(child))
  }
}

/** The lines, from 1, of assertions in this text that time decides. */
export const timedAssertions = (path: string, text: string): number[] => new Reader(path, text).lines()
