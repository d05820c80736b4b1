/** Threads: ID, title and settings. The key is (user, thread), so that two users may use the same ID. */
import { HostError } from '../errors.ts'
import type { Emitter } from '../events.ts'
import { newId } from '../schema/ids.ts'
import type { JsonObject } from '../schema/json.ts'
import { parse } from '../schema/json.ts'
import {
  type ThreadRow,
  type ThreadSettings,
  threadInput,
  threadPatch,
  threadSettings,
} from '../schema/records/thread.ts'
import type { GrantRow } from '../schema/toolkit/policy.ts'
import type { ReadCache, Storage, Transaction } from '../storage/storage.ts'

export interface StoredThread {
  id: string
  title: string
  settings: ThreadSettings
  createdAt: Date
  updatedAt: Date
}

export interface Threads {
  /** `conflict` if the user has a thread with that ID. */
  create(userId: string, input?: unknown): Promise<StoredThread>
  /** `not-found` if the user has no thread with that ID. */
  get(userId: string, id: string): Promise<StoredThread>
  /** In descending order of ID; for generated IDs this is newest first. */
  list(userId: string, page?: { after?: string | undefined; limit?: number }): Promise<StoredThread[]>
  /** Changes the given fields and keeps the others. */
  update(userId: string, id: string, patch: unknown): Promise<StoredThread>
  /** Deletes the thread with its activations, loaded tools, rules and grants. */
  delete(userId: string, id: string): Promise<void>
  /** Settings of a thread, or defaults if the thread does not exist. */
  settings(userId: string, id: string): Promise<ThreadSettings>
}

const NO_SETTINGS: ThreadSettings = Object.freeze({ limits: {} })
const LIST_LIMIT = 100_000

export function createThreads(deps: { storage: Storage; cache: ReadCache; events: Emitter }): Threads {
  const { storage, cache, events } = deps
  const emitChanged = (userId: string, id: string) => events.emit({ type: 'thread-changed', userId, threadId: id })

  const insert = async (userId: string, row: Pick<ThreadRow, 'threadId' | 'title'> & { settings?: ThreadSettings }) => {
    const now = new Date()
    const { settings = NO_SETTINGS, ...fields } = row
    const whole = { ...fields, userId, settingsJson: settings as JsonObject, createdAt: now, updatedAt: now }
    await storage
      .transaction({ userId }, (tx) => tx.insert('threads', whole))
      .catch((error: unknown) => {
        throw asThreadConflict(error, row.threadId)
      })
    emitChanged(userId, row.threadId)
    return viewOf(whole)
  }

  return {
    async create(userId, input = {}) {
      const { id = newId('thread'), title = '', settings } = parse(threadInput, input)
      return insert(userId, { threadId: id, title, ...(settings ? { settings } : {}) })
    },
    async get(userId, id) {
      return viewOf(await storage.transaction({ userId }, (tx) => findRow(tx, id)))
    },
    async list(userId, { after, limit = 100 } = {}) {
      const page = { order: 'desc', limit, ...(after === undefined ? {} : { after }) } as const
      return (await storage.transaction({ userId }, (tx) => tx.list('threads', page))).map(viewOf)
    },
    async update(userId, id, patch) {
      const { title, settings } = parse(threadPatch, patch)
      const row = await storage.transaction({ userId }, async (tx) => {
        const before = await findRow(tx, id)
        const set = {
          ...(title === undefined ? {} : { title }),
          ...(settings === undefined ? {} : { settingsJson: settings as JsonObject }),
          updatedAt: new Date(),
        }
        return (await tx.update('threads', id, { set })) ?? before
      })
      emitChanged(userId, id)
      return viewOf(row)
    },
    async delete(userId, id) {
      const { grants, rules } = await storage.transaction({ userId }, async (tx) => {
        await findRow(tx, id)
        const left = await deleteThreadData(tx, { userId, threadId: id })
        await tx.delete('threads', id)
        return left
      })
      for (const { grantId, ref, target, decision } of grants)
        events.emit({ type: 'grant-revoked', userId, threadId: id, grantId, ref, target, decision })
      if (rules > 0) events.emit({ type: 'policy-changed', userId, threadId: id, rules: [] })
      emitChanged(userId, id)
    },
    settings: (userId, id) =>
      cache.read({ userId, name: `thread ${id}` }, ['threads'], () =>
        storage.transaction({ userId }, async (tx) => {
          const row = await tx.get('threads', id)
          return row ? viewOf(row).settings : NO_SETTINGS
        }),
      ),
  }
}

/** Deletes data that must not apply to a later thread with the same ID. */
async function deleteThreadData(
  tx: Transaction,
  where: { userId: string; threadId: string },
): Promise<{ grants: GrantRow[]; rules: number }> {
  const query = { where, limit: LIST_LIMIT }
  for (const { activationId } of await tx.list('activations', query)) await tx.delete('activations', activationId)
  for (const { loadedToolId } of await tx.list('loadedTools', query)) await tx.delete('loadedTools', loadedToolId)
  const rules = await tx.list('policyRules', query)
  for (const { ruleId } of rules) await tx.delete('policyRules', ruleId)
  const grants = await tx.list('grants', { ...query, where: { ...where, revokedAt: null } })
  const revokedAt = new Date()
  for (const { grantId } of grants) await tx.update('grants', grantId, { set: { revokedAt } })
  return { grants, rules: rules.length }
}

async function findRow(tx: Transaction, id: string): Promise<ThreadRow> {
  const row = await tx.get('threads', id)
  if (!row) throw new HostError('not-found', { detail: `There is no thread "${id.slice(0, 80)}" of yours.` })
  return row
}

const viewOf = ({ threadId: id, title, settingsJson, createdAt, updatedAt }: ThreadRow): StoredThread => ({
  id,
  title,
  settings: threadSettings.parse(settingsJson),
  createdAt,
  updatedAt,
})

function asThreadConflict(error: unknown, id: string): unknown {
  if (!HostError.is(error) || error.code !== 'conflict') return error
  return new HostError('conflict', {
    detail: `You have a thread "${id}" already.`,
    errors: [{ path: 'id', message: 'is taken' }],
    cause: error,
  })
}
