/**
 * Saved permissions and denials for a thread, a tool or a toolkit. A permission becomes void when its tool changes and
 * stays void, even if the change is undone.
 */
import type { CatalogTool } from '../catalog/catalog.ts'
import { HostError } from '../errors.ts'
import type { Emitter } from '../events.ts'
import { newId } from '../schema/ids.ts'
import type { Tier } from '../schema/scope.ts'
import type { GrantRow } from '../schema/toolkit/policy.ts'
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
  /** The tool changed or is gone: the grant allows nothing. */
  void?: true
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
  /** Adds a grant in the transaction of its answer. Replaces a grant for the same target. */
  add(tx: Transaction, grant: NewGrant): Promise<Grant>
  /** Adds a grant before any call. */
  give(call: GrantedCall, decision: Grant['decision']): Promise<Grant>
  revoke(userId: string, id: string): Promise<void>
  /** The grant that applies to this call. A denial wins. */
  remembered(call: GrantedCall): Promise<Grant['decision'] | undefined>
  /** Denied refs of the user with their tier. The same map while nothing changes, so that it can be a cache key. */
  denied(scope: Pick<GrantedCall, 'userId' | 'threadId'>): Promise<ReadonlyMap<string, Tier>>
  /** Refs of tools and toolkits with a grant. */
  rememberedRefs(userId: string): Promise<Pick<ReadonlySet<string>, 'has' | 'size'>>
}

export interface GrantDeps {
  storage: Storage
  cache: ReadCache
  events: Emitter
  fingerprinter: Fingerprinter
  /** Current toolkits of a user with their tools. */
  offered(userId: string): Promise<ReadonlyArray<{ stored: StoredToolkit; tools: readonly CatalogTool[] }>>
}

const LIST_LIMIT = 100_000

export function createGrants({ storage, cache, events, fingerprinter, offered }: GrantDeps): Grants {
  const active = (userId: string): Promise<ReadonlyMap<string, readonly GrantRow[]>> =>
    cache.read({ userId, name: 'grants' }, ['grants'], () =>
      storage.transaction({ userId }, async (tx) => {
        const rows = await tx.list('grants', { where: { userId, revokedAt: null }, limit: LIST_LIMIT })
        return Map.groupBy(rows, (row) => row.ref)
      }),
    )

  const denials = new WeakMap<object, Map<string, ReadonlyMap<string, Tier>>>()

  async function add(tx: Transaction, { threadId = '', ...grant }: NewGrant): Promise<Grant> {
    const { userId, target, ref } = grant
    const createdAt = new Date()
    const where = { userId, threadId, target, ref, revokedAt: null }
    for (const { grantId } of await tx.list('grants', { where, limit: LIST_LIMIT }))
      await tx.update('grants', grantId, { set: { revokedAt: createdAt } })
    const row: GrantRow = { grantId: newId('grant'), ...grant, threadId, createdAt, revokedAt: null }
    await tx.insert('grants', row)
    return viewOf(row)
  }

  return {
    add,
    async give({ userId, threadId, stored, found }, decision) {
      const ref = `${stored.toolkit.id}.${found.manifest.name}`
      const { tool: fingerprint } = await fingerprinter.compute(stored, found)
      const newGrant = { userId, threadId, target: 'tool' as const, ref, decision, fingerprint }
      const grant = await storage.transaction({ userId }, (tx) => add(tx, newGrant))
      events.emit({ type: 'grant-added', userId, ...grantEventFields(grant) })
      return grant
    },
    async list(userId) {
      const rows = [...(await active(userId)).values()].flat()
      if (rows.every((row) => row.decision === 'deny')) return rows.map((row) => viewOf(row))
      const now = await offered(userId)
      return Promise.all(rows.map(async (row) => viewOf(row, await isVoid(row, now, fingerprinter))))
    },
    async revoke(userId, id) {
      const row = await storage.transaction({ userId }, (tx) =>
        tx.update('grants', id, { set: { revokedAt: new Date() }, where: { revokedAt: null } }),
      )
      if (!row) throw new HostError('not-found', { detail: 'There is no such grant of yours.' })
      events.emit({ type: 'grant-revoked', userId, ...grantEventFields(viewOf(row)) })
    },
    async denied({ userId, threadId = '' }) {
      const grants = await active(userId)
      if (grants.size === 0) return NOTHING
      const byThread = denials.get(grants) ?? new Map<string, ReadonlyMap<string, Tier>>()
      denials.set(grants, byThread)
      const cached = byThread.get(threadId) ?? deniedIn([...grants.values()].flat(), threadId)
      byThread.set(threadId, cached)
      return cached
    },
    rememberedRefs: (userId) => active(userId),
    async remembered({ userId, threadId, stored, found }) {
      const grants = await active(userId)
      if (grants.size === 0) return undefined
      const { id } = stored.toolkit
      const here = (row: GrantRow) => row.threadId === '' || row.threadId === threadId
      const candidates = [...(grants.get(id) ?? []), ...(grants.get(`${id}.${found.manifest.name}`) ?? [])].filter(here)
      if (candidates.length === 0) return undefined
      const holding = await holdingOf(candidates, { stored, found }, fingerprinter)
      if (holding.length === 0) return undefined
      return holding.some((row) => row.decision === 'deny') ? 'deny' : 'allow'
    },
  }
}

