/**
 * API keys: `lo_` and 40 random characters, shown once and stored as a SHA-256 hash. Random keys need no slow hash.
 * Rows are cached until `watch()` reports a change.
 */
import { createHash, randomInt } from 'node:crypto'
import { HostError, newId, type Storage } from '@loadout/core'
import { type ApiKeyRow, apiKeyInput, type Principal, parse } from '@loadout/core/schema'
import type { Audit } from '@loadout/core/services'
import type { z } from 'zod'
import { createRowCache } from './row-cache.ts'

const PREFIX = 'lo_'
const LENGTH = 40
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const NOTE_USE_EVERY_MS = 60_000

export interface ApiKeys {
  /** Creates a key. Only this result contains the key itself. */
  create(by: Principal, input: unknown): Promise<{ row: ApiKeyRow; key: string }>
  list(userId: string): Promise<ApiKeyRow[]>
  revoke(by: Principal, keyId: string): Promise<void>
  /** Returns the principal of a key that exists, is not revoked and has not expired. */
  verify(key: string): Promise<Principal | undefined>
}

/** `record` writes created and revoked keys to the audit log, never the keys themselves. */
export function createApiKeys(storage: Storage, record: Audit['record'] = () => {}): ApiKeys {
  const cache = createRowCache<ApiKeyRow>(storage, {
    collection: 'apiKeys',
    isAbout: (_, row, id) => row?.keyId === id,
  })

  const find = (hash: string) =>
    cache.get(hash, async () => {
      const [row] = await storage.transaction({ caller: 'sign-in' }, (tx) => tx.list('apiKeys', { where: { hash } }))
      return row
    })

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
      const { key, row } = newKey(by, input)
      await storage.transaction({ caller: 'key-admin', userId: row.userId }, (tx) => tx.insert('apiKeys', row))
      const { keyId, role, scopesJson: scopes } = row
      await record({ userId: by.userId, action: 'api_key_made', detail: { keyId, role, scopes } })
      return { row, key }
    },

    async list(userId) {
      const rows = await storage.transaction({ userId }, (tx) => tx.list('apiKeys', { where: { revokedAt: null } }))
      return rows.filter((row) => row.expiresAt === null || row.expiresAt > new Date())
    },

    async revoke(by, keyId) {
      const [row] = mayOperate(by)
        ? await storage.transaction({ caller: 'key-admin' }, (tx) => tx.list('apiKeys', { where: { keyId } }))
        : await storage.transaction({ userId: by.userId }, (tx) => tx.list('apiKeys', { where: { keyId } }))
      if (!row || row.revokedAt !== null) throw new HostError('not-found', { detail: 'There is no such key of yours.' })
      await storage.transaction({ caller: 'key-admin', userId: row.userId }, (tx) =>
        tx.update('apiKeys', keyId, { set: { revokedAt: new Date() } }),
      )
      await record({ userId: by.userId, action: 'api_key_revoked', detail: { keyId } })
    },

    async verify(key) {
      if (!key.startsWith(PREFIX)) return undefined
      const row = await find(hashOf(key))
      if (!row || row.revokedAt !== null || (row.expiresAt !== null && row.expiresAt <= new Date())) return undefined
      await noteUse(row)
      const ends = row.expiresAt === null ? {} : { expiresAt: row.expiresAt.toISOString() }
      return { kind: 'api-key', userId: row.userId, role: row.role, scopes: row.scopesJson, keyId: row.keyId, ...ends }
    },
  }
}

function newKey(by: Principal, input: z.output<typeof apiKeyInput>): { key: string; row: ApiKeyRow } {
  const key = PREFIX + Array.from({ length: LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
  const row = {
    keyId: newId('apiKey'),
    userId: input.userId ?? by.userId,
    name: input.name,
    hash: hashOf(key),
    hint: key.slice(-4),
    role: input.role ?? ('user' as const),
    scopesJson: input.scopes,
    createdAt: new Date(),
    lastUsedAt: null,
    expiresAt: input.expiresAt === undefined ? null : new Date(input.expiresAt),
    revokedAt: null,
  }
  return { key, row }
}

const mayOperate = ({ role, scopes }: Principal) => role === 'operator' && scopes.includes('operate')

/** A key cannot have more rights than the principal that creates it. */
function assertMayGrant(by: Principal, input: z.output<typeof apiKeyInput>): void {
  const operator = mayOperate(by)
  const refuse = (detail: string) => new HostError('forbidden', { detail })
  if (input.userId !== undefined && input.userId !== by.userId && !operator)
    throw refuse('Only an operator makes keys for others.')
  if (input.role === 'operator' && !operator) throw refuse('Only an operator makes operator keys.')
  const missing = input.scopes.find((scope) => !by.scopes.includes(scope))
  if (missing !== undefined) throw refuse(`You lack the scope "${missing}" that the key would have.`)
  if (by.expiresAt !== undefined && (input.expiresAt === undefined || input.expiresAt > by.expiresAt))
    throw refuse(`Your own key ends at ${by.expiresAt}; the new one cannot last longer.`)
  if (input.scopes.includes('operate') && input.role !== 'operator')
    throw refuse('The scope "operate" needs the role operator.')
}

const hashOf = (key: string) => createHash('sha256').update(key).digest('hex')
