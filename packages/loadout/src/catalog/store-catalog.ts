/**
 * Writes an introspection result in one transaction: readers see the old tools until it commits. Accepted manifests are
 * pinned: the first sight pins a tool, and a later difference is stored next to the pin until it is accepted. New tools
 * of an untrusted server are pinned as accepted by nobody and follow the server. Concurrent introspections of a toolkit
 * are serialized, and only differences are written.
 */

import { HostError } from '../errors.ts'
import { APP_OWNER, newId } from '../schema/ids.ts'
import type { JsonObject } from '../schema/json.ts'
import type { PinRow, UserServerToolRow } from '../schema/toolkit/catalog.ts'
import { functionalManifest, type ToolManifest } from '../schema/toolkit/tool.ts'
import type { Access, Storage, Transaction } from '../storage/storage.ts'
import type { StoredToolkit } from '../toolkits/stored-toolkit.ts'
import { retryOnConflict } from '../toolkits/toolkit-writer.ts'
import { currentFingerprint, fingerprintOf, isSameMeaning } from './fingerprint.ts'
import type { ReadManifests } from './read-manifests.ts'

/** Values of `acceptedBy` without a user: trust in the server, or nobody. User IDs are never empty. */
const FIRST_SIGHT = 'first sight'
export const NOBODY = ''

export interface IntrospectionResult extends ReadManifests {
  /** Whether the server is trusted: the first sight then accepts a tool. */
  trusted: boolean
}

interface Found {
  manifest: ToolManifest
  fingerprint: string
}

const LIMIT = 10_000

/** Names of added and removed tools. */
export interface CatalogChange {
  came: string[]
  went: string[]
}

export async function storeCatalog(
  storage: Storage,
  stored: StoredToolkit,
  read: IntrospectionResult,
): Promise<CatalogChange> {
  const found = await Promise.all(
    read.manifests.map(async (manifest) => ({ manifest, fingerprint: await fingerprintOf(manifest) })),
  )
  return retryOnConflict(() =>
    storage.transaction(accessTo(stored), async (tx) => {
      // Update the record first: it locks the row, so that concurrent introspections wait.
      if (!(await noteOutcome(tx, stored, { status: 'success', reason: joinWarnings(read.warnings) })))
        return { came: [], went: [] }
      const owner = { userId: stored.userId, uscoId: stored.uscoId }
      const tools = new Map(
        (await tx.list('userServerTools', { where: owner, limit: LIMIT })).map((row) => [row.name, row]),
      )
      const active = new Set([...tools.values()].filter((row) => row.isActive).map((row) => row.name))
      const pins = new Map((await tx.list('pins', { where: owner, limit: LIMIT })).map((row) => [row.name, row]))
      const writer = new CatalogWriter(tx, owner, read.trusted)
      for (const one of inOrderOf(pins, found)) {
        await writer.tool(tools.get(one.manifest.name), one)
        await writer.pin(pins.get(one.manifest.name), one)
        tools.delete(one.manifest.name)
      }
      for (const { name, reason } of read.setAside) {
        await writer.setAside(tools.get(name), name, reason)
        tools.delete(name)
      }
      for (const gone of tools.values())
        if (gone.isActive) await writer.deactivate(gone, 'the server no longer lists it')
      await writer.flush()
      const names = new Set(found.map((one) => one.manifest.name))
      return {
        came: [...names].filter((name) => !active.has(name)),
        went: [...active].filter((name) => !names.has(name)),
      }
    }),
  )
}

/** Pins are written in the order in which `acceptChanges` locks them, which prevents deadlocks. */
function inOrderOf(pins: ReadonlyMap<string, PinRow>, found: readonly Found[]): Found[] {
  const rank = new Map([...pins.keys()].map((name, index) => [name, index]))
  const rankOf = ({ manifest }: Found) => rank.get(manifest.name) ?? pins.size
  return found.toSorted((a, b) => rankOf(a) - rankOf(b))
}

const MAX_WARNINGS = 50

function joinWarnings(warnings: readonly string[]): string | null {
  if (warnings.length === 0) return null
  const more = warnings.length > MAX_WARNINGS ? [`and ${warnings.length - MAX_WARNINGS} more`] : []
  return [...warnings.slice(0, MAX_WARNINGS), ...more].join('\n')
}

