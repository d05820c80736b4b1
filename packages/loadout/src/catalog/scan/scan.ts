/**
 * Offline scan of what a server lists, as it lists it: names, titles, descriptions, schema texts, defaults and icons. Pure,
 * bounded in size, and linear in time. A finding says where the text is, and never changes it.
 */
import type { JsonObject } from '../../schema/json.ts'
import { type Finding, SEVERITIES, type Severity } from '../../schema/toolkit/review.ts'
import { isObject } from '../../util/is-object.ts'
import { detectInText, structureFinding, type TextFinding, visible } from './detect.ts'
import { foldText, mixesScripts, nameSkeleton, scanWords } from './normalize.ts'

/** A tool of another server of the same owner. */
export interface OtherTool {
  toolkit: string
  name: string
}

export interface ScanOptions {
  others?: readonly OtherTool[] | undefined
}

/** Characters of one text, of one tool, and of one server. */
const MAX_TEXT = 131_072
const MAX_TOOL = 262_144
const MAX_SERVER = 16 * 1024 * 1024
const MAX_PER_TOOL = 20
const MAX_DEPTH = 32

/** Findings of the items of a list: tools, prompts, resources or skills. */
export function scanItems(items: readonly unknown[], { others = [] }: ScanOptions = {}): Finding[] {
  const index = indexOf(others)
  const found: Finding[] = []
  let budget = MAX_SERVER
  for (const item of items) {
    if (!isObject(item)) continue
    if (budget <= 0) {
      found.push(toFinding(structureFinding('not-scanned', String(item.name ?? '')), '', undefined))
      break
    }
    const texts = textsOf(item)
    budget -= texts.reduce((sum, { text }) => sum + text.length, 0)
    found.push(...scanItem(item, texts, index))
  }
  return found
}

interface PlacedText {
  path: string
  text: string
  /** Characters of the tool beyond its limit were not read. */
  cut?: boolean
}

function scanItem(item: JsonObject, texts: readonly PlacedText[], index: OtherIndex): Finding[] {
  const name = typeof item.name === 'string' ? item.name.slice(0, 256) : undefined
  const found = [
    ...texts.flatMap(({ path, text, cut }) => [
      ...detectInText(text).map((one) => toFinding(one, path, name)),
      ...foreignTools(text, index).map((one) => toFinding(one, path, name)),
      ...(cut ? [toFinding(structureFinding('not-scanned', text.slice(0, 60)), path, name)] : []),
    ]),
    ...(name === undefined ? [] : nameFindings(item, name, index)),
    ...argumentFindings(item, name),
  ]
  return found.toSorted((a, b) => weight(b.severity) - weight(a.severity)).slice(0, MAX_PER_TOOL)
}

const weight = (severity: Severity) => SEVERITIES.indexOf(severity)

const toFinding = ({ id, severity, why, excerpt }: TextFinding, path: string, tool: string | undefined): Finding => ({
  rule: id,
  severity,
  ...(tool === undefined ? {} : { tool: visible(tool) === tool ? tool : tool.slice(0, 256) }),
  path,
  excerpt,
  why,
})

/** Keywords whose strings are syntax, not text. */
const SYNTAX = new Set(['$schema', '$ref', '$id', 'type', 'format', 'pattern', 'mimeType'])

/** Every string of an item with its place. Icons count by their address. */
function textsOf(item: JsonObject): PlacedText[] {
  const texts: PlacedText[] = []
  let left = MAX_TOOL
  const add = (path: string, text: string) => {
    const size = Math.min(text.length, MAX_TEXT, left)
    if (size < 4 && text.length >= 4) return
    left -= size
    texts.push(size < text.length ? { path, text: text.slice(0, size), cut: left <= 0 } : { path, text })
  }
  const walk = (value: unknown, path: string, depth: number): void => {
    if (left <= 0 || depth > MAX_DEPTH) return
    if (typeof value === 'string') add(path, value)
    else if (Array.isArray(value)) for (const [at, one] of value.entries()) walk(one, `${path}/${at}`, depth + 1)
    else if (isObject(value))
      for (const [key, one] of Object.entries(value)) {
        if (key.length > 24) add(`${path}/${pointerPart(key)}`, key)
        if (typeof one === 'string' && (SYNTAX.has(key) || one.startsWith('data:'))) continue
        walk(one, `${path}/${pointerPart(key)}`, depth + 1)
      }
  }
  walk(item, '', 0)
  return texts
}

