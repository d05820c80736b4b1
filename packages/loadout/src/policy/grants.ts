/** Answers that people wanted remembered: for a thread, a tool or a toolkit. Void once what they were given for changes. */
import type { CatalogTool } from '../catalog/catalog.ts'
import { HostError } from '../errors.ts'
import type { Emitter } from '../events.ts'
import type { GrantRow } from '../schema/grant.ts'
import { newId } from '../schema/ids.ts'
import type { ReadCache, Storage, Transaction } from '../storage/storage.ts'
import type { StoredToolkit } from '../toolkits/stored-toolkit.ts'
import type { Fingerprinter } from './fingerprints.ts'

export interface Grant {
  id: string
  ref: string
  target: 'tool' | 'toolkit'
  decision: 'allow' | 'deny'
  threadId?: string
  createdAt: Date
}

export interface NewGrant {
  userId: string
  threadId?: string | undefined
  target: Grant['target']
  ref: string
  decision: Grant['decision']
  fingerprint: string
}

export interface GrantedCall {
  userId: string
  threadId?: string | undefined
  stored: StoredToolkit
  found: CatalogTool
}

export interface Grants {
  list(userId: string): Promise<Grant[]>
  /** Inside the transaction of the answer that it remembers. */
  add(tx: Transaction, grant: NewGrant): Promise<Grant>
  revoke(userId: string, id: string): Promise<void>
  /** What was remembered for this call, where it still holds. A denial outweighs. */
  remembered(call: GrantedCall): Promise<Grant['decision'] | undefined>
}

const LIST_LIMIT = 100_000

export function createGrants(parts: {
  storage: Storage
  cache: ReadCache
  events: Emitter
  fingerprinter: Fingerprinter
}): Grants {
  const { storage, cache, events, fingerprinter } = parts
  const active = (userId: string): Promise<ReadonlyMap<string, readonly GrantRow[]>> =>
    cache.read({ userId, name: 'grants' }, ['grants'], () =>
      storage.transaction({ userId }, async (tx) => {
        const rows = await tx.list('grants', { where: { userId, revokedAt: null }, limit: LIST_LIMIT })
        return Map.groupBy(rows, (row) => row.ref)
      }),
    )

  return {
    async list(userId) {
      return [...(await active(userId)).values()].flat().map(viewOf)
    },
    async add(tx, { threadId = '', ...grant }) {
      const row: GrantRow = { grantId: newId('grant'), ...grant, threadId, createdAt: new Date(), revokedAt: null }
      await tx.insert('grants', row)
      return viewOf(row)
    },
    async revoke(userId, id) {
      const row = await storage.transaction({ userId }, (tx) =>
        tx.update('grants', id, { set: { revokedAt: new Date() }, where: { revokedAt: null } }),
      )
      if (!row) throw new HostError('not-found', { detail: 'There is no such grant of yours.' })
      events.emit({ type: 'grant-revoked', userId, grantId: id, ref: row.ref })
    },
    async remembered({ userId, threadId, stored, found }) {
      const grants = await active(userId)
      if (grants.size === 0) return undefined
      const { id } = stored.toolkit
      const here = (row: GrantRow) => row.threadId === '' || row.threadId === threadId
      const all = [...(grants.get(id) ?? []), ...(grants.get(`${id}.${found.manifest.name}`) ?? [])].filter(here)
      if (all.length === 0) return undefined
      const fingerprints = await fingerprinter.of(stored, found)
      const holding = all.filter((row) => row.decision === 'deny' || holds(row, fingerprints, found))
      if (holding.length === 0) return undefined
      return holding.some((row) => row.decision === 'deny') ? 'deny' : 'allow'
    },
  }
}

/** An answer for a whole toolkit covers the tools that were there, as they were, when it was given. */
function holds(row: GrantRow, fingerprints: { tool: string; toolkit: string }, { pinnedAt }: CatalogTool): boolean {
  if (row.target === 'tool') return row.fingerprint === fingerprints.tool
  return row.fingerprint === fingerprints.toolkit && pinnedAt !== undefined && pinnedAt <= row.createdAt
}

const viewOf = ({ grantId, ref, target, decision, threadId, createdAt }: GrantRow): Grant => ({
  id: grantId,
  ref,
  target,
  decision,
  ...(threadId === '' ? {} : { threadId }),
  createdAt,
})
