/**
 * Parses programs with bounded work. The TypeScript parser backtracks, which takes quadratic time or more on nested
 * brackets, so every token counts against a limit.
 */

import { tsPlugin } from '@sveltejs/acorn-typescript'
import { type Options, Parser } from 'acorn'

export type Parsed = { ok: true; body: SyntaxNode[] } | Unread

export interface Unread {
  ok: false
  message: string
  /** Fix, unless it is to correct that line. */
  action?: string | undefined
  at: number
  position: SourcePosition
}

type ParserClass = typeof Parser

/** Parser options of the final program: plain, without import and export. */
const BODY: Options = {
  ecmaVersion: 'latest',
  sourceType: 'script',
  allowReturnOutsideFunction: true,
  allowAwaitOutsideFunction: true,
  allowHashBang: false,
}

/** Token limits: programs rarely have more than one token per two characters. */
const TOKENS_A_CHARACTER = 2
const TOKENS_AT_LEAST = 5_000
const TOKENS_AT_MOST = 60_000

class TokenLimitError extends Error {}

/** Adds a token limit to a parser. */
function withTokenLimit(Base: ParserClass): ParserClass {
  const Reader = Base as unknown as new (options: Options, text: string, at?: number) => { nextToken(): void }
  class LimitedParser extends Reader {
    #left: number

    constructor(options: Options, text: string, at?: number) {
      super(options, text, at)
      this.#left = Math.min(text.length * TOKENS_A_CHARACTER + TOKENS_AT_LEAST, TOKENS_AT_MOST)
    }

    override nextToken(): void {
      if (this.#left-- <= 0) throw new TokenLimitError()
      super.nextToken()
    }
  }
  return LimitedParser as unknown as ParserClass
}

function parse(parser: ParserClass, text: string, options: Options): Parsed {
  try {
    return { ok: true, body: parser.parse(text, options).body as unknown as SyntaxNode[] }
  } catch (error) {
    return { ok: false, ...whyNot(error, text) }
  }
}

function whyNot(error: unknown, text: string): Omit<Unread, 'ok'> {
  const { message, pos } = error as SyntaxError & { pos?: number }
  const at = pos ?? 0
  const position = positionAt(text, at)
  if (error instanceof TokenLimitError)
    return { message: 'It is too long, or too entangled, to be read', action: SHORTER, at, position }
  // Acorn reports stack overflow itself if it can; otherwise the engine throws RangeError.
  if (error instanceof RangeError || message.startsWith('Not enough stack'))
    return { message: 'It is nested too deep', action: FLATTER, at, position }
  return { message: message.replace(/ \(\d+:\d+\)$/, ''), at, position }
}

const SHORTER = 'Make it shorter, and give data as its input.'
const FLATTER = 'Write it with fewer brackets inside each other.'

const javascript = Parser.extend(withTokenLimit)
const typescript = Parser.extend(tsPlugin({ jsx: false }) as never, withTokenLimit)
const PROGRAM: Options = { ...BODY, allowImportExportEverywhere: true }

export const parseJavaScript = (text: string): Parsed => parse(javascript, text, PROGRAM)
export const parseTypeScript = (text: string): Parsed => parse(typescript, text, PROGRAM)
export const parseBody = (text: string): Parsed => parse(javascript, text, BODY)

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
