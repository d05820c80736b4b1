/**
 * Parses programs with bounded work. The TypeScript parser backtracks, which takes quadratic time or more on nested
 * brackets, so every token counts against a limit.
 */

import { tsPlugin } from '@sveltejs/acorn-typescript'
import { type Options, Parser } from 'acorn'
import { positionAt, type SyntaxNode, type Unread } from './syntax.ts'

export type Parsed = { ok: true; body: SyntaxNode[] } | Unread

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
