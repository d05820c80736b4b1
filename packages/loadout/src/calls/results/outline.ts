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

type Said = Pick<ResultSection, 'what' | 'isJson' | 'field'> & { text: string }

/** Of a server that sends thousands, the rest is one list. */
const MAX_BLOCKS = 20
/** What may be told of a section: a server chooses these names, and a database does not keep every one. */
const PLAIN = /^[\w./-]{1,100}$/

export function layOut(content: readonly JsonObject[], structuredContent?: unknown): OutlinedResult {
  const blocks: Said[] = content.slice(0, MAX_BLOCKS).map(blockOf)
  const rest = content.slice(MAX_BLOCKS)
  if (rest.length > 0) blocks.push(jsonOf('content', rest))
  const said = structuredContent === undefined ? blocks : withStructured(blocks, structuredContent)
  const [only] = said
  if (said.length === 1 && only && only.what === 'text' && only.field === undefined)
    return { text: only.text, sections: [] }
  return joined(said)
}

function blockOf(block: JsonObject): Said {
  if (block.type !== 'text' || typeof block.text !== 'string') return jsonOf(String(block.type), block)
  // More than its words, such as whom it is for, is kept too.
  return Object.keys(block).length === 2 ? { what: 'text', text: block.text, isJson: false } : jsonOf('text', block)
}

const jsonOf = (what: string, value: unknown): Said => ({
  what: PLAIN.test(what) ? what : 'content',
  text: JSON.stringify(value, undefined, 2) ?? 'null',
  isJson: true,
})

/** Whether a text block says the structured content once more: as its JSON, or as the one text that it holds. */
export const isRepeated = (content: readonly JsonObject[], structuredContent: unknown): boolean =>
  sameIndex(content.slice(0, MAX_BLOCKS).map(blockOf), structuredContent) >= 0

function sameIndex(blocks: readonly Said[], value: unknown): number {
  const field = onlyText(value)
  return blocks.findIndex(({ what, text, isJson }) => {
    if (what !== 'text' || isJson) return false
    return field ? field.text === text : isJsonOf(text, value)
  })
}

/** Servers say structured content once more as text: as its JSON, or as the one text that it holds. */
function withStructured(blocks: readonly Said[], value: unknown): Said[] {
  const field = onlyText(value)
  const same = sameIndex(blocks, value)
  if (same < 0) return [...blocks, jsonOf('structuredContent', value)]
  const told = field ? { field: field.name } : { what: 'structuredContent', isJson: true }
  return blocks.map((block, index) => (index === same ? { ...block, ...told } : block))
}

function onlyText(value: unknown): { name: string; text: string } | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const [first, second] = Object.entries(value)
  if (!first || second || Array.isArray(value)) return undefined
  const [name, text] = first
  return typeof text === 'string' && PLAIN.test(name) ? { name, text } : undefined
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
function isSame(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return one === other
  if (Array.isArray(one) !== Array.isArray(other)) return false
  const names = Object.keys(one)
  if (names.length !== Object.keys(other).length) return false
  return names.every(
    (name) => Object.hasOwn(other, name) && isSame((one as JsonObject)[name], (other as JsonObject)[name]),
  )
}

function joined(said: readonly Said[]): OutlinedResult {
  const sections: ResultSection[] = []
  let [firstCharacter, firstLine] = [0, 1]
  for (const { text, ...about } of said) {
    const lines = countLineEnds(text) + 1
    sections.push({ ...about, firstCharacter, characters: text.length, firstLine, lines })
    // Each ends with a line end that is not its own.
    firstCharacter += text.length + 1
    firstLine += lines
  }
  return { text: said.map(({ text }) => text).join('\n'), sections }
}
