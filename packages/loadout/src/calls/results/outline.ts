/**
 * Converts a result to one readable text: content blocks in order, then structured content, each on its own line. Text
 * stays as it is and the rest becomes JSON. Content that a server sends twice is kept once.
 */
import type { JsonObject } from '../../schema/json.ts'
import type { ResultSection } from '../../schema/records/result.ts'
import { contentSize } from '../../util/byte-size.ts'
import { countLineEnds } from './chunks.ts'

export interface OutlinedResult {
  text: string
  /** Positions of the sections; empty for a single text. */
  sections: ResultSection[]
}

type OutlineBlock = Pick<ResultSection, 'what' | 'isJson' | 'field'> & { text: string }

/** Further blocks become one list. */
const MAX_BLOCKS = 20
/** Safe section names: servers choose them, and databases reject some characters. */
const SAFE_NAME = /^[\w./-]{1,100}$/

export function outlineResult(content: readonly JsonObject[], structuredContent?: unknown): OutlinedResult {
  const blocks: OutlineBlock[] = content.slice(0, MAX_BLOCKS).map(blockOf)
  const rest = content.slice(MAX_BLOCKS)
  if (rest.length > 0) blocks.push(jsonOf('content', rest))
  const allBlocks = structuredContent === undefined ? blocks : withStructured(blocks, structuredContent)
  const [only] = allBlocks
  if (allBlocks.length === 1 && only && only.what === 'text' && only.field === undefined)
    return { text: only.text, sections: [] }
  return joinBlocks(allBlocks)
}

function blockOf(block: JsonObject): OutlineBlock {
  if (block.type !== 'text' || typeof block.text !== 'string') return jsonOf(String(block.type), block)
  // Blocks with more fields, such as `annotations`, are kept as JSON.
  return Object.keys(block).length === 2 ? { what: 'text', text: block.text, isJson: false } : jsonOf('text', block)
}

const jsonOf = (what: string, value: unknown): OutlineBlock => ({
  what: SAFE_NAME.test(what) ? what : 'content',
  text: JSON.stringify(value, undefined, 2) ?? 'null',
  isJson: true,
})

/** Whether a text block repeats the structured content, as its JSON or as its only text. */
export const isRepeated = (content: readonly JsonObject[], structuredContent: unknown): boolean =>
  repeatedIndex(content.slice(0, MAX_BLOCKS).filter(isText).map(blockOf), structuredContent) >= 0

const isText = ({ type }: JsonObject) => type === 'text'

/** Size of a result in bytes. Structured content that a text block repeats counts once. */
export const resultSize = (content: readonly JsonObject[], structuredContent?: unknown): number =>
  structuredContent === undefined || isRepeated(content, structuredContent)
    ? contentSize(content)
    : contentSize(content, structuredContent)

function repeatedIndex(blocks: readonly OutlineBlock[], value: unknown): number {
  const field = onlyText(value)
  return blocks.findIndex(({ what, text, isJson }) => {
    if (what !== 'text' || isJson) return false
    return field ? field.text === text : isJsonOf(text, value)
  })
}

/** Merges structured content with a text block that repeats it. */
function withStructured(blocks: readonly OutlineBlock[], value: unknown): OutlineBlock[] {
  const field = onlyText(value)
  const same = repeatedIndex(blocks, value)
  if (same < 0) return [...blocks, jsonOf('structuredContent', value)]
  const repeated = field ? { field: field.name } : { what: 'structuredContent', isJson: true }
  return blocks.map((block, index) => (index === same ? { ...block, ...repeated } : block))
}

function onlyText(value: unknown): { name: string; text: string } | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const [first, second] = Object.entries(value)
  if (!first || second || Array.isArray(value)) return undefined
  const [name, text] = first
  return typeof text === 'string' && SAFE_NAME.test(name) ? { name, text } : undefined
}

function isJsonOf(text: string, value: unknown): boolean {
  if (!/^\s*[[{]/.test(text)) return false
  try {
    return isSame(JSON.parse(text), value)
  } catch {
    return false
  }
}

/** Compares without serializing, because the values are large. */
function isSame(left: unknown, right: unknown): boolean {
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return left === right
  if (Array.isArray(left) !== Array.isArray(right)) return false
  const names = Object.keys(left)
  if (names.length !== Object.keys(right).length) return false
  return names.every(
    (name) => Object.hasOwn(right, name) && isSame((left as JsonObject)[name], (right as JsonObject)[name]),
  )
}

function joinBlocks(blocks: readonly OutlineBlock[]): OutlinedResult {
  const sections: ResultSection[] = []
  let firstCharacter = 0
  let firstLine = 1
  for (const { text, ...section } of blocks) {
    const lines = countLineEnds(text) + 1
    sections.push({ ...section, firstCharacter, characters: text.length, firstLine, lines })
    // Sections are separated by a line end that belongs to neither.
    firstCharacter += text.length + 1
    firstLine += lines
  }
  return { text: blocks.map(({ text }) => text).join('\n'), sections }
}
