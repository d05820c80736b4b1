/**
 * Stores which toolkits and tools each tier turned on or off. A scope without rows has no opinion. `use` stores an
 * exclusive list: all off except these. `overlay.ts` resolves conflicts.
 */
import { HostError } from '../errors.ts'
import type { Emitter } from '../events.ts'
import { isGlob } from '../schema/glob.ts'
import { APP_OWNER, newId } from '../schema/ids.ts'
import { parse } from '../schema/json.ts'
import type { Scope } from '../schema/scope.ts'
import { tierOf } from '../schema/scope.ts'
import {
  type ActivationRow,
  activationRef,
  EXCLUSIVE,
  MAX_ACTIVATIONS,
  MAX_GLOBS,
} from '../schema/toolkit/activation.ts'
import type { Access, ReadCache, Storage, Transaction } from '../storage/storage.ts'
import { retryOnConflict } from '../toolkits/toolkit-writer.ts'
import { type ActivationRule, exclusively } from './layers.ts'

/** The app, a user, or one of a user's threads. */
export type ActivationScope = Omit<Scope, 'callId'>

export interface ActivationWriteOptions {
  mustExist?: boolean | undefined
}

export interface Activations {
  /** In creation order. */
  list(scope: ActivationScope): Promise<readonly ActivationRule[]>
  /** Creates a missing thread, or throws `not-found` with `mustExist`. */
  set(scope: ActivationScope, rules: readonly ActivationRule[], options?: ActivationWriteOptions): Promise<void>
  /** Turns on exactly these, replacing all earlier rules. */
  use(scope: ActivationScope, refs: readonly string[], options?: ActivationWriteOptions): Promise<void>
  /** Deletes one, some or all rules, so that the tier above applies. */
  clear(scope: ActivationScope, refs?: string | readonly string[]): Promise<void>
}

const LIST_LIMIT = 100_000

export function createActivations(deps: { storage: Storage; cache: ReadCache; events: Emitter }): Activations {
  const { storage, cache, events } = deps
  const emitChanged = ({ userId = APP_OWNER, threadId = '' }: ActivationScope) =>
    events.emit({ type: 'loadout-changed', userId, ...(threadId === '' ? {} : { threadId }) })
  /** One transaction for the thread and its rules, so that a thread deleted meanwhile is not half restored. */
  const write = async (
    scope: ActivationScope,
    { mustExist }: ActivationWriteOptions,
    work: (tx: Transaction, key: ScopeKey) => Promise<void>,
  ) => {
    await retryOnConflict(() =>
      storage.transaction(accessTo(scope), async (tx) => {
        const key = scopeKey(scope)
        if (key.threadId !== '' && mustExist !== undefined) await ensureThread(tx, key, mustExist)
        await work(tx, key)
        await assertBounded(tx, key)
      }),
    )
    emitChanged(scope)
  }

  return {
    list: ({ userId = APP_OWNER, threadId = '' }) =>
      cache.read({ userId, name: `activations ${threadId}` }, ['activations'], () =>
        storage.transaction(accessTo(userId === APP_OWNER ? {} : { userId }), (tx) =>
          tx.list('activations', { where: { userId, threadId }, limit: LIST_LIMIT }),
        ),
      ),
    set: (scope, rules, { mustExist = false } = {}) => {
      for (const { ref } of rules) parse(activationRef, ref)
      return write(scope, { mustExist }, async (tx, key) => {
        for (const rule of rules) await put(tx, key, rule)
      })
    },
    use: (scope, refs, { mustExist = false } = {}) => {
      const wanted = parse(activationRef.array().max(MAX_ACTIVATIONS), refs)
      return write(scope, { mustExist }, async (tx, key) => {
        for (const row of await rowsAt(tx, key)) await tx.delete('activations', row.activationId)
        for (const rule of exclusively([...new Set(wanted)])) await insert(tx, key, rule)
      })
    },
    clear: (scope, refs) => {
      const refSet = refs === undefined ? undefined : new Set(typeof refs === 'string' ? [refs] : refs)
      return write(scope, {}, async (tx, key) => {
        for (const row of await rowsAt(tx, key))
          if (refSet === undefined || refSet.has(row.ref)) await tx.delete('activations', row.activationId)
      })
    },
  }
}

async function ensureThread(tx: Transaction, { userId, threadId }: ScopeKey, mustExist: boolean): Promise<void> {
  if (await tx.get('threads', threadId)) return
  if (mustExist) throw new HostError('not-found', { detail: `There is no thread "${threadId.slice(0, 80)}" of yours.` })
  const now = new Date()
  await tx.insert('threads', { threadId, userId, title: '', settingsJson: {}, createdAt: now, updatedAt: now })
}

/** Limits the rules, because they are matched against every tool in every call. */
async function assertBounded(tx: Transaction, key: ScopeKey): Promise<void> {
  const rows = await rowsAt(tx, key)
  const globs = rows.filter((row) => row.ref !== EXCLUSIVE && isGlob(row.ref)).length
  if (rows.length <= MAX_ACTIVATIONS + 1 && globs <= MAX_GLOBS) return
  const message = `would be more than ${MAX_ACTIVATIONS} in all, or more than ${MAX_GLOBS} globs`
  throw new HostError('invalid-input', { detail: `The activations ${message}.`, errors: [{ path: 'ref', message }] })
}

interface ScopeKey {
  userId: string
  threadId: string
  tier: ActivationRow['tier']
}

const scopeKey = (scope: ActivationScope): ScopeKey => ({
  userId: scope.userId ?? APP_OWNER,
  threadId: scope.threadId ?? '',
  tier: tierOf(scope),
})

const accessTo = ({ userId }: ActivationScope): Access =>
  userId === undefined ? { caller: 'app-config', userId: APP_OWNER } : { userId }

const rowsAt = (tx: Transaction, { userId, threadId }: ScopeKey) =>
  tx.list('activations', { where: { userId, threadId }, limit: LIST_LIMIT })

async function put(tx: Transaction, key: ScopeKey, { ref, on }: ActivationRule): Promise<void> {
  const { userId, threadId } = key
  const [row] = await tx.list('activations', { where: { userId, threadId, ref } })
  if (row) await tx.update('activations', row.activationId, { set: { on } })
  else await insert(tx, key, { ref, on })
}

async function insert(
  tx: Transaction,
  { userId, threadId, tier }: ScopeKey,
  { ref, on }: ActivationRule,
): Promise<void> {
  const activationId = newId('activation')
  await tx.insert('activations', { activationId, userId, tier, threadId, ref, on, createdAt: new Date() })
}
