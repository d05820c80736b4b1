/**
 * What a thread has loaded: tools that were found once and stay for the steps and prompts after it. It widens nothing: a
 * loaded tool that is no longer carried is not chosen. Bounded: of those that nobody keeps, the longest unused go first.
 */
import { HostError } from '../errors.ts'
import type { Emitter } from '../events.ts'
import { newId } from '../schema/ids.ts'
import type { LoadedToolRow } from '../schema/search.ts'
import type { ReadCache, Storage, Transaction } from '../storage/storage.ts'
import { again } from '../toolkits/toolkit-writer.ts'
import type { LoadedTool } from './choose.ts'

export interface ThreadScope {
  userId: string
  threadId: string
}

export interface LoadedTools {
  /** In the order in which they were loaded. */
  list(scope: ThreadScope): Promise<readonly LoadedTool[]>
  /** `sticky` keeps them until they are unloaded; without it, what is kept stays kept. */
  load(scope: ThreadScope, refs: readonly string[], options?: { sticky?: boolean | undefined }): Promise<void>
  /** These, or all that the thread loaded. */
  unload(scope: ThreadScope, refs?: readonly string[]): Promise<void>
}

/** More would be most of a context again. */
const MOST_LOADED = 50
const LIST_LIMIT = 1000

export function createLoadedTools(parts: { storage: Storage; cache: ReadCache; events: Emitter }): LoadedTools {
  const { storage, cache, events } = parts
  const change = async (scope: ThreadScope, work: (tx: Transaction) => Promise<Changed>) => {
    const { loaded, unloaded } = await again(() => storage.transaction({ userId: scope.userId }, work))
    for (const ref of loaded) events.emit({ type: 'tool-loaded', ...scope, ref })
    for (const ref of unloaded) events.emit({ type: 'tool-unloaded', ...scope, ref })
  }
  return {
    list: ({ userId, threadId }) =>
      cache.read({ userId, name: `loaded tools ${threadId}` }, ['loadedTools'], async () =>
        (await storage.transaction({ userId }, (tx) => rowsOf(tx, { userId, threadId }))).map(({ ref, sticky }) => ({
          ref,
          sticky,
        })),
      ),
    load: (scope, refs, { sticky } = {}) =>
      change(scope, async (tx) => {
        const known = new Map((await rowsOf(tx, scope)).map((row) => [row.ref, row]))
        const loaded: string[] = []
        for (const ref of new Set(refs)) {
          const row = known.get(ref)
          if (row) await tx.update('loadedTools', row.loadedToolId, { set: touched(row, sticky) })
          else {
            await tx.insert('loadedTools', rowOf(scope, ref, sticky ?? false))
            loaded.push(ref)
          }
        }
        return { loaded, unloaded: await makeRoom(tx, scope, new Set(refs)) }
      }),
    unload: (scope, refs) =>
      change(scope, async (tx) => {
        const unloaded: string[] = []
        for (const row of await rowsOf(tx, scope)) {
          if (refs && !refs.includes(row.ref)) continue
          await tx.delete('loadedTools', row.loadedToolId)
          unloaded.push(row.ref)
        }
        return { loaded: [], unloaded }
      }),
  }
}

interface Changed {
  loaded: string[]
  unloaded: string[]
}

const touched = (row: LoadedToolRow, sticky: boolean | undefined) => ({
  usedAt: new Date(),
  sticky: sticky ?? row.sticky,
})

function rowOf({ userId, threadId }: ThreadScope, ref: string, sticky: boolean): LoadedToolRow {
  const now = new Date()
  return { loadedToolId: newId('loadedTool'), userId, threadId, ref, sticky, loadedAt: now, usedAt: now }
}

async function rowsOf(tx: Transaction, { userId, threadId }: ThreadScope): Promise<LoadedToolRow[]> {
  const rows = await tx.list('loadedTools', { where: { userId, threadId }, limit: LIST_LIMIT })
  return [...rows].sort((a, b) => +a.loadedAt - +b.loadedAt || (a.ref < b.ref ? -1 : 1))
}

async function makeRoom(tx: Transaction, scope: ThreadScope, fresh: ReadonlySet<string>): Promise<string[]> {
  const rows = await rowsOf(tx, scope)
  const over = rows.length - MOST_LOADED
  if (over <= 0) return []
  const oldest = rows.filter((row) => !row.sticky && !fresh.has(row.ref)).sort((a, b) => +a.usedAt - +b.usedAt)
  if (oldest.length < over)
    throw new HostError('invalid-input', {
      detail: `A thread keeps at most ${MOST_LOADED} loaded tools.`,
      action: 'Unload some that it keeps.',
      errors: [{ path: 'refs', message: `would be more than ${MOST_LOADED} in all` }],
    })
  const gone = oldest.slice(0, over)
  for (const row of gone) await tx.delete('loadedTools', row.loadedToolId)
  return gone.map((row) => row.ref)
}
