/**
 * Toolkits as they are searched. The same tools are the same object, whoever has them and however often they are read anew:
 * 10,000 users of one toolkit have one of these, and what is indexed is kept by its number.
 */
import { LRUCache } from 'lru-cache'
import type { Tier } from '../../schema/scope.ts'
import type { LoadoutEntry } from '../../schema/toolkit/loadout-entry.ts'
import type { AllowedCaller, ToolManifest } from '../../schema/toolkit/tool.ts'
import type { SearchTool } from '../search.ts'
import { wordsOf } from './words.ts'

export interface IndexedToolkit {
  /** No other has it, and other tools are another number. */
  number: number
  /** The toolkit, wherever it is stored. */
  key: string
  tools: readonly SearchTool[]
  positions: ReadonlyMap<string, number>
}

/** A toolkit of a scope: the tools that all share, and what this scope carries of them. */
export interface ToolkitView {
  indexed: IndexedToolkit
  tier: Tier
  /** In the order of its tools. */
  entries: readonly LoadoutEntry[]
}

/** What a tool was made of. */
type Made = Pick<LoadoutEntry, 'manifest' | 'examples' | 'toolkitName'>

const REMEMBERED = 5000

export class ToolkitIndices {
  /** By the first of its manifests, which is another object whenever the catalog has it anew. */
  readonly #known = new WeakMap<ToolManifest, { made: readonly Made[]; indexed: IndexedToolkit }>()
  /** The last of each toolkit, for what was read anew and is the same. */
  readonly #last = new LRUCache<string, IndexedToolkit>({ max: REMEMBERED })
  readonly #views = new WeakMap<readonly LoadoutEntry[], ScopeView>()
  #count = 0

  /** The same object for the same entries, which nobody changes. */
  view(entries: readonly LoadoutEntry[]): ScopeView {
    const known = this.#views.get(entries)
    if (known) return known
    const toolkits: ToolkitView[] = []
    for (const [key, own] of groupsOf(entries)) {
      const [first] = own
      // A toolkit that is hidden has the refs of the one that hides it: what is not carried at all is left out.
      if (!first || !own.some((entry) => entry.included)) continue
      toolkits.push({ indexed: this.#indexed(key, own), tier: first.tier, entries: own })
    }
    const view = new ScopeView(toolkits)
    this.#views.set(entries, view)
    return view
  }

  #indexed(key: string, entries: readonly LoadoutEntry[]): IndexedToolkit {
    const [first] = entries as [LoadoutEntry]
    const known = this.#known.get(first.manifest)
    if (known?.indexed.key === key && isSame(known.made, entries)) return known.indexed
    const tools = entries.map((entry) => searchToolOf(entry))
    const last = this.#last.get(key)
    const indexed = last && isAlike(last.tools, tools) ? last : this.#fresh(key, tools)
    this.#last.set(key, indexed)
    const made = entries.map(({ manifest, examples, toolkitName }) => ({ manifest, examples, toolkitName }))
    this.#known.set(first.manifest, { made, indexed })
    return indexed
  }

  #fresh(key: string, tools: readonly SearchTool[]): IndexedToolkit {
    return { number: this.#count++, key, tools, positions: new Map(tools.map(({ ref }, index) => [ref, index])) }
  }
}

/** What a scope has, to be searched. */
export class ScopeView {
  readonly toolkits: readonly ToolkitView[]
  readonly #byId: ReadonlyMap<string, readonly ToolkitView[]>

  constructor(toolkits: readonly ToolkitView[]) {
    this.toolkits = toolkits
    this.#byId = Map.groupBy(toolkits, ({ entries: [first] }) => first?.toolkit ?? '')
  }

  has(ref: string, callers?: readonly AllowedCaller[]): boolean {
    return this.find(ref, callers) !== undefined
  }

  /** A tool of the shared index, where the scope carries it, and for one of the callers where they are named. */
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

/** `more`: what it was used for, beside what it was given. */
export function searchToolOf(entry: LoadoutEntry, more: readonly string[] = []): SearchTool {
  const { ref, tool, toolkit, manifest, examples = [] } = entry
  const { title, description, inputSchema } = manifest
  // A tool that was renamed is found by both of its names.
  const name = manifest.name === tool ? tool : `${manifest.name} ${tool}`
  const words = toolkitTerms(toolkit, entry.toolkitName)
  return { ref, name, title, toolkit: words, description, inputSchema, examples: [...examples, ...more] }
}

/** A toolkit's id, and what its name says beside that. */
export function toolkitTerms(id: string, name = ''): string {
  const known = new Set(wordsOf(id))
  const more = wordsOf(name).filter((word) => !known.has(word))
  return [id, ...new Set(more)].join(' ')
}

export const mayBeCalledBy = ({ allowedCallers }: LoadoutEntry, callers: readonly AllowedCaller[]) =>
  callers.some((caller) => allowedCallers.includes(caller))

export const toolkitKeyOf = ({ uscoId, toolkit }: Pick<LoadoutEntry, 'uscoId' | 'toolkit'>) => uscoId ?? toolkit

function groupsOf(entries: readonly LoadoutEntry[]): Map<string, LoadoutEntry[]> {
  const groups = new Map<string, LoadoutEntry[]>()
  let last: { key: string; own: LoadoutEntry[] } | undefined
  for (const entry of entries) {
    const key = toolkitKeyOf(entry)
    // Tools of one toolkit stand together.
    if (last?.key !== key) {
      last = { key, own: groups.get(key) ?? [] }
      groups.set(key, last.own)
    }
    last.own.push(entry)
  }
  return groups
}

const isSame = (a: readonly Made[], b: readonly LoadoutEntry[]) =>
  a.length === b.length &&
  a.every(
    (one, index) =>
      one.manifest === b[index]?.manifest &&
      one.examples === b[index]?.examples &&
      one.toolkitName === b[index]?.toolkitName,
  )

/** Whether all that is searched is the same. */
const isAlike = (a: readonly SearchTool[], b: readonly SearchTool[]) =>
  a.length === b.length && a.every((one, index) => isAlikeTool(one, b[index] as SearchTool))

const isAlikeTool = (a: SearchTool, b: SearchTool) =>
  a.ref === b.ref &&
  a.name === b.name &&
  a.title === b.title &&
  a.description === b.description &&
  a.toolkit === b.toolkit &&
  (a.examples ?? []).join('\n') === (b.examples ?? []).join('\n') &&
  (a.inputSchema === b.inputSchema || JSON.stringify(a.inputSchema) === JSON.stringify(b.inputSchema))
