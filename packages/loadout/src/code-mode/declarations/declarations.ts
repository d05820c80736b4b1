/**
 * TypeScript declarations of tools, for a model that writes programs: `declare const github: { list_issues(input: {…}): Promise<…> }`.
 * Each tool is told in the best form that the budget has room for: in full, in one line, or by its name; those that are given
 * first in full, and the same text for the same tools. What a program gets of a tool is what the bridge gives: its structured result where there is one, else
 * its text, parsed where it is JSON, else its content blocks; so a tool without an output schema gives `unknown`.
 */

import { HostError } from '../../errors.ts'
import type { LoadoutScope, Loadouts } from '../../loadout/loadouts.ts'
import type { LoadoutEntry } from '../../schema/toolkit/loadout-entry.ts'
import { type Tokenizer, tokenizerOf } from '../../search/tokens/tokenizer.ts'
import { BUILT_IN } from '../bridge.ts'
import { type CodeName, codeNames, inCode, isIdentifier, quoted } from '../function-names.ts'
import { toolComment } from './jsdoc.ts'
import { type Draft, draftType, FULL, SHORT, SHORTEST, type Style } from './schema-to-type.ts'
import { type NamedDraft, TypeNames } from './type-names.ts'

export type Declarable = Pick<LoadoutEntry, 'ref' | 'toolkit' | 'tool' | 'manifest'>

export interface DeclareOptions {
  /** Of the whole text. */
  maxTokens: number
  tokenizer: Tokenizer
  /** Of all tools that the program may call, where these are not all. @default codeNames(entries) */
  names?: ReadonlyMap<string, CodeName> | undefined
}

export interface Declared<T> {
  text: string
  tokens: number
  /** Those whose types are not told: their names at most. */
  left: T[]
}

const HEAD = `// A call gives the tool's result, or throws an Error with a "code". Promise<unknown>: the tool's text, parsed where it is
// JSON, or else its content blocks.
`
const hint = (more: number) =>
  `// ${more} more: await search("what to do") finds tools, await describe("toolkit.tool") tells the types of one.\n`

/** What those that come later are left for lines and names, where they need it. */
const SHARE_OF_LINES = 0.25
const TOKENS_OF_LINE = 40
const SHARE_OF_NAMES = 0.08
const TOKENS_OF_NAME = 8

/** So many in a row that do not fit: the rest will not, either. */
const FULL_MISSES = 8
const SHORT_MISSES = 32
const NAME_MISSES = 64
const MAX_LINE_LENGTH = 320

export function declare<T extends Declarable>(entries: readonly T[], options: DeclareOptions): Declared<T> {
  const names = options.names ?? codeNames(entries)
  const named = entries.filter(({ ref }) => names.has(ref))
  const unnamed = entries.filter(({ ref }) => !names.has(ref))
  const tools = named.map((entry) => ({ entry, name: names.get(entry.ref) as CodeName }))
  // With a little less until the whole fits: pieces that are counted one by one are a few tokens off.
  for (let spare = 0; spare < options.maxTokens; spare = spare * 2 + 8) {
    const sheet = new Sheet<T>(options.tokenizer, options.maxTokens - spare)
    const isComplete = unnamed.length === 0 && tools.every((tool) => sheet.full(tool))
    const filled = isComplete ? sheet : fill(tools, options.tokenizer, options.maxTokens - spare)
    const text = filled.text(isComplete ? 0 : tools.length)
    const tokens = options.tokenizer.count(text)
    if (tokens <= options.maxTokens) return { text, tokens, left: [...filled.left(named), ...unnamed] }
  }
  return { text: '', tokens: 0, left: [...entries] }
}

/** One tool in one line, as a search inside a program tells it. */
export function declareLine({ manifest }: Pick<Declarable, 'manifest'>, name: CodeName): string {
  return `${inCode(name)}${signature(manifest, SHORT)}`
}

interface Written {
  member: string
  keep: number
  named?: NamedDraft | undefined
}

interface Tool<T> {
  entry: T
  name: CodeName
}

function fill<T extends Declarable>(all: readonly Tool<T>[], tokenizer: Tokenizer, maxTokens: number): Sheet<T> {
  const sheet = new Sheet<T>(tokenizer, maxTokens - tokenizer.count(hint(all.length)))
  const misses = { full: 0, short: 0, name: 0 }
  for (const [index, tool] of all.entries()) {
    const rest = all.length - index - 1
    const forLines = Math.min(maxTokens * SHARE_OF_LINES, rest * TOKENS_OF_LINE)
    const forNames = Math.min(maxTokens * SHARE_OF_NAMES, rest * TOKENS_OF_NAME)
    if (misses.full < FULL_MISSES && sheet.full(tool, forLines)) misses.full = 0
    else if (++misses.full && misses.short < SHORT_MISSES && sheet.short(tool, forNames)) misses.short = 0
    else if (++misses.short && misses.name < NAME_MISSES && sheet.name(tool)) misses.name = 0
    else if (++misses.name >= NAME_MISSES) break
  }
  return sheet
}

/** What is written so far, and what it costs. */
class Sheet<T extends Declarable> {
  readonly #tokenizer: Tokenizer
  readonly #types: string[] = []
  readonly #members = new Map<string, string[]>()
  readonly #named = new Map<string, string[]>()
  readonly #typeNames = new TypeNames()
  readonly #declared = new Set<T>()
  #names = 0
  #left: number

  constructor(tokenizer: Tokenizer, maxTokens: number) {
    this.#tokenizer = tokenizer
    this.#left = maxTokens - tokenizer.count(HEAD)
  }

