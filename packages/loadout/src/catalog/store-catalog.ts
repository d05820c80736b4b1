/**
 * Writes what an introspection found, in one transaction: readers see the old tools until the new ones are in. What a
 * person accepted is pinned: the first sight of a tool pins it, a later difference is kept beside the pin until accepted.
 * What is first seen at a server that is not trusted is pinned too, as accepted by nobody, and follows what the server says.
 * Looks at one toolkit by many processes are written one after another, and only what differs is written.
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

/** Who accepted a tool that no person did: the trust in its server, or nobody. No user's id is empty. */
const FIRST_SIGHT = 'first sight'
export const NOBODY = ''

export interface IntrospectionResult extends ReadManifests {
  /** Whether the server is trusted: then the first sight of a tool accepts it. */
  trusted: boolean
}

interface Found {
  manifest: ToolManifest
  fingerprint: string
}

const LIMIT = 10_000

/** The names of the tools that came and went by it. */
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
      // First, because it holds the record: whoever else looked waits here, and then finds what this one wrote.
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

/** Pins are written in the order in which they are accepted, so that neither waits for the other for ever. */
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

/** Notes that an introspection failed. The tools stay as they are. */
export async function storeFailure(storage: Storage, stored: StoredToolkit, reason: string): Promise<void> {
  await storage.transaction(accessTo(stored), async (tx) => {
    await noteOutcome(tx, stored, { status: 'error', reason })
  })
}

export interface Acceptance {
  userId: string
  /** One tool, or all. */
  tool?: string | undefined
  /** The fingerprint that was shown: nothing else is accepted with it. */
  pin?: string | undefined
}

/** Takes what the server says now as accepted, for one tool or all: what changed, and what nobody accepted yet. */
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
  // Row by row a server with thousands of tools takes many seconds to be seen for the first time.
  readonly #newTools: Omit<UserServerToolRow, 'utoolId'>[] = []
  readonly #newPins: Omit<PinRow, 'pinId'>[] = []

  constructor(tx: Transaction, owner: { userId: string; uscoId: string }, trusted: boolean) {
    this.#tx = tx
    this.#owner = owner
    this.#trusted = trusted
  }

  /** Writes what is new: all of it is known only when every tool was looked at. */
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
    // Noise leaves the fingerprint as it is, and is stored all the same, in the server's order.
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

  /** A pin of the version before is computed again from its manifest, so that an upgrade changes no tool. */
  async #nextOf(existing: PinRow, { manifest, fingerprint }: Found): Promise<Partial<PinRow>> {
    const own = await currentFingerprint(existing.fingerprint, existing.manifestJson)
    const same = { changedFingerprint: null, changedManifestJson: null }
    if (own === fingerprint) return { fingerprint: own, ...same }
    const newManifest = functionalManifest(manifest) as JsonObject
    if (isCutBefore(existing, manifest)) return { fingerprint, manifestJson: newManifest, ...same }
    // Nobody accepted what it was before, so there is no difference to show.
    if (existing.acceptedBy === NOBODY && !this.#trusted) return { fingerprint, manifestJson: newManifest, ...same }
    return { fingerprint: own, changedFingerprint: fingerprint, changedManifestJson: newManifest }
  }

  /** Somebody may accept it at this moment: then all of it is looked at again. */
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

/** A tool that was never read. */
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

/** Long descriptions were stored only up to this length: the rest of one that is otherwise the same is no change. */
const CUT_BEFORE = 8192

function isCutBefore({ fingerprint, manifestJson }: PinRow, manifest: ToolManifest): boolean {
  const { description } = manifestJson
  if (fingerprint.includes(':') || typeof description !== 'string' || description.length !== CUT_BEFORE) return false
  const isLonger = manifest.description?.startsWith(description) === true
  return isLonger && isSameMeaning({ ...manifest, description }, manifestJson)
}

/** Tools are listed by their ids, in the order in which the server lists them; ids of one moment have none. */
const idsInOrder = (kind: 'tool' | 'pin', count: number): string[] =>
  Array.from({ length: count }, () => newId(kind)).sort()

/** Whether it was noted: a look at a record that was changed meanwhile says nothing of the new one. */
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
