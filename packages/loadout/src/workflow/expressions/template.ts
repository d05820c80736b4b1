/**
 * Templates: `{{ expr }}` alone yields the value itself, inside other text it is inserted. Templates are parsed once;
 * static parts stay unchanged and keys are never templates.
 */
import type { Json } from '../../schema/json.ts'
import { evaluate, type Values } from './evaluate.ts'
import type { Expression, NamedPath } from './expression.ts'
import { ExpressionFault, faultText } from './expression-error.ts'
import { countValues, formatValue, isList, isMap } from './functions.ts'
import { type EvaluationLimits, ExpressionMeter } from './meter.ts'

/** A variable with the path of the text that uses it. */
export interface LocatedName extends NamedPath {
  within: readonly string[]
}

export interface Template {
  /** True if there is nothing to evaluate. */
  isStatic: boolean
  names: readonly LocatedName[]
  /** Paths of evaluated texts, such as `['to', '0']`. */
  dynamicPaths: readonly (readonly string[])[]
  /** Throws an `ExpressionFault` with the path. */
  render(values: Values, limits?: EvaluationLimits): Json
}

export interface TemplateProblem {
  path: readonly string[]
  message: string
}

export type Reader = (text: string) => Expression

const MAX_DEPTH = 64
const RESULT_LIMITS = { steps: 2_000_000, characters: 16_000_000 }

type Part = string | Expression
type Piece = (values: Values, meter: ExpressionMeter) => Json

interface Reading {
  read: Reader
  names: LocatedName[]
  dynamicPaths: string[][]
  problems: TemplateProblem[]
}

/** Parses a value and reports all problems with their paths. */
export function readTemplate(value: Json, read: Reader): { template: Template; problems: TemplateProblem[] } {
  const reading: Reading = { read, names: [], dynamicPaths: [], problems: [] }
  const piece = pieceOf(value, [], reading)
  const { names, dynamicPaths, problems } = reading
  const template: Template = {
    isStatic: dynamicPaths.length === 0,
    names,
    dynamicPaths,
    render: (values, limits) => (piece ? renderBounded(piece, values, limits) : value),
  }
  return { template, problems }
}

function renderBounded(piece: Piece, values: Values, limits: EvaluationLimits | undefined): Json {
  try {
    const value = piece(values, new ExpressionMeter(limits))
    // A repeated reference costs nothing until it is serialized, so count the result.
    countValues(value, new ExpressionMeter(RESULT_LIMITS))
    return value
  } catch (error) {
    // Deeply nested values overflow the stack.
    throw error instanceof ExpressionFault ? error : new ExpressionFault('could not be evaluated')
  }
}

/** Parses a single expression, with or without braces. */
export function readCondition(text: string, read: Reader): { template: Template; problems: TemplateProblem[] } {
  const bare = text.trim()
  return readTemplate(bare.startsWith('{{') ? bare : `{{${text}}}`, read)
}

/** Returns undefined for a static value. */
function pieceOf(value: Json, path: readonly string[], reading: Reading): Piece | undefined {
  if (path.length > MAX_DEPTH) {
    reading.problems.push({ path, message: `is nested deeper than ${MAX_DEPTH}` })
    return undefined
  }
  if (typeof value === 'string') return textPiece(value, path, reading)
  if (isList(value)) {
    const pieces = value.map((inner, index) => pieceOf(inner, [...path, String(index)], reading))
    if (pieces.every((piece) => piece === undefined)) return undefined
    return (values, meter) => value.map((inner, index) => (pieces[index] ? pieces[index](values, meter) : inner))
  }
  if (!isMap(value)) return undefined
  const pieces = Object.entries(value).map(
    ([key, inner]) => [key, inner, pieceOf(inner, [...path, key], reading)] as const,
  )
  if (pieces.every(([, , piece]) => piece === undefined)) return undefined
  return (values, meter) =>
    Object.fromEntries(pieces.map(([key, inner, piece]) => [key, piece ? piece(values, meter) : inner]))
}

function textPiece(
  text: string,
  path: readonly string[],
  { read, names, dynamicPaths, problems }: Reading,
): Piece | undefined {
  if (!text.includes('{{')) return undefined
  dynamicPaths.push([...path])
  try {
    const parts = partsOf(text, read)
    for (const part of parts)
      if (typeof part !== 'string') names.push(...part.names.map((name) => ({ ...name, within: path })))
    return evaluateParts(path, parts)
  } catch (error) {
    if (!(error instanceof ExpressionFault)) throw error
    problems.push({ path, message: faultText(error, text) })
    return undefined
  }
}

function evaluateParts(path: readonly string[], parts: readonly Part[]): Piece {
  const value = (part: Part, values: Values, meter: ExpressionMeter): Json => {
    if (typeof part === 'string') return part
    try {
      return evaluate(part, values, meter)
    } catch (error) {
      if (!(error instanceof ExpressionFault)) throw error
      const where = path.length === 0 ? '' : `${path.join('.')}: `
      throw new ExpressionFault(`${where}${faultText(error, part.text)}`)
    }
  }
  const [only, ...others] = parts
  if (only !== undefined && others.length === 0) return (values, meter) => value(only, values, meter)
  return (values, meter) => {
    const texts = parts.map((part) => formatValue(value(part, values, meter), meter))
    meter.text(texts.reduce((sum, text) => sum + text.length, 0))
    return texts.join('')
  }
}

/** Splits a text into literals and expressions. Whitespace around a single expression is dropped. */
function partsOf(text: string, read: Reader): Part[] {
  const parts: Part[] = []
  let from = 0
  for (;;) {
    const open = text.indexOf('{{', from)
    if (open < 0) break
    const close = findClose(text, open + 2)
    if (open > from) parts.push(text.slice(from, open))
    const inner = text.slice(open + 2, close)
    parts.push(readAt(inner, open + 2, read))
    from = close + 2
  }
  if (from < text.length) parts.push(text.slice(from))
  const expressions = parts.filter((part) => typeof part !== 'string')
  const isAlone = expressions.length === 1 && parts.every((part) => typeof part !== 'string' || part.trim() === '')
  return isAlone ? expressions : parts
}

function readAt(inner: string, offset: number, read: Reader): Expression {
  const blanks = inner.length - inner.trimStart().length
  try {
    return read(inner.trim())
  } catch (error) {
    if (!(error instanceof ExpressionFault)) throw error
    throw new ExpressionFault(error.message, offset + blanks + (error.at ?? 0))
  }
}

/** Finds the closing `}}`; skips nested braces and quoted text. */
function findClose(text: string, from: number): number {
  let depth = 0
  let quote: string | undefined
  for (let at = from; at < text.length; at++) {
    const character = text[at] as string
    if (quote !== undefined) {
      if (character === '\\') at++
      else if (character === quote) quote = undefined
    } else if (character === '"' || character === "'") quote = character
    else if (character === '{') depth++
    else if (character === '}' && depth > 0) depth--
    else if (character === '}' && text[at + 1] === '}') return at
  }
  throw new ExpressionFault('is not closed: "}}" is missing', from - 2)
}
