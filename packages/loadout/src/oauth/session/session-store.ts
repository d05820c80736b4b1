/**
 * Sessions of signed-in users, shared by all processes: cached reads, one renewal at a time, and compare-and-set
 * writes. Tokens are in the credential store; the row has the generation, the lease and the open links.
 */
import type { CredentialStore, SecretOwner } from '../../credentials/credential-store.ts'
import { HostError } from '../../errors.ts'
import { APP_OWNER, newId } from '../../schema/ids.ts'
import type { SignInRow } from '../../schema/toolkit/sign-in.ts'
import type { Access, ReadCache, Storage, Transaction } from '../../storage/storage.ts'
import { sleep } from '../../util/abort.ts'
import { bindClient } from '../flow/preregistered-client.ts'
import { type CurrentSession, readSession, type SignInSession } from './session.ts'

export interface Renewal {
  /** Returns a new session, or undefined if there can be none. */
  renew(session: SignInSession | undefined): Promise<SignInSession | undefined>
  /** Called with a new session that is obsolete, because the user signed out meanwhile. */
  discard?(session: SignInSession): Promise<unknown>
}

export interface SessionStore {
  /** Returns the same promise until the session changes. */
  current(owner: SecretOwner): Promise<CurrentSession>
  /** Returns the row and creates it if missing. */
  ensureRow(owner: SecretOwner): Promise<SignInRow>
  /** Reads encrypted data beside the session: open links, clients. */
  sealed(owner: SecretOwner, field: SealedField): Promise<unknown>
  /** Changes the row and the encrypted data in one transaction. */
  write(owner: SecretOwner, change: SignInChange): Promise<void>
  /** Ends the session of generation `seen`. Returns whether it was still current. */
  end(owner: SecretOwner, seen: number): Promise<boolean>
  /** Deletes the sign-in and the catalog that was read with it. */
  remove(owner: SecretOwner): Promise<void>
  /**
   * Renews the session of generation `seen`, once across all processes; concurrent callers get the same result. A
   * sign-in or sign-out meanwhile wins. Errors of `renew` are thrown, and the next caller may retry.
   */
  renew(owner: SecretOwner, seen: number, renewal: Renewal): Promise<CurrentSession>
  /** Issuer that the toolkit's client is bound to; binds it to `issuer` if it is unbound. */
  boundIssuer(keeper: SecretOwner, issuer: string): Promise<string>
}

export type SealedField = 'oauth.flow' | 'oauth.clients'

export interface SignInChange {
  /** Undefined keeps the session, null ends it. */
  session?: SignInSession | null
  sealed?: Partial<Record<SealedField, unknown>>
  set?: Partial<Pick<SignInRow, 'stateHash' | 'stateUntil'>>
  /** Throws `conflict` unless the row still has these values. */
  where?: Partial<Pick<SignInRow, 'stateHash' | 'leaseHolder' | 'generation'>>
}

export interface SessionStoreDeps {
  storage: Storage
  cache: ReadCache
  credentials: CredentialStore
}

const SESSION_FIELD = 'oauth.session'
/** Longer than the timeout of an authorization server. */
const LEASE_MS = 20_000
const POLL_MS = 100
const MAX_RACES = 20
const NO_LEASE = { leaseHolder: null, leaseUntil: null } as const

export function createSessionStore(deps: SessionStoreDeps): SessionStore {
  return new SealedSessions(deps)
}

class SealedSessions implements SessionStore {
  readonly #deps: SessionStoreDeps
  readonly #renewals = new Map<string, Promise<CurrentSession>>()

  constructor(deps: SessionStoreDeps) {
    this.#deps = deps
  }

  current(owner: SecretOwner): Promise<CurrentSession> {
    const key = { userId: owner.userId, name: `sign-in ${owner.toolkit}` }
    return this.#deps.cache.read(key, ['signIns', 'credentials'], () => this.#load(owner))
  }

