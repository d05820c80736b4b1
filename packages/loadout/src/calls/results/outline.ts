/**
 * A result as one text to read in: its content blocks in their order, then its structured content, each beginning on a
 * line of its own. Texts stay as they are and the rest is JSON; nothing is left away, and what a server says twice is
 * kept once.
 */
import type { JsonObject } from '../../schema/json.ts'
import type { ResultSection } from '../../schema/records/result.ts'
import { countLineEnds } from './chunks.ts'

export interface OutlinedResult {
  text: string
  /** What is where; none where it is one text. */
  sections: ResultSection[]
}

type OutlineBlock = Pick<ResultSection, 'what' | 'isJson' | 'field'> & { text: string }

/** Of a server that sends thousands, the rest is one list. */
const MAX_BLOCKS = 20
/** What may be told of a section: a server chooses these names, and a database does not keep every one. */
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
  // More than its words, such as whom it is for, is kept too.
  return Object.keys(block).length === 2 ? { what: 'text', text: block.text, isJson: false } : jsonOf('text', block)
}

const jsonOf = (what: string, value: unknown): OutlineBlock => ({
  what: SAFE_NAME.test(what) ? what : 'content',
  text: JSON.stringify(value, undefined, 2) ?? 'null',
  isJson: true,
})

/** Whether a text block says the structured content once more: as its JSON, or as the one text that it holds. */
export const isRepeated = (content: readonly JsonObject[], structuredContent: unknown): boolean =>
  repeatedIndex(content.slice(0, MAX_BLOCKS).map(blockOf), structuredContent) >= 0

function repeatedIndex(blocks: readonly OutlineBlock[], value: unknown): number {
  const field = onlyText(value)
  return blocks.findIndex(({ what, text, isJson }) => {
    if (what !== 'text' || isJson) return false
    return field ? field.text === text : isJsonOf(text, value)
  })
}

/** Servers say structured content once more as text: as its JSON, or as the one text that it holds. */
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

/** Without making texts of both: they are large. Deeper than the stack, they are not the same. */
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
    // Each ends with a line end that is not its own.
    firstCharacter += text.length + 1
    firstLine += lines
  }
  return { text: blocks.map(({ text }) => text).join('\n'), sections }
}
