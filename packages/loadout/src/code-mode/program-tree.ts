/** The tree of a program, and places in its text. */

export interface Node {
  type: string
  start: number
  end: number
  [key: string]: unknown
}

export interface Place {
  /** From 1. */
  line: number
  /** From 1. */
  column: number
}

const LINE_END = /\r\n|[\n\r\u2028\u2029]/g

export function placeOf(text: string, at: number): Place {
  let line = 1
  let start = 0
  for (const end of text.matchAll(LINE_END)) {
    if (end.index + end[0].length > at) break
    line++
    start = end.index + end[0].length
  }
  return { line, column: at - start + 1 }
}

const FUNCTIONS = ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']
export const isFunction = (node: Node): boolean => FUNCTIONS.includes(node.type)

/** The nodes right under one. */
export function childrenOf(node: Node): Node[] {
  const children: Node[] = []
  for (const key in node) {
    const value = node[key]
    if (isNode(value)) children.push(value)
    else if (Array.isArray(value)) for (const one of value) if (isNode(one)) children.push(one)
  }
  return children
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'