  ensureRow(owner: SecretOwner): Promise<SignInRow> {
    return retryOnConflict(() => this.#transaction(owner, (tx) => ensure(tx, owner)))
  }

  async sealed(owner: SecretOwner, field: SealedField): Promise<unknown> {
    const text = (await this.#deps.credentials.open(owner, [field]))[field]
    return text === undefined ? undefined : JSON.parse(text)
  }

  async write(owner: SecretOwner, change: SignInChange): Promise<void> {
    const work = () => this.#transaction(owner, (tx) => this.#change(tx, owner, change))
    // Without `where`, the later of two concurrent writes wins.
    await (change.where === undefined ? retryOnConflict(work) : work())
  }

  end(owner: SecretOwner, seen: number): Promise<boolean> {
    return this.#replace(owner, { session: null, where: { generation: seen } })
  }

  boundIssuer(keeper: SecretOwner, issuer: string): Promise<string> {
    const { credentials } = this.#deps
    return retryOnConflict(() => this.#transaction(keeper, (tx) => bindClient(tx, credentials, { keeper, issuer })))
  }

  async remove(owner: SecretOwner): Promise<void> {
    const { userId, toolkit: uscoId } = owner
    await this.#transaction(owner, async (tx) => {
      for (const { signInId } of await tx.list('signIns', { where: { userId, uscoId } }))
        await tx.delete('signIns', signInId)
      const fields = (await this.#deps.credentials.fields(tx, owner)).filter((field) => field.startsWith('oauth.'))
      await this.#deps.credentials.clear(tx, owner, fields)
    })
    if (userId === APP_OWNER) return
    await this.#transaction(owner, async (tx) => {
      for (const { personalCatalogId } of await tx.list('personalCatalogs', { where: { userId, uscoId } }))
        await tx.delete('personalCatalogs', personalCatalogId)
    })
  }

  renew(owner: SecretOwner, seen: number, renewal: Renewal): Promise<CurrentSession> {
    const key = JSON.stringify([owner.userId, owner.toolkit])
    const pending = this.#renewals.get(key)
    if (pending) return pending
    const work = this.#renewAlone(owner, seen, renewal).finally(() => this.#renewals.delete(key))
    this.#renewals.set(key, work)
    return work
  }