  /** `keep`: tokens that must be left after it. */
  full({ entry, name }: Tool<T>, keep = 0): boolean {
    const { manifest } = entry
    const input = draftType(manifest.inputSchema, FULL, 'Input')
    const output = draftType(manifest.outputSchema, FULL, 'Output')
    const named = this.#typeNames.name([input, output], [name.object, name.name])
    const [takes = 'unknown', gives = 'unknown'] = named.texts
    const comment = toolComment(manifest.description ?? manifest.title, name.aliases, '  ')
    const text = `${comment}  ${methodOf(name)}${inputOf(input, takes)}: Promise<${gives}>;\n`
    return this.#put({ entry, name }, { member: text, keep, named })
  }

  short({ entry, name }: Tool<T>, keep: number): boolean {
    const member = `  ${methodOf(name)}${signature(entry.manifest, SHORT)};\n`
    return this.#put({ entry, name }, { member, keep })
  }

  name({ name: { object, name } }: Tool<T>): boolean {
    const text = isIdentifier(name) ? name : quoted(name)
    const isFirst = !this.#named.has(object)
    if (!this.#pay([isFirst ? `// ${object}: ${text}\n` : `, ${text}`])) return false
    push(this.#named, object, text)
    this.#names++
    return true
  }

  left(all: readonly T[]): T[] {
    return all.filter((entry) => !this.#declared.has(entry))
  }

  /** `all`: how many there are, where not all are told. */
  text(all: number): string {
    if (this.#declared.size + this.#names === 0 && all === 0) return ''
    const objects = [...this.#members].map(([object, members]) => `declare const ${object}: {\n${members.join('')}};\n`)
    const names = [...this.#named].map(([object, tools]) => `// ${object}: ${tools.join(', ')}\n`)
    const more = all - this.#declared.size
    return [HEAD, ...this.#types, ...objects, ...names, ...(more > 0 ? [hint(more)] : [])].join('')
  }

  #put({ entry, name }: Tool<T>, { member, keep, named }: Written): boolean {
    const types = named ? [...named.added.values()].map(({ text }) => text) : []
    const head = this.#members.has(name.object) ? '' : `declare const ${name.object}: {\n};\n`
    if (!this.#pay([...types, head, member], keep)) return false
    if (named) this.#typeNames.keep(named)
    this.#types.push(...types)
    push(this.#members, name.object, member)
    this.#declared.add(entry)
    return true
  }

  #pay(texts: readonly string[], keep = 0): boolean {
    const length = texts.reduce((sum, text) => sum + text.length, 0)
    // No token has so many characters: counting would be in vain.
    if (length > this.#left * 100) return false
    const tokens = texts.reduce((sum, text) => sum + (text === '' ? 0 : this.#tokenizer.count(text)), 0)
    if (tokens > this.#left - keep) return false
    this.#left -= tokens
    return true
  }
}

/** One that takes nothing says so. */
const NOTHING = '{ [key: string]: unknown }'
const inputOf = ({ optional }: Draft, text: string) =>
  `(input${optional ? '?' : ''}: ${text === NOTHING ? '{}' : text})`

/** `(input: { … }): Promise<…>`, without comments and names of types. */
function signature(manifest: Declarable['manifest'], style: Style): string {
  const input = draftType(manifest.inputSchema, style, 'Input')
  const output = draftType(manifest.outputSchema, style, 'Output')
  const takes = inputOf(input, input.type.text)
  const line = `${takes}: Promise<${output.type.text}>`
  if (line.length <= MAX_LINE_LENGTH) return line
  return style === SHORT ? signature(manifest, SHORTEST) : `${takes}: Promise<unknown>`
}

/** `new(…)` would be a constructor. */
const methodOf = ({ name }: CodeName): string => (isIdentifier(name) && name !== 'new' ? name : quoted(name))

function push<T>(map: Map<string, T[]>, key: string, value: T): void {
  const list = map.get(key)
  if (list) list.push(value)
  else map.set(key, [value])
}

/** One tool as a program of a scope sees it: what `describe` tells there, under the name that it has there. */
export interface ToolDeclaration {
  /** TypeScript. */
  text: string
  /** How a program names it: `everything["get-sum"]`. */
  name: string
  /** Why no program of the scope can call it, where none can. */
  uncallable?: string
}

export interface DeclareDeps {
  loadouts: Pick<Loadouts, 'resolve'>
  /** Whether the host runs programs at all. */
  runsPrograms: boolean
}

/** As much as `describe` tells of one. */
export const MAX_TOKENS = 4000

export async function declareTool(
  { loadouts, runsPrograms }: DeclareDeps,
  scope: LoadoutScope,
  ref: string,
): Promise<ToolDeclaration> {
  const { entries, tools } = await loadouts.resolve(scope, { background: true })
  const entry = entries.find((one) => one.ref === ref && !one.reasons.some(({ kind }) => kind === 'shadowed'))
  if (!entry) throw new HostError('not-found', { detail: `There is no tool "${ref.slice(0, 400)}" of yours.` })
  const names = codeNames(entry.included ? tools : [...tools, entry], { reserved: BUILT_IN })
  const { text } = declare([entry], { maxTokens: MAX_TOKENS, tokenizer: await tokenizerOf(), names })
  const uncallable = runsPrograms ? whyNot(entry) : 'This host runs no programs.'
  const name = names.get(ref)
  return { text, name: name ? inCode(name) : ref, ...(uncallable === undefined ? {} : { uncallable }) }
}

function whyNot({ included, reasons, allowedCallers }: LoadoutEntry): string | undefined {
  if (!allowedCallers.includes('code')) return 'Its toolkit lets models call it, and no programs.'
  if (included) return undefined
  const against = reasons.filter(({ speaks }) => speaks === 'against').map(({ detail }) => detail)
  return against.join(' ') || 'It is not carried.'
}