/** Stores a failure and keeps the tools. */
export async function storeFailure(storage: Storage, stored: StoredToolkit, reason: string): Promise<void> {
  await storage.transaction(accessTo(stored), async (tx) => {
    await noteOutcome(tx, stored, { status: 'error', reason })
  })
}

export interface Acceptance {
  userId: string
  /** A tool name; all tools if missing. */
  tool?: string | undefined
  /** Fingerprint that the user saw: nothing else is accepted. */
  pin?: string | undefined
}

/** Accepts the current manifest of one or all tools that changed or were not accepted. */
export async function acceptChanges(storage: Storage, stored: StoredToolkit, by: Acceptance): Promise<number> {
  return storage.transaction(accessTo(stored), async (tx) => {
    const where = { userId: stored.userId, uscoId: stored.uscoId, ...(by.tool === undefined ? {} : { name: by.tool }) }
    const open = (await tx.list('pins', { where, limit: LIMIT })).filter(
      (pin) => pin.changedFingerprint !== null || pin.acceptedBy === NOBODY,
    )
    const other = by.pin !== undefined && open.some((pin) => (pin.changedFingerprint ?? pin.fingerprint) !== by.pin)
    if (other)
      throw new HostError('tool-changed', {
        detail: 'The tool changed again since it was shown.',
        action: 'Look at the new change first.',
      })
    for (const pin of open)
      await tx.update('pins', pin.pinId, {
        set: {
          fingerprint: pin.changedFingerprint ?? pin.fingerprint,
          manifestJson: pin.changedManifestJson ?? pin.manifestJson,
          changedFingerprint: null,
          changedManifestJson: null,
          acceptedBy: by.userId,
          acceptedAt: new Date(),
        },
        where: { fingerprint: pin.fingerprint, changedFingerprint: pin.changedFingerprint },
      })
    return open.length
  })
}

class CatalogWriter {
  readonly #tx: Transaction
  readonly #owner: { userId: string; uscoId: string }
  readonly #trusted: boolean
  readonly #now = new Date()
  // Inserting thousands of tools row by row takes many seconds.
  readonly #newTools: Omit<UserServerToolRow, 'utoolId'>[] = []
  readonly #newPins: Omit<PinRow, 'pinId'>[] = []

  constructor(tx: Transaction, owner: { userId: string; uscoId: string }, trusted: boolean) {
    this.#tx = tx
    this.#owner = owner
    this.#trusted = trusted
  }

  /** Inserts all new rows at once. */
  async flush(): Promise<void> {
    const tools = idsInOrder('tool', this.#newTools.length)
    const pins = idsInOrder('pin', this.#newPins.length)
    await this.#tx.insertAll(
      'userServerTools',
      this.#newTools.map((row, at) => ({ ...row, utoolId: tools[at] as string })),
    )
    await this.#tx.insertAll(
      'pins',
      this.#newPins.map((row, at) => ({ ...row, pinId: pins[at] as string })),
    )
  }

  async tool(existing: UserServerToolRow | undefined, { manifest, fingerprint }: Found): Promise<void> {
    const described = {
      title: manifest.title ?? null,
      description: manifest.description ?? null,
      inputSchemaJson: manifest.inputSchema,
      outputSchemaJson: manifest.outputSchema ?? null,
      annotationsJson: (manifest.annotations as JsonObject | undefined) ?? null,
      iconsJson: manifest.icons ?? null,
      metaJson: manifest._meta ?? null,
      fingerprint,
      isActive: true,
      reason: null,
    }
    // Noise does not change the fingerprint but is stored.
    if (existing?.isActive && isDescribed(existing, described)) return
    await this.#put(existing, manifest.name, described)
  }

  async setAside(existing: UserServerToolRow | undefined, name: string, reason: string): Promise<void> {
    if (existing && !existing.isActive && existing.reason === reason) return
    if (existing) return this.deactivate(existing, reason)
    await this.#put(undefined, name, { ...NOTHING, inputSchemaJson: { type: 'object' }, isActive: false, reason })
  }

  async deactivate(row: UserServerToolRow, reason: string): Promise<void> {
    await this.#tx.update('userServerTools', row.utoolId, { set: { isActive: false, reason, updatedAt: this.#now } })
  }