  async #renewAlone(owner: SecretOwner, seen: number, renewal: Renewal): Promise<CurrentSession> {
    const holder = newId('signIn')
    if ((await this.#takeLease(owner, seen, holder)) === 'newer') return this.#load(owner)
    try {
      const { session } = await this.#load(owner)
      const next = await renewal.renew(session)
      const isReplaced = await this.#replace(owner, {
        session: next ?? null,
        where: { leaseHolder: holder, generation: seen },
      })
      const latest = await this.#load(owner)
      if (!isReplaced && next && !latest.session) await renewal.discard?.(next)
      return latest
    } finally {
      await this.#releaseLease(owner, holder)
    }
  }

  /** Returns whether the row was still unchanged. */
  async #replace(owner: SecretOwner, change: SignInChange): Promise<boolean> {
    try {
      await this.write(owner, change)
      return true
    } catch (error) {
      if (isConflict(error)) return false
      throw error
    }
  }

  /** Waits while another process holds the lease. `newer`: that process has renewed the session. */
  async #takeLease(owner: SecretOwner, seen: number, holder: string): Promise<'taken' | 'newer'> {
    const deadline = Date.now() + LEASE_MS * 2
    for (;;) {
      const taken = await this.#tryLease(owner, seen, holder)
      if (taken) return taken
      if (Date.now() > deadline)
        throw new HostError('server-timeout', { detail: 'Another process takes too long to renew the sign-in.' })
      await sleep(POLL_MS, { keepAlive: true })
    }
  }

  #tryLease(owner: SecretOwner, seen: number, holder: string): Promise<'taken' | 'newer' | undefined> {
    return this.#transaction(owner, async (tx) => {
      const row = await ensure(tx, owner)
      if (row.generation !== seen) return 'newer' as const
      const { leaseHolder, leaseUntil } = row
      if (leaseHolder !== null && leaseUntil !== null && leaseUntil > new Date()) return undefined
      const set = { leaseHolder: holder, leaseUntil: new Date(Date.now() + LEASE_MS) }
      const won = await tx.update('signIns', row.signInId, { set, where: { leaseHolder, generation: seen } })
      return won ? ('taken' as const) : undefined
    }).catch((error: unknown) => {
      if (isConflict(error)) return undefined
      throw error
    })
  }

  async #releaseLease(owner: SecretOwner, holder: string): Promise<void> {
    try {
      await this.#transaction(owner, async (tx) => {
        const row = await find(tx, owner)
        if (row) await tx.update('signIns', row.signInId, { set: NO_LEASE, where: { leaseHolder: holder } })
      })
    } catch {
      // The lease expires by itself.
    }
  }

  #transaction<T>(owner: SecretOwner, work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#deps.storage.transaction(accessTo(owner), work)
  }

  async #load(owner: SecretOwner): Promise<CurrentSession> {
    // Generation first: a session newer than its generation is at worst renewed once more.
    const row = await this.#transaction(owner, (tx) => find(tx, owner))
    const secrets = await this.#deps.credentials.open(owner, [SESSION_FIELD])
    return { session: readSession(secrets[SESSION_FIELD]), generation: row?.generation ?? 0 }
  }

  async #change(tx: Transaction, owner: SecretOwner, { session, sealed = {}, set = {}, where }: SignInChange) {
    const row = await ensure(tx, owner)
    const generation = row.generation + (session === undefined ? 0 : 1)
    const next = { ...(session === undefined ? {} : columnsOf(session)), ...set, generation, updatedAt: new Date() }
    // Must not overwrite a concurrent write.
    const unchanged = { generation: row.generation, ...where }
    if (!(await tx.update('signIns', row.signInId, { set: next, where: unchanged }))) throw new HostError('conflict')
    const fields = { ...sealed, ...(session === undefined ? {} : { [SESSION_FIELD]: session }) }
    const updated = Object.entries(fields).filter(([, value]) => value !== null)
    const removed = Object.entries(fields).filter(([, value]) => value === null)
    const { credentials } = this.#deps
    await credentials.save(tx, owner, Object.fromEntries(updated.map(([name, value]) => [name, JSON.stringify(value)])))
    if (removed.length > 0)
      await credentials.clear(
        tx,
        owner,
        removed.map(([name]) => name),
      )
  }
}

const isConflict = (error: unknown) => HostError.is(error) && error.code === 'conflict'

async function retryOnConflict<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!isConflict(error) || attempt >= MAX_RACES) throw error
    }
  }
}

async function find(tx: Transaction, { userId, toolkit: uscoId }: SecretOwner): Promise<SignInRow | undefined> {
  const [row] = await tx.list('signIns', { where: { userId, uscoId }, limit: 1 })
  return row
}

async function ensure(tx: Transaction, owner: SecretOwner): Promise<SignInRow> {
  const found = await find(tx, owner)
  if (found) return found
  const now = new Date()
  const row: SignInRow = {
    signInId: newId('signIn'),
    userId: owner.userId,
    uscoId: owner.toolkit,
    issuer: null,
    expiresAt: null,
    renewable: false,
    generation: 0,
    ...NO_LEASE,
    stateHash: null,
    stateUntil: null,
    createdAt: now,
    updatedAt: now,
  }
  await tx.insert('signIns', row)
  return row
}

function columnsOf(session: SignInSession | null) {
  if (session === null) return { issuer: null, expiresAt: null, renewable: false }
  const { issuer, expiresAt, tokens } = session
  return {
    issuer,
    expiresAt: expiresAt === null ? null : new Date(expiresAt),
    renewable: tokens.refresh_token !== undefined,
  }
}

function accessTo({ userId }: SecretOwner): Access {
  return userId === APP_OWNER ? { caller: 'app-credentials', userId } : { userId }
}
