/**
 * TypeScript declarations of tools for models that write programs: `declare const github: { list_issues(input: {…}):
 * Promise<…> }`. Each tool gets the best form that fits the budget: full, one line, or name only; earlier tools first,
 * and deterministic. Types describe what the bridge returns: the structured result, else parsed JSON text, else content
 * blocks, so a tool without an output schema returns `unknown`.
 */

import { HostError } from '../../errors.ts'
import type { LoadoutScope, Loadouts } from '../../loadout/loadouts.ts'
import type { LoadoutEntry } from '../../schema/toolkit/loadout-entry.ts'
import { type Tokenizer, tokenizerOf } from '../../search/tokens/tokenizer.ts'
import { BUILT_IN } from '../bridge.ts'
import { type CodeName, codeNames, inCode, isIdentifier, quoted } from '../function-names.ts'
import { toolComment } from './jsdoc.ts'
import { draftType, FULL, SHORT, SHORTEST, type Style, type TypeDraft } from './schema-to-type.ts'
import { type NamedDraft, TypeNames } from './type-names.ts'

export type Declarable = Pick<LoadoutEntry, 'ref' | 'toolkit' | 'tool' | 'manifest'>

export interface DeclareOptions {
  /** Max tokens of the whole text. */
  maxTokens: number
  tokenizer: Tokenizer
  /** Names of all callable tools, if `entries` is a subset. @default codeNames(entries) */
  names?: ReadonlyMap<string, CodeName> | undefined
}

export interface ToolDeclarations<T> {
  text: string
  tokens: number
  /** Tools without declared types: at most their name is listed. */
  left: T[]
}

const HEAD = `// A call gives the tool's result, or throws an Error with a "code". Promise<unknown>: the tool's text, parsed where it is
// JSON, or else its content blocks.
`
const hint = (more: number) =>
  `// ${more} more: await search("what to do") finds tools, await describe("toolkit.tool") tells the types of one.\n`

/** Shares of the budget reserved for one-line and name-only forms of later tools. */
const SHARE_OF_LINES = 0.25
const TOKENS_OF_LINE = 40
const SHARE_OF_NAMES = 0.08
const TOKENS_OF_NAME = 8

/** Max consecutive tools that do not fit before a form is given up. */
const FULL_MISSES = 8
const SHORT_MISSES = 32
const NAME_MISSES = 64
const MAX_LINE_LENGTH = 320

export function declare<T extends Declarable>(entries: readonly T[], options: DeclareOptions): ToolDeclarations<T> {
  const names = options.names ?? codeNames(entries)
  const named = entries.filter(({ ref }) => names.has(ref))
  const unnamed = entries.filter(({ ref }) => !names.has(ref))
  const tools = named.map((entry) => ({ entry, name: names.get(entry.ref) as CodeName }))
  // Token counts of pieces are inexact, so retry with a smaller budget until the whole text fits.
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

/** One-line declaration, as `search` in a program returns it. */
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

/** Declarations written so far and the remaining tokens. */
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

  /** `keep`: tokens that must remain afterwards. */
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

  /** `all`: total number of tools, or 0 if all are declared. */
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
    // No token has 100 characters, so counting is unnecessary.
    if (length > this.#left * 100) return false
    const tokens = texts.reduce((sum, text) => sum + (text === '' ? 0 : this.#tokenizer.count(text)), 0)
    if (tokens > this.#left - keep) return false
    this.#left -= tokens
    return true
  }
}

/** A tool without parameters takes `{}`. */
const NOTHING = '{ [key: string]: unknown }'
const inputOf = ({ optional }: TypeDraft, text: string) =>
  `(input${optional ? '?' : ''}: ${text === NOTHING ? '{}' : text})`

/** `(input: { … }): Promise<…>`, without comments and named types. */
function signature(manifest: Declarable['manifest'], style: Style): string {
  const input = draftType(manifest.inputSchema, style, 'Input')
  const output = draftType(manifest.outputSchema, style, 'Output')
  const takes = inputOf(input, input.type.text)
  const line = `${takes}: Promise<${output.type.text}>`
  if (line.length <= MAX_LINE_LENGTH) return line
  return style === SHORT ? signature(manifest, SHORTEST) : `${takes}: Promise<unknown>`
}

/** `new(…)` would declare a constructor. */
const methodOf = ({ name }: CodeName): string => (isIdentifier(name) && name !== 'new' ? name : quoted(name))

function push<T>(map: Map<string, T[]>, key: string, value: T): void {
  const list = map.get(key)
  if (list) list.push(value)
  else map.set(key, [value])
}

/** Declaration of one tool in a scope, as `describe` returns it there. */
export interface ToolDeclaration {
  /** TypeScript source. */
  text: string
  /** Function in programs, such as `everything["get-sum"]`. */
  name: string
  /** Reason why programs of the scope cannot call the tool. */
  uncallable?: string
}

export interface DeclareDeps {
  loadouts: Pick<Loadouts, 'resolve'>
  /** True if the host has an executor. */
  runsPrograms: boolean
}

/** Max tokens of `describe`. */
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
