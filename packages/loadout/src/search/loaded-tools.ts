/**
 * Tools that a thread loaded, or that its prompts selected: selected for later steps and prompts too. They grant
 * nothing: a tool that is no longer in the loadout is not selected. Bounded: those of prompts are evicted first, then
 * the longest unused that are not sticky.
 */
import { HostError } from '../errors.ts'
import type { Emitter } from '../events.ts'
import { newId } from '../schema/ids.ts'
import type { LoadedToolRow } from '../schema/toolkit/search.ts'
import type { ReadCache, Storage, Transaction } from '../storage/storage.ts'
import { retryOnConflict } from '../toolkits/toolkit-writer.ts'
import type { LoadedTool } from './select-tools.ts'

export interface ThreadScope {
  userId: string
  threadId: string
}

export interface LoadedTools {
  /** In loading order, with those that a prompt selected. */
  list(scope: ThreadScope): Promise<readonly LoadedTool[]>
  load(scope: ThreadScope, refs: readonly string[], options?: LoadOptions): Promise<void>
  /** Unloads these, or all tools of the thread. */
  unload(scope: ThreadScope, refs?: readonly string[]): Promise<void>
  /** Records a use of a loaded tool. Written in the background. */
  touch(scope: ThreadScope, ref: string): void
  /** Writes pending uses. */
  flush(): Promise<void>
}

export interface LoadOptions {
  /** Keeps them until they are unloaded. Undefined keeps the current flag. */
  sticky?: boolean | undefined
  /** Loads as many as fit, in order, instead of all or none. */
  asRoom?: boolean | undefined
  /** Whether a prompt selected them, which loads nothing. */
  byPrompt?: boolean | undefined
  /** Existing refs: loaded tools of removed toolkits take no room. @default all loaded tools */
  existing?: ReadonlySet<string> | undefined
}

/** More would fill the context again. */
const MAX_LOADED = 50
/** Tools that a full thread evicts when a prompt selects more. */
const MAX_EVICTED = 20
/** Unavailable tools may come back, so a bounded number is kept. */
const MAX_UNAVAILABLE = 100
const FLUSH_MS = 1000
const MAX_PENDING = 10_000
const LIST_LIMIT = 1000

export function createLoadedTools(deps: { storage: Storage; cache: ReadCache; events: Emitter }): LoadedTools {
  const { storage, cache, events } = deps
  const uses = new UsageWriter(storage)
  const change = async (scope: ThreadScope, work: (tx: Transaction) => Promise<Changed>) => {
    // Eviction depends on the last use, so pending uses are written first.
    await uses.flush()
    const { loaded, unloaded } = await retryOnConflict(() => storage.transaction({ userId: scope.userId }, work))
    for (const ref of loaded) events.emit({ type: 'tool-loaded', ...scope, ref })
    for (const ref of unloaded) events.emit({ type: 'tool-unloaded', ...scope, ref })
  }
  return {
    list: ({ userId, threadId }) =>
      cache.read({ userId, name: `loaded tools ${threadId}` }, ['loadedTools'], async () =>
        (await storage.transaction({ userId }, (tx) => rowsOf(tx, { userId, threadId }))).map(
          ({ ref, sticky, byPrompt }) => ({ ref, sticky, byPrompt }),
        ),
      ),
    load: (scope, refs, options = {}) =>
      change(scope, async (tx) => {
        const { byPrompt = false } = options
        const rows = await rowsOf(tx, scope)
        const byRef = new Map(rows.map((row) => [row.ref, row]))
        const { accepted, evicted } = roomFor([...new Set(refs)], rows, options)
        for (const row of evicted) await tx.delete('loadedTools', row.loadedToolId)
        const loaded: string[] = []
        let loadedAt = Math.max(Date.now(), ...rows.map((row) => +row.loadedAt + 1))
        for (const ref of accepted) {
          const row = byRef.get(ref)
          if (row) await tx.update('loadedTools', row.loadedToolId, { set: touched(row, options) })
          // A tool that only a prompt selected is loaded now.
          if (row?.byPrompt && !byPrompt) loaded.push(ref)
          if (!row) {
            // Times are 1 ms apart, so that the order of the refs is stored.
            const row = rowOf(scope, ref, { sticky: options.sticky ?? false, byPrompt, at: loadedAt++ })
            await tx.insert('loadedTools', row)
            if (!byPrompt) loaded.push(ref)
          }
        }
        return { loaded, unloaded: evicted.filter((row) => !row.byPrompt).map(({ ref }) => ref) }
      }),
    unload: (scope, refs) =>
      change(scope, async (tx) => {
        const unloaded: string[] = []
        for (const row of await rowsOf(tx, scope)) {
          if (refs && !refs.includes(row.ref)) continue
          await tx.delete('loadedTools', row.loadedToolId)
          if (!row.byPrompt) unloaded.push(row.ref)
        }
        return { loaded: [], unloaded }
      }),
    touch: (scope, ref) => uses.add(scope, ref),
    flush: () => uses.flush(),
  }
}

