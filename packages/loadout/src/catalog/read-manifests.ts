/**
 * Validates the tool list of a server. Invalid tools are skipped with a reason and the others kept. Applied limits and
 * removed hidden characters are reported as warnings.
 */
import { compileSchema } from '../json-schema/validator.ts'
import { cleanText } from '../schema/clean-text.ts'
import { invalidInput, type JsonObject } from '../schema/json.ts'
import {
  functionalManifest,
  MAX_DESCRIPTION,
  MAX_ICON_BYTES,
  MAX_ICONS,
  MAX_META_BYTES,
  MODEL_DESCRIPTION,
  type ToolManifest,
  toolIcon,
  toolManifest,
  toolMeta,
} from '../schema/toolkit/tool.ts'
import { sleep } from '../util/abort.ts'
import { headerProblem } from './header-parameters.ts'

export const MAX_TOOLS = 2000
const MAX_NAME = 256
const TURN_MS = 20
/** Characters of all icons and `_meta` of a server: a page loads them at once. */
const MAX_EXTRAS = 4 * 1024 * 1024

export interface ReadManifests {
  manifests: ToolManifest[]
  /** Invalid tools by name, if they have one. */
  setAside: Array<{ name: string; reason: string }>
  /** Changes and omissions, for users. */
  warnings: string[]
}

export async function readManifests(items: readonly unknown[]): Promise<ReadManifests> {
  const read: ReadManifests = { manifests: [], setAside: [], warnings: [] }
  const seen = new Set<string>()
  if (items.length > MAX_TOOLS)
    read.warnings.push(`The server lists ${items.length} tools; the first ${MAX_TOOLS} are kept.`)
  let since = performance.now()
  for (const [index, item] of items.slice(0, MAX_TOOLS).entries()) {
    // Compiling many schemas takes long, so yield to the event loop.
    if (performance.now() - since > TURN_MS) {
      await sleep(0, { keepAlive: true })
      since = performance.now()
    }
    const name = nameOf(item, index)
    if (seen.has(name)) {
      read.warnings.push(`"${name}" is listed twice; the first is kept.`)
      continue
    }
    seen.add(name)
    const outcome = readOne(item, name, read.warnings)
    if ('reason' in outcome) read.setAside.push({ name, reason: outcome.reason })
    else read.manifests.push(outcome.manifest)
  }
  read.manifests = withinBudget(read.manifests, read.warnings)
  if (items.length > 0 && read.manifests.length === 0) read.warnings.unshift(noneUsable(items.length))
  return read
}

/** Warning for a server whose tools are all invalid. */
export const noneUsable = (count: number) =>
  count === 1
    ? 'The only tool that the server lists is invalid.'
    : `All ${count} tools that the server lists are invalid.`

export const isNoneUsable = (text: string) =>
  /^(All \d+ tools|The only tool) that the server lists (are|is) invalid\.$/.test(text)

/** Warning of a server that lists more tools than a catalog keeps, from the stored outcome of a discovery. */
export const cutWarning = ({ introspectionReason }: { introspectionReason: string | null }): string | undefined =>
  introspectionReason?.split('\n').find((line) => /^The server lists \d+ tools; the first \d+ are kept\.$/.test(line))

function nameOf(item: unknown, index: number): string {
  const name = typeof item === 'object' && item !== null ? (item as JsonObject).name : undefined
  return typeof name === 'string' && name !== '' ? cleanText(name).text.slice(0, MAX_NAME) : `(tool ${index + 1})`
}

function readOne(item: unknown, name: string, warnings: string[]): { manifest: ToolManifest } | { reason: string } {
  if (typeof item !== 'object' || item === null) return { reason: 'it is not an object' }
  const raw = item as JsonObject
  if (typeof raw.name === 'string' && cleanText(raw.name).hidden) return { reason: 'its name holds hidden characters' }
  const parsed = toolManifest.safeParse({
    ...raw,
    ...cleanWords(raw, name, warnings),
    ...annotationsOf(raw, name, warnings),
    ...iconsOf(raw, name, warnings),
    ...metaOf(raw, name, warnings),
    ...withType(cleanSchemas(raw, name, warnings)),
  })
  if (!parsed.success) return { reason: invalidInput(parsed.error).message }
  const problem = schemaProblem(parsed.data.inputSchema)
  if (problem !== undefined) return { reason: `its input schema cannot be used: ${problem}` }
  const header = headerProblem(parsed.data.inputSchema)
  if (header !== undefined) return { reason: `its parameters cannot be sent in headers: ${header}` }
  return { manifest: withUsableOutput(parsed.data, warnings) }
}

/** An input schema without a type describes an object: a tool takes nothing else. */
function withType({ inputSchema, ...rest }: JsonObject): JsonObject {
  const isUntyped = typeof inputSchema === 'object' && inputSchema !== null && !('type' in inputSchema)
  return inputSchema === undefined
    ? rest
    : { ...rest, inputSchema: isUntyped ? { type: 'object', ...inputSchema } : inputSchema }
}

