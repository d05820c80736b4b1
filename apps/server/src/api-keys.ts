/**
 * API keys: `lo_` and 40 characters of chance, shown once, stored as a SHA-256 hash. The chance is what protects the
 * hash, so it needs no slow function. A found key is remembered until `watch()` tells that it changed.
 */
import { createHash, randomInt } from 'node:crypto'
import { HostError, newId, type Storage } from 'loadout'
import { type ApiKeyRow, apiKeyInput, KEY_SCOPES, type Principal, parse } from 'loadout/schema'
import type { z } from 'zod'

const PREFIX = 'lo_'
const LENGTH = 40
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const NOTE_USE_EVERY_MS = 60_000
const REMEMBERED_KEYS = 10_000

export interface ApiKeys {
  /** Makes a key; the answer is the only place that ever holds it. */
  create(by: Principal, input: unknown): Promise<{ row: ApiKeyRow; key: string }>
  list(userId: string): Promise<ApiKeyRow[]>
  revoke(by: Principal, keyId: string): Promise<void>
  /** The principal of a key, where it is known, not revoked and not expired. */
  verify(key: string): Promise<Principal | undefined>
}

export function createApiKeys(storage: Storage, onChange: (row: ApiKeyRow) => void = () => {}): ApiKeys {
  const remembered = rememberKeys(storage)

  async function find(hash: string): Promise<ApiKeyRow | undefined> {
    const known = await remembered.get(hash)
    if (known) return known
    const [row] = await storage.transaction({ caller: 'sign-in' }, (tx) => tx.list('apiKeys', { where: { hash } }))
    if (row) remembered.set(hash, row)
    return row
  }

  async function noteUse(row: ApiKeyRow): Promise<void> {
    const now = new Date()
    if (row.lastUsedAt && now.getTime() - row.lastUsedAt.getTime() < NOTE_USE_EVERY_MS) return
    row.lastUsedAt = now
    await storage.transaction({ caller: 'sign-in', userId: row.userId }, (tx) =>
      tx.update('apiKeys', row.keyId, { set: { lastUsedAt: now } }),
    )
  }

  return {
    async create(by, body) {
      const input = parse(apiKeyInput, body)
      assertMayGrant(by, input)
      const key = PREFIX + Array.from({ length: LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
      const row: ApiKeyRow = {
        keyId: newId('apiKey'),
        userId: input.userId ?? by.userId,
        name: input.name,
        hash: hashOf(key),
        hint: key.slice(-4),
        role: input.role ?? 'user',
        scopesJson: input.scopes,
        createdAt: new Date(),
        lastUsedAt: null,
        expiresAt: input.expiresAt === undefined ? null : new Date(input.expiresAt),
        revokedAt: null,
      }
      await storage.transaction({ caller: 'key-admin', userId: row.userId }, (tx) => tx.insert('apiKeys', row))
      onChange(row)
      return { row, key }
    },

    async list(userId) {
      const rows = await storage.transaction({ userId }, (tx) => tx.list('apiKeys'))
      return rows.filter((row) => row.revokedAt === null)
    },

    async revoke(by, keyId) {
      const [row] =
        by.role === 'operator'
          ? await storage.transaction({ caller: 'key-admin' }, (tx) => tx.list('apiKeys', { where: { keyId } }))
          : await storage.transaction({ userId: by.userId }, (tx) => tx.list('apiKeys', { where: { keyId } }))
      if (!row || row.revokedAt !== null) throw new HostError('not-found', { detail: 'There is no such key of yours.' })
      await storage.transaction({ caller: 'key-admin', userId: row.userId }, (tx) =>
        tx.update('apiKeys', keyId, { set: { revokedAt: new Date() } }),
      )
      onChange(row)
    },

    async verify(key) {
      if (!key.startsWith(PREFIX)) return undefined
      const row = await find(hashOf(key))
      if (!row || row.revokedAt !== null || (row.expiresAt !== null && row.expiresAt <= new Date())) return undefined
      await noteUse(row)
      return { kind: 'api-key', userId: row.userId, role: row.role, scopes: row.scopesJson, keyId: row.keyId }
    },
  }
}

/** A key gives nothing that its maker does not have. */
function assertMayGrant(by: Principal, input: z.output<typeof apiKeyInput>): void {
  const operator = by.role === 'operator' && by.scopes.includes('operate')
  const refuse = (detail: string) => new HostError('forbidden', { detail })
  if (input.userId !== undefined && input.userId !== by.userId && !operator)
    throw refuse('Only an operator makes keys for others.')
  if (input.role === 'operator' && !operator) throw refuse('Only an operator makes operator keys.')
  const missing = input.scopes.find((scope) => !by.scopes.includes(scope))
  if (missing !== undefined) throw refuse(`You lack the scope "${missing}" that the key would have.`)
  if (input.scopes.includes('operate') && input.role !== 'operator')
    throw refuse('The scope "operate" needs the role operator.')
}

/** A bounded memory of keys by hash, trusted only while the watch is live. */
function rememberKeys(storage: Storage) {
  const byHash = new Map<string, ApiKeyRow>()
  let live = false
  let watching: Promise<unknown> | undefined
  const watch = () => {
    watching ??= storage.watch((change) => {
      if (change.kind !== 'row') {
        live = change.kind === 'live'
        byHash.clear()
      } else if (change.collection === 'apiKeys')
        for (const [hash, row] of byHash) if (row.keyId === change.id) byHash.delete(hash)
    })
    return watching
  }
  return {
    async get(hash: string) {
      await watch()
      return live ? byHash.get(hash) : undefined
    },
    set(hash: string, row: ApiKeyRow) {
      if (!live) return
      if (byHash.size >= REMEMBERED_KEYS) byHash.clear()
      byHash.set(hash, row)
    },
  }
}

const hashOf = (key: string) => createHash('sha256').update(key).digest('hex')

export const ALL_SCOPES = KEY_SCOPES