const NOTHING: ReadonlyMap<string, Tier> = new Map()

function deniedIn(rows: readonly GrantRow[], threadId: string): ReadonlyMap<string, Tier> {
  const here = rows.filter((row) => row.decision === 'deny' && (row.threadId === '' || row.threadId === threadId))
  if (here.length === 0) return NOTHING
  return new Map(here.map((row) => [row.ref, row.threadId === '' ? 'user' : 'thread']))
}

/** Whether a grant applies: the tool must be unchanged and accepted before the grant. */
async function holds(
  row: GrantRow,
  { stored, found }: { stored: StoredToolkit; found: CatalogTool },
  fingerprinter: Fingerprinter,
): Promise<boolean> {
  const { pinnedAt } = found
  if (pinnedAt !== undefined && pinnedAt > row.createdAt) return false
  if (row.target === 'tool') return fingerprinter.matches(row.fingerprint, stored, found)
  return row.fingerprint === (await fingerprinter.toolkit(stored)) && pinnedAt !== undefined
}

async function holdingOf(
  rows: readonly GrantRow[],
  tool: { stored: StoredToolkit; found: CatalogTool },
  fingerprinter: Fingerprinter,
): Promise<GrantRow[]> {
  const isHolding = await Promise.all(rows.map((row) => row.decision === 'deny' || holds(row, tool, fingerprinter)))
  return rows.filter((_, index) => isHolding[index])
}

async function isVoid(
  row: GrantRow,
  offered: Awaited<ReturnType<GrantDeps['offered']>>,
  fingerprinter: Fingerprinter,
): Promise<boolean> {
  if (row.decision === 'deny') return false
  const [id = '', ...rest] = row.ref.split('.')
  const toolkit = offered.find(({ stored }) => stored.toolkit.id === id)
  // It may be an inline toolkit, which cannot be checked here.
  if (!toolkit) return false
  if (row.target === 'toolkit') return row.fingerprint !== (await fingerprinter.toolkit(toolkit.stored))
  const found = toolkit.tools.find(({ manifest }) => manifest.name === rest.join('.'))
  return found === undefined || !(await holds(row, { stored: toolkit.stored, found }, fingerprinter))
}

/** Event fields of a grant. */
export const grantEventFields = ({ id: grantId, ref, target, decision, threadId }: Grant) => ({
  grantId,
  ref,
  target,
  decision,
  ...(threadId === undefined ? {} : { threadId }),
})

const viewOf = ({ grantId, ref, target, decision, threadId, createdAt }: GrantRow, isVoid = false): Grant => ({
  id: grantId,
  ref,
  target,
  decision,
  ...(threadId === '' ? {} : { threadId }),
  createdAt,
  ...(isVoid ? { void: true } : {}),
})