  async pin(existing: PinRow | undefined, { manifest, fingerprint }: Found): Promise<void> {
    if (!existing) {
      this.#newPins.push({
        ...this.#owner,
        name: manifest.name,
        fingerprint,
        manifestJson: functionalManifest(manifest) as JsonObject,
        changedFingerprint: null,
        changedManifestJson: null,
        acceptedBy: this.#trusted ? FIRST_SIGHT : NOBODY,
        acceptedAt: this.#now,
      })
      return
    }
    const next = await this.#nextOf(existing, { manifest, fingerprint })
    if (next.fingerprint !== existing.fingerprint || next.changedFingerprint !== existing.changedFingerprint)
      await this.#change(existing, next)
  }

  /** Fingerprints of the previous version are computed again, so that an upgrade changes no tool. */
  async #nextOf(existing: PinRow, { manifest, fingerprint }: Found): Promise<Partial<PinRow>> {
    const own = await currentFingerprint(existing.fingerprint, existing.manifestJson)
    const same = { changedFingerprint: null, changedManifestJson: null }
    if (own === fingerprint) return { fingerprint: own, ...same }
    const newManifest = functionalManifest(manifest) as JsonObject
    if (isCutBefore(existing, manifest)) return { fingerprint, manifestJson: newManifest, ...same }
    // Without an acceptance there is no difference to show.
    if (existing.acceptedBy === NOBODY && !this.#trusted) return { fingerprint, manifestJson: newManifest, ...same }
    return { fingerprint: own, changedFingerprint: fingerprint, changedManifestJson: newManifest }
  }

  /** A concurrent acceptance causes a conflict, and the introspection is written again. */
  async #change(pin: PinRow, set: Partial<PinRow>): Promise<void> {
    const where = { fingerprint: pin.fingerprint, changedFingerprint: pin.changedFingerprint }
    if (!(await this.#tx.update('pins', pin.pinId, { set, where }))) throw new HostError('conflict')
  }

  async #put(
    existing: UserServerToolRow | undefined,
    name: string,
    described: Omit<
      UserServerToolRow,
      'utoolId' | 'userId' | 'uscoId' | 'name' | 'discoveredAt' | 'createdAt' | 'updatedAt'
    >,
  ) {
    const times = { discoveredAt: this.#now, updatedAt: this.#now }
    if (existing) await this.#tx.update('userServerTools', existing.utoolId, { set: { ...described, ...times } })
    else
      this.#newTools.push({
        ...this.#owner,
        name,
        ...described,
        ...times,
        createdAt: this.#now,
      })
  }
}

type Described = Partial<UserServerToolRow>

/** Columns of an invalid tool. */
const NOTHING = {
  title: null,
  description: null,
  outputSchemaJson: null,
  annotationsJson: null,
  iconsJson: null,
  metaJson: null,
  fingerprint: '',
}

const isDescribed = (row: UserServerToolRow, described: Described): boolean =>
  Object.entries(described).every(
    ([field, value]) => JSON.stringify(row[field as keyof UserServerToolRow]) === JSON.stringify(value),
  )

/** Older versions cut descriptions at this length: the rest of the same text is not a change. */
const CUT_BEFORE = 8192

function isCutBefore({ fingerprint, manifestJson }: PinRow, manifest: ToolManifest): boolean {
  const { description } = manifestJson
  if (fingerprint.includes(':') || typeof description !== 'string' || description.length !== CUT_BEFORE) return false
  const isLonger = manifest.description?.startsWith(description) === true
  return isLonger && isSameMeaning({ ...manifest, description }, manifestJson)
}

/** Tools are listed by ID in server order; IDs of the same millisecond must be sorted. */
const idsInOrder = (kind: 'tool' | 'pin', count: number): string[] =>
  Array.from({ length: count }, () => newId(kind)).sort()

/** Stores the status. Returns false if the record was changed during the introspection. */
async function noteOutcome(
  tx: Transaction,
  { uscoId, row }: StoredToolkit,
  outcome: { status: 'success' | 'error'; reason: string | null },
): Promise<boolean> {
  const noted = await tx.update('userServerConfigs', uscoId, {
    set: { introspectionStatus: outcome.status, introspectionReason: outcome.reason, introspectedAt: new Date() },
    where: { updatedAt: row.updatedAt },
  })
  return noted !== undefined
}

function accessTo({ userId }: StoredToolkit): Access {
  return userId === APP_OWNER ? { caller: 'app-config', userId } : { caller: 'introspection', userId }
}