interface Changed {
  loaded: string[]
  unloaded: string[]
}

const touched = (row: LoadedToolRow, { sticky = row.sticky, byPrompt = false }: LoadOptions) => ({
  usedAt: new Date(),
  sticky,
  byPrompt: row.byPrompt && byPrompt,
})

function rowOf(
  { userId, threadId }: ThreadScope,
  ref: string,
  { at, ...flags }: Pick<LoadedToolRow, 'sticky' | 'byPrompt'> & { at: number },
): LoadedToolRow {
  const loadedAt = new Date(at)
  return { loadedToolId: newId('loadedTool'), userId, threadId, ref, ...flags, loadedAt, usedAt: loadedAt }
}

async function rowsOf(tx: Transaction, { userId, threadId }: ThreadScope): Promise<LoadedToolRow[]> {
  const rows = await tx.list('loadedTools', { where: { userId, threadId }, limit: LIST_LIMIT })
  return [...rows].sort((a, b) => +a.loadedAt - +b.loadedAt || (a.ref < b.ref ? -1 : 1))
}

/** Accepted refs, and the rows that are evicted for them, none of them sticky. */
function roomFor(
  refs: readonly string[],
  rows: readonly LoadedToolRow[],
  { asRoom = false, byPrompt = false, existing }: LoadOptions,
): { accepted: readonly string[]; evicted: LoadedToolRow[] } {
  const wanted = new Set(refs)
  const isPresent = ({ ref }: LoadedToolRow) => wanted.has(ref) || !existing || existing.has(ref)
  const present = rows.filter(isPresent)
  const fresh = refs.filter((ref) => !present.some((row) => row.ref === ref))
  const free = present.filter((row) => !row.sticky && !wanted.has(row.ref)).sort(byUse)
  const missing = present.length + fresh.length - MAX_LOADED - free.length
  if (missing > 0 && !asRoom) throw tooMany()
  const rejected = new Set(missing > 0 ? fresh.slice(-missing) : [])
  const overflow = Math.max(0, present.length + fresh.length - rejected.size - MAX_LOADED)
  // Each eviction changes the beginning of the tool list, so a full thread evicts many at once.
  const excess = overflow > 0 && byPrompt ? Math.max(overflow, MAX_EVICTED) : overflow
  const unavailable = rows.filter((row) => !isPresent(row)).sort(byUse)
  return {
    accepted: refs.filter((ref) => !rejected.has(ref)),
    evicted: [...free.slice(0, excess), ...unavailable.slice(0, Math.max(0, unavailable.length - MAX_UNAVAILABLE))],
  }
}

const byUse = (a: LoadedToolRow, b: LoadedToolRow) => Number(b.byPrompt) - Number(a.byPrompt) || +a.usedAt - +b.usedAt

const tooMany = () =>
  new HostError('invalid-input', {
    detail: `A thread keeps at most ${MAX_LOADED} loaded tools.`,
    action: 'Unload some that it keeps.',
    errors: [{ path: 'refs', message: `would be more than ${MAX_LOADED} in all` }],
  })

/** Writes last-used times in the background. Failed writes are dropped. */
class UsageWriter {
  readonly #storage: Storage
  #pending = new Map<string, { scope: ThreadScope; usedAt: Map<string, Date> }>()
  #timer: ReturnType<typeof setTimeout> | undefined
  #writing: Promise<void> = Promise.resolve()

  constructor(storage: Storage) {
    this.#storage = storage
  }

  add(scope: ThreadScope, ref: string): void {
    const key = JSON.stringify([scope.userId, scope.threadId])
    const entry = this.#pending.get(key) ?? { scope, usedAt: new Map<string, Date>() }
    if (entry.usedAt.size === 0 && this.#pending.size >= MAX_PENDING) return
    this.#pending.set(key, entry)
    entry.usedAt.set(ref, new Date())
    if (this.#timer !== undefined) return
    this.#timer = setTimeout(() => void this.flush(), FLUSH_MS)
    if (typeof this.#timer === 'object' && 'unref' in this.#timer) this.#timer.unref()
  }

  flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#writing = this.#writing.then(async () => {
      const pending = [...this.#pending.values()]
      this.#pending.clear()
      for (const { scope, usedAt } of pending) await this.#write(scope, usedAt).catch(() => {})
    })
    return this.#writing
  }

  #write(scope: ThreadScope, usedAt: ReadonlyMap<string, Date>): Promise<void> {
    return this.#storage.transaction({ userId: scope.userId }, async (tx) => {
      for (const row of await rowsOf(tx, scope)) {
        const at = usedAt.get(row.ref)
        if (at && at > row.usedAt) await tx.update('loadedTools', row.loadedToolId, { set: { usedAt: at } })
      }
    })
  }
}
