/**
 * Keeps the tool list of a thread stable between its prompts, so that the prompt caches of providers stay valid: tools
 * that a prompt selected are selected for the following ones too, and `stablePrefix` reports how much of the list stayed.
 */
import { LRUCache } from 'lru-cache'
import type { LoadoutEntry } from '../schema/toolkit/loadout-entry.ts'
import type { SelectionData } from '../schema/toolkit/selection.ts'
import type { Threads } from '../threads/threads.ts'
import type { LoadedTools, ThreadScope } from './loaded-tools.ts'
import { definitionOf } from './tokens/tokenizer.ts'

interface SelectionScope {
  userId: string
  threadId?: string | undefined
}

export interface SelectionMemory {
  /** Remembers a selection as the last one of its thread, and returns it with its `stablePrefix`. */
  remember(scope: SelectionScope, selection: SelectionData): Promise<SelectionData>
}

export interface KeepDeps {
  loaded: Pick<LoadedTools, 'load' | 'list' | 'touch'>
  threads: Pick<Threads, 'settings'>
}

/** Threads whose last list is remembered. */
const MAX_THREADS = 5000

export function createSelectionMemory(deps: KeepDeps): SelectionMemory {
  const lists = new LRUCache<string, readonly string[]>({ max: MAX_THREADS })
  const keys = new DefinitionKeys()
  return {
    async remember(scope, selection) {
      const { userId, threadId } = scope
      if (threadId === undefined) return selection
      // Without deferred tools the next selection has the same tools anyway.
      if (selection.deferred.length > 0) await keepSelected(deps, { userId, threadId }, selection)
      const list = selection.tools.map(({ entry }) => keys.get(entry))
      const key = JSON.stringify([userId, threadId])
      const before = lists.get(key) ?? []
      lists.set(key, list)
      return { ...selection, stablePrefix: commonPrefix(before, list) }
    },
  }
}

/** Keeps the deferred tools that were selected, in order, unless `keepFound` is off. */
async function keepSelected(
  { loaded, threads }: KeepDeps,
  scope: ThreadScope,
  { tools }: SelectionData,
): Promise<void> {
  const selected = tools.filter(({ entry }) => entry.deferred)
  const known = new Set((await loaded.list(scope)).map(({ ref }) => ref))
  for (const { by, entry } of selected) if (by === 'search' && known.has(entry.ref)) loaded.touch(scope, entry.ref)
  const fresh = selected.map(({ entry }) => entry.ref).filter((ref) => !known.has(ref))
  if (fresh.length === 0) return
  const { keepFound: shouldKeep = true } = await threads.settings(scope.userId, scope.threadId)
  if (shouldKeep) await loaded.load(scope, fresh, { asRoom: true, byPrompt: true })
}

/** Loads found tools for the thread, unless `keepFound` is off. Without a thread, the selection keeps them. */
export async function keepFound(
  { loaded, threads }: Pick<KeepDeps, 'threads'> & { loaded: Pick<LoadedTools, 'load'> },
  { userId, threadId }: SelectionScope,
  tools: readonly LoadoutEntry[],
): Promise<void> {
  const refs = tools.filter((entry) => entry.deferred).map(({ ref }) => ref)
  if (threadId === undefined || refs.length === 0) return
  const { keepFound: shouldKeep = true } = await threads.settings(userId, threadId)
  // Found tools are used even if the thread has no room to load all of them.
  if (shouldKeep) await loaded.load({ userId, threadId }, refs, { asRoom: true })
}

function commonPrefix(before: readonly string[], after: readonly string[]): number {
  const at = after.findIndex((key, index) => key !== before[index])
  return at === -1 ? after.length : at
}

/** Short keys of definitions; equal definitions have equal keys. */
class DefinitionKeys {
  readonly #hashes = new WeakMap<object, { name: string; key: string }>()

  get(entry: LoadoutEntry): string {
    const known = this.#hashes.get(entry.manifest)
    if (known?.name === entry.modelName) return known.key
    const text = JSON.stringify(definitionOf(entry))
    let hash = 0x811c9dc5
    for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0
    const key = `${entry.modelName} ${text.length} ${hash}`
    this.#hashes.set(entry.manifest, { name: entry.modelName, key })
    return key
  }
}