const pointerPart = (key: string) => key.slice(0, 100).replaceAll('~', '~0').replaceAll('/', '~1')

interface OtherIndex {
  /** Distinctive names: a plain word like `search` says nothing. */
  names: ReadonlyMap<string, OtherTool>
  skeletons: ReadonlyMap<string, OtherTool>
  all: ReadonlyMap<string, OtherTool>
}

function indexOf(others: readonly OtherTool[]): OtherIndex {
  const distinctive = others.filter(({ name }) => name.length >= 8 && /[_-]|[a-z][A-Z]/.test(name))
  return {
    names: new Map(distinctive.map((other) => [foldText(other.name), other])),
    skeletons: new Map(others.map((other) => [nameSkeleton(other.name), other])),
    all: new Map(others.map((other) => [other.name, other])),
  }
}

const STEERING = new Set('instead|always|must|never|before|after|replace|override|not|redirect|bcc|ignore'.split('|'))

/** A name of another server's tool beside a word that steers. */
function foreignTools(text: string, { names }: OtherIndex): TextFinding[] {
  if (names.size === 0) return []
  const { words } = scanWords(foldText(text))
  for (const [at, word] of words.entries()) {
    const other = names.get(word)
    if (!other) continue
    const near = words.slice(Math.max(0, at - 6), at + 7)
    if (near.some((one) => STEERING.has(one)))
      return [structureFinding('foreign-tool', `${other.toolkit}.${other.name}: ${near.join(' ')}`)]
  }
  return []
}

const WRITES =
  /^(?:delete|remove|drop|destroy|purge|wipe|erase|kill|terminate|send|exec|execute|write|overwrite|upload|publish|transfer|pay|purchase|uninstall|install|shutdown|reboot|format)(?![a-z])/i
const ONLY_READS = /quer|select|search|read|list|get|preview|dry.?run|plan|explain|status|sql/i

function nameFindings(item: JsonObject, name: string, { skeletons, all }: OtherIndex): Finding[] {
  const found: TextFinding[] = []
  const twin = skeletons.get(nameSkeleton(name))
  if (mixesScripts(name)) found.push(structureFinding('look-alike-name', name))
  else if (twin && twin.name !== name && foldText(name) !== name.toLowerCase())
    found.push(structureFinding('look-alike-name', `${name} (${twin.toolkit}.${twin.name})`))
  else if (all.has(name)) found.push(structureFinding('shadowed-name', `${all.get(name)?.toolkit}.${name}`))
  const hints = isObject(item.annotations) ? item.annotations : {}
  const snake = name.replace(/([a-z])([A-Z])/g, '$1_$2')
  if (hints.readOnlyHint === true && WRITES.test(snake) && !ONLY_READS.test(name))
    found.push(structureFinding('contradicting-hint', `readOnlyHint: true, ${name}`))
  return found.map((one) => toFinding(one, '/name', name))
}

const BROAD = new Set(
  'context|reasoning|conversation|conversation_history|conversationhistory|chat_history|chathistory|full_context|thoughts|system_prompt|sidenote|notes_to_server|user_context|all_messages|transcript'.split(
    '|',
  ),
)

/** A required argument for everything that the model knows. */
function argumentFindings({ inputSchema }: JsonObject, name: string | undefined): Finding[] {
  if (!isObject(inputSchema) || !isObject(inputSchema.properties) || !Array.isArray(inputSchema.required)) return []
  const { properties, required } = inputSchema
  return required.slice(0, 200).flatMap((key) => {
    if (typeof key !== 'string' || !BROAD.has(key.toLowerCase()) || !Object.hasOwn(properties, key)) return []
    const schema = (properties as JsonObject)[key]
    if (!isObject(schema) || schema.type !== 'string' || schema.enum !== undefined) return []
    const excerpt = `${key}: ${typeof schema.description === 'string' ? schema.description : 'string'}`
    return [toFinding(structureFinding('broad-argument', excerpt), `/inputSchema/properties/${pointerPart(key)}`, name)]
  })
}
