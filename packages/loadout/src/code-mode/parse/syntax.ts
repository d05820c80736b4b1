/** Syntax trees and positions, without the parsers, which are loaded when a program is first read. */

export interface Unread {
  ok: false
  message: string
  /** Fix, unless it is to correct that line. */
  action?: string | undefined
  at: number
  position: SourcePosition
}

export interface SyntaxNode {
  type: string
  start: number
  end: number
  [key: string]: unknown
}

export interface SourcePosition {
  /** From 1. */
  line: number
  /** From 1. */
  column: number
}

const LINE_END = /\r\n|[\n\r\u2028\u2029]/g

export function positionAt(text: string, at: number): SourcePosition {
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
export const isFunction = (node: SyntaxNode): boolean => FUNCTIONS.includes(node.type)

/** Direct children of a node. */
export function childrenOf(node: SyntaxNode): SyntaxNode[] {
  const children: SyntaxNode[] = []
  for (const key in node) {
    const value = node[key]
    if (isNode(value)) children.push(value)
    else if (Array.isArray(value)) for (const item of value) if (isNode(item)) children.push(item)
  }
  return children
}

const isNode = (value: unknown): value is SyntaxNode =>
  typeof value === 'object' && value !== null && typeof (value as SyntaxNode).type === 'string'