function cleanWords(raw: JsonObject, name: string, warnings: string[]): JsonObject {
  const words: JsonObject = {}
  for (const field of ['title', 'description'] as const) {
    const value = raw[field]
    if (typeof value !== 'string') {
      words[field] = undefined
      continue
    }
    const limit = field === 'title' ? 500 : MAX_DESCRIPTION
    const { text, hidden } = cleanText(value.slice(0, limit * 2))
    if (hidden) warnings.push(`The ${field} of "${name}" held hidden characters; they were taken out.`)
    if (value.length > limit) warnings.push(`The ${field} of "${name}" is longer than ${limit} characters; it was cut.`)
    else if (field === 'description' && text.length > MODEL_DESCRIPTION)
      warnings.push(
        `The description of "${name}" has ${text.length} characters; models get its sentences up to ${MODEL_DESCRIPTION}.`,
      )
    words[field] = text.slice(0, limit)
  }
  return words
}

const WORDS = new Set(['title', 'description', '$comment'])
const MAX_SCHEMA_DEPTH = 100

/** Removes hidden characters from titles, descriptions and comments of schemas. Other keywords stay unchanged. */
function cleanSchemas(raw: JsonObject, name: string, warnings: string[]): JsonObject {
  let hidden = false
  const clean = (value: unknown, depth: number): unknown => {
    if (typeof value !== 'object' || value === null || depth > MAX_SCHEMA_DEPTH) return value
    if (Array.isArray(value)) return value.map((item) => clean(item, depth + 1))
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => {
        if (!WORDS.has(key) || typeof inner !== 'string') return [key, clean(inner, depth + 1)]
        const cleaned = cleanText(inner)
        hidden ||= cleaned.hidden
        return [key, cleaned.text]
      }),
    )
  }
  const schemas = Object.fromEntries(
    ['inputSchema', 'outputSchema']
      .filter((field) => raw[field] !== undefined)
      .map((field) => [field, clean(raw[field], 0)]),
  )
  if (hidden) warnings.push(`The schema of "${name}" held hidden characters; they were taken out.`)
  return schemas
}

// Invalid annotations are dropped, so that the tool needs approval.
function annotationsOf(raw: JsonObject, name: string, warnings: string[]): JsonObject {
  if (raw.annotations === undefined) return {}
  const parsed = toolManifest.shape.annotations.safeParse(raw.annotations)
  if (parsed.success) {
    const { title, ...hints } = parsed.data ?? {}
    return { annotations: { ...hints, ...(title === undefined ? {} : { title: cleanText(title).text.slice(0, 500) }) } }
  }
  warnings.push(`The annotations of "${name}" are not valid; they were ignored.`)
  return { annotations: undefined }
}

/** The icons and `_meta` of the first tools, as many as fit. */
function withinBudget(manifests: readonly ToolManifest[], warnings: string[]): ToolManifest[] {
  let total = 0
  let left = 0
  const trimmed = manifests.map((manifest) => {
    const { icons, _meta } = manifest
    if (icons === undefined && _meta === undefined) return manifest
    total += JSON.stringify([icons, _meta]).length
    if (total <= MAX_EXTRAS) return manifest
    left += 1
    return functionalManifest(manifest)
  })
  if (left > 0)
    warnings.push(
      `Icons and \`_meta\` of ${left} tools were skipped. Loadout keeps ${MAX_EXTRAS / 1024 / 1024} MB of them per server.`,
    )
  return trimmed
}

/** An icon that cannot be shown is no reason to lose its tool. */
function iconsOf({ icons }: JsonObject, name: string, warnings: string[]): JsonObject {
  if (icons === undefined) return {}
  const listed = Array.isArray(icons) ? icons.slice(0, MAX_ICONS) : []
  const valid = listed.flatMap((icon) => toolIcon.safeParse(icon).data ?? [])
  if (!Array.isArray(icons) || valid.length < listed.length)
    warnings.push(
      `Icons of "${name}" were skipped. An icon needs a \`data:image/…\` or \`https:\` source of at most ${MAX_ICON_BYTES / 1024} KB.`,
    )
  else if (icons.length > MAX_ICONS)
    warnings.push(`"${name}" has ${icons.length} icons; the first ${MAX_ICONS} are kept.`)
  return { icons: valid.length === 0 ? undefined : valid }
}

function metaOf({ _meta }: JsonObject, name: string, warnings: string[]): JsonObject {
  if (_meta === undefined) return {}
  const parsed = toolMeta.safeParse(_meta)
  // Databases reject NUL.
  if (parsed.success && !JSON.stringify(parsed.data).includes('\\u0000')) return { _meta: parsed.data }
  warnings.push(
    `The \`_meta\` of "${name}" was skipped. It must be an object of at most ${MAX_META_BYTES / 1024} KB of JSON.`,
  )
  return { _meta: undefined }
}

function withUsableOutput(manifest: ToolManifest, warnings: string[]): ToolManifest {
  if (manifest.outputSchema === undefined || schemaProblem(manifest.outputSchema) === undefined) return manifest
  warnings.push(`The output schema of "${manifest.name}" cannot be used; its results are not checked.`)
  const { outputSchema: _, ...rest } = manifest
  return rest
}

function schemaProblem(schema: JsonObject): string | undefined {
  const compiled = compileSchema(schema)
  return compiled.ok
    ? undefined
    : compiled.errors
        .map((error) => `${error.path}: ${error.message}`)
        .join('; ')
        .slice(0, 300)
}
