/**
 * Toolkits in searchable form. Equal tools are one object for all users and re-reads, so 10,000 users of a toolkit
 * share one index.
 */
import { LRUCache } from 'lru-cache'
import type { Tier } from '../../schema/scope.ts'
import type { LoadoutEntry } from '../../schema/toolkit/loadout-entry.ts'
import type { AllowedCaller, ToolManifest } from '../../schema/toolkit/tool.ts'
import type { SearchTool } from '../search.ts'
import { wordsOf } from './words.ts'

export interface IndexedToolkit {
  /** Unique number; changed tools get a new one. */
  number: number
  /** Id of the toolkit, stored or not. */
  key: string
  tools: readonly SearchTool[]
  positions: ReadonlyMap<string, number>
}

/** A toolkit in a scope: the shared tools, and the entries of this scope. */
export interface ScopedToolkit {
  indexed: IndexedToolkit
  tier: Tier
  /** In the order of its tools. */
  entries: readonly LoadoutEntry[]
}

/** Inputs of a searchable tool. */
type IndexInput = Pick<LoadoutEntry, 'manifest' | 'examples' | 'toolkitName'>

const MAX_REMEMBERED = 5000

export class ToolkitIndices {
  /** Keyed by the first manifest, which is a new object whenever the catalog reloads it. */
  readonly #byManifest = new WeakMap<ToolManifest, { inputs: readonly IndexInput[]; indexed: IndexedToolkit }>()
  /** Last index per toolkit, reused when a reload has equal tools. */
  readonly #last = new LRUCache<string, IndexedToolkit>({ max: MAX_REMEMBERED })
  readonly #views = new WeakMap<readonly LoadoutEntry[], ScopeView>()
  #count = 0

  /** Returns the same view for the same entries array, which is immutable. */
  view(entries: readonly LoadoutEntry[]): ScopeView {
    const cached = this.#views.get(entries)
    if (cached) return cached
    const toolkits: ScopedToolkit[] = []
    for (const [key, toolkitEntries] of groupsOf(entries)) {
      const [first] = toolkitEntries
      // A shadowed toolkit has the refs of the one that shadows it, so excluded toolkits are skipped.
      if (!first || !toolkitEntries.some((entry) => entry.included)) continue
      toolkits.push({ indexed: this.#indexed(key, toolkitEntries), tier: first.tier, entries: toolkitEntries })
    }
    const view = new ScopeView(toolkits)
    this.#views.set(entries, view)
    return view
  }

  #indexed(key: string, entries: readonly LoadoutEntry[]): IndexedToolkit {
    const [first] = entries as [LoadoutEntry]
    const cached = this.#byManifest.get(first.manifest)
    if (cached?.indexed.key === key && isSame(cached.inputs, entries)) return cached.indexed
    const tools = entries.map((entry) => searchToolOf(entry))
    const last = this.#last.get(key)
    const indexed = last && hasSameTools(last.tools, tools) ? last : this.#create(key, tools)
    this.#last.set(key, indexed)
    const inputs = entries.map(({ manifest, examples, toolkitName }) => ({ manifest, examples, toolkitName }))
    this.#byManifest.set(first.manifest, { inputs, indexed })
    return indexed
  }

  #create(key: string, tools: readonly SearchTool[]): IndexedToolkit {
    return { number: this.#count++, key, tools, positions: new Map(tools.map(({ ref }, index) => [ref, index])) }
  }
}

/** Searchable toolkits of a scope. */
export class ScopeView {
  readonly toolkits: readonly ScopedToolkit[]
  readonly #byId: ReadonlyMap<string, readonly ScopedToolkit[]>

  constructor(toolkits: readonly ScopedToolkit[]) {
    this.toolkits = toolkits
    this.#byId = Map.groupBy(toolkits, ({ entries: [first] }) => first?.toolkit ?? '')
  }

  has(ref: string, callers?: readonly AllowedCaller[]): boolean {
    return this.find(ref, callers) !== undefined
  }

  /** The shared tool, if the scope includes it and one of the callers may call it. */
  find(ref: string, callers?: readonly AllowedCaller[]): SearchTool | undefined {
    for (const { indexed, entries } of this.#byId.get(ref.slice(0, ref.indexOf('.'))) ?? []) {
      const at = indexed.positions.get(ref)
      const entry = at === undefined ? undefined : entries[at]
      if (entry?.included && (callers === undefined || mayBeCalledBy(entry, callers)))
        return indexed.tools[at as number]
    }
    return undefined
  }
}

/** `more`: prompts it was used for, in addition to its examples. */
export function searchToolOf(entry: LoadoutEntry, more: readonly string[] = []): SearchTool {
  const { ref, tool, toolkit, manifest, examples = [] } = entry
  const { title, description, inputSchema } = manifest
  // A renamed tool is found by both names.
  const name = manifest.name === tool ? tool : `${manifest.name} ${tool}`
  const words = toolkitTerms(toolkit, entry.toolkitName)
  return { ref, name, title, toolkit: words, description, inputSchema, examples: [...examples, ...more] }
}

/** Toolkit id, and the words of its name that the id lacks. */
export function toolkitTerms(id: string, name = ''): string {
  const idWords = new Set(wordsOf(id))
  const more = wordsOf(name).filter((word) => !idWords.has(word))
  return [id, ...new Set(more)].join(' ')
}

export const mayBeCalledBy = ({ allowedCallers }: LoadoutEntry, callers: readonly AllowedCaller[]) =>
  callers.some((caller) => allowedCallers.includes(caller))

export const toolkitKeyOf = ({ uscoId, toolkit }: Pick<LoadoutEntry, 'uscoId' | 'toolkit'>) => uscoId ?? toolkit

function groupsOf(entries: readonly LoadoutEntry[]): Map<string, LoadoutEntry[]> {
  const groups = new Map<string, LoadoutEntry[]>()
  let last: { key: string; group: LoadoutEntry[] } | undefined
  for (const entry of entries) {
    const key = toolkitKeyOf(entry)
    // Tools of one toolkit are adjacent.
    if (last?.key !== key) {
      last = { key, group: groups.get(key) ?? [] }
      groups.set(key, last.group)
    }
    last.group.push(entry)
  }
  return groups
}

const isSame = (a: readonly IndexInput[], b: readonly LoadoutEntry[]) =>
  a.length === b.length &&
  a.every(
    (input, index) =>
      input.manifest === b[index]?.manifest &&
      input.examples === b[index]?.examples &&
      input.toolkitName === b[index]?.toolkitName,
  )

/** Whether all searchable fields are equal. */
const hasSameTools = (a: readonly SearchTool[], b: readonly SearchTool[]) =>
  a.length === b.length && a.every((tool, index) => isSameTool(tool, b[index] as SearchTool))

const isSameTool = (a: SearchTool, b: SearchTool) =>
  a.ref === b.ref &&
  a.name === b.name &&
  a.title === b.title &&
  a.description === b.description &&
  a.toolkit === b.toolkit &&
  (a.examples ?? []).join('\n') === (b.examples ?? []).join('\n') &&
  (a.inputSchema === b.inputSchema || JSON.stringify(a.inputSchema) === JSON.stringify(b.inputSchema))
