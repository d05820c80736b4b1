/**
 * Personal catalogs: tools that an app server offers one signed-in user (`cacheScope: private`). They are stored in a
 * row of the user, with what the user accepted, and no other user sees them.
 */
import { z } from 'zod'
import { HostError } from '../errors.ts'
import { newId } from '../schema/ids.ts'
import type { JsonObject } from '../schema/json.ts'
import type { PersonalCatalogRow } from '../schema/toolkit/catalog.ts'
import { functionalManifest, type ToolManifest, toolManifest } from '../schema/toolkit/tool.ts'
import type { ReadCache, Storage } from '../storage/storage.ts'
import type { StoredToolkit } from '../toolkits/stored-toolkit.ts'
import { retryOnConflict } from '../toolkits/toolkit-writer.ts'
import type { CatalogTool } from './catalog-tools.ts'
import { changeOf } from './catalog-tools.ts'
import { fingerprintOf, isSameMeaning } from './fingerprint.ts'
import type { ReadManifests } from './read-manifests.ts'
import { type Acceptance, type CatalogChange, NOBODY } from './store-catalog.ts'

const FIRST_SIGHT = 'first sight'

const personalTool = z.object({
  manifest: toolManifest,
  fingerprint: z.string(),
  /** Reason why it is unusable. */
  inactive: z.string().optional(),
  /** Accepted manifest, with user and time. */
  accepted: z.object({
    fingerprint: z.string(),
    manifest: z.record(z.string(), z.unknown()),
    at: z.number(),
    by: z.string(),
  }),
})
type PersonalTool = z.infer<typeof personalTool>

export interface PersonalCatalogs {
  /** Catalogs of a user by toolkit. */
  list(userId: string): Promise<ReadonlyMap<string, PersonalCatalog>>
  store(stored: StoredToolkit, userId: string, found: ReadManifests & { trusted: boolean }): Promise<CatalogChange>
  accept(stored: StoredToolkit, by: Acceptance): Promise<number>
  /** Deletes the catalog after a sign-out. */
  forget(uscoId: string, userId: string): Promise<void>
}

export interface PersonalCatalog {
  tools: readonly CatalogTool[]
  introspectedAt: Date
  recordAt: Date
}

export function createPersonalCatalogs({ storage, cache }: { storage: Storage; cache: ReadCache }): PersonalCatalogs {
  const change = <T>(
    { uscoId, row: record }: StoredToolkit,
    userId: string,
    next: (tools: Map<string, PersonalTool>) => { tools: Map<string, PersonalTool>; result: T },
  ): Promise<T> =>
    retryOnConflict(() =>
      storage.transaction({ userId }, async (tx) => {
        const [row] = await tx.list('personalCatalogs', { where: { userId, uscoId }, limit: 1 })
        const { tools, result } = next(row ? readTools(row) : new Map())
        const toolsJson = Object.fromEntries(tools) as unknown as JsonObject
        const set = {
          toolsJson,
          introspectedAt: new Date(),
          recordAt: record.updatedAt,
          version: (row?.version ?? 0) + 1,
        }
        if (!row)
          await tx.insert('personalCatalogs', { personalCatalogId: newId('personalCatalog'), userId, uscoId, ...set })
        else if (
          !(await tx.update('personalCatalogs', row.personalCatalogId, { set, where: { version: row.version } }))
        )
          throw new HostError('conflict')
        return result
      }),
    )
  return {
    list: (userId) =>
      cache.read({ userId, name: 'personal catalogs' }, ['personalCatalogs'], () =>
        storage.transaction({ userId }, async (tx) => {
          const rows = await tx.list('personalCatalogs', { where: { userId }, limit: 1000 })
          return new Map(rows.map((row) => [row.uscoId, viewOf(row)]))
        }),
      ),
    async store(stored, userId, found) {
      const prints = await Promise.all(found.manifests.map(fingerprintOf))
      return change(stored, userId, (before) => merge(before, found, prints))
    },
    accept: (stored, by) => change(stored, by.userId, (tools) => accepted(tools, by)),
    async forget(uscoId, userId) {
      await storage.transaction({ userId }, async (tx) => {
        for (const row of await tx.list('personalCatalogs', { where: { userId, uscoId } }))
          await tx.delete('personalCatalogs', row.personalCatalogId)
      })
    },
  }
}

function merge(
  before: ReadonlyMap<string, PersonalTool>,
  { manifests, setAside, trusted }: ReadManifests & { trusted: boolean },
  prints: readonly string[],
): { tools: Map<string, PersonalTool>; result: CatalogChange } {
  const now = Date.now()
  const tools = new Map<string, PersonalTool>()
  for (const [index, manifest] of manifests.entries()) {
    const fingerprint = prints[index] as string
    const acceptedBefore = before.get(manifest.name)?.accepted
    const first = {
      fingerprint,
      manifest: functionalManifest(manifest) as JsonObject,
      at: now,
      by: trusted ? FIRST_SIGHT : NOBODY,
    }
    // Unaccepted and invalid tools follow the server.
    const isFollowed =
      acceptedBefore === undefined || acceptedBefore.fingerprint === '' || (acceptedBefore.by === NOBODY && !trusted)
    const isSame = !isFollowed && isSameMeaning(acceptedBefore.manifest, manifest)
    tools.set(manifest.name, {
      manifest,
      fingerprint,
      accepted: isFollowed ? first : isSame ? { ...acceptedBefore, fingerprint } : acceptedBefore,
    })
  }
  for (const { name, reason } of setAside) tools.set(name, { ...(before.get(name) ?? nothing(name)), inactive: reason })
  // An unlisted tool keeps its pin, because it may return changed.
  for (const [name, tool] of before)
    if (!tools.has(name)) tools.set(name, { ...tool, inactive: 'the server no longer lists it' })
  const active = (catalog: ReadonlyMap<string, PersonalTool>) =>
    new Set([...catalog].filter(([, tool]) => tool.inactive === undefined).map(([name]) => name))
  const old = active(before)
  const fresh = active(tools)
  return {
    tools,
    result: { came: [...fresh].filter((name) => !old.has(name)), went: [...old].filter((name) => !fresh.has(name)) },
  }
}

function accepted(before: ReadonlyMap<string, PersonalTool>, { userId, tool: only, pin }: Acceptance) {
  const tools = new Map(before)
  const open = [...before].filter(
    ([name, tool]) => (only === undefined || name === only) && tool.inactive === undefined && isOpen(tool),
  )
  if (pin !== undefined && open.some(([, tool]) => tool.fingerprint !== pin))
    throw new HostError('tool-changed', {
      detail: 'The tool changed again since it was shown.',
      action: 'Look at the new change first.',
    })
  for (const [name, { manifest, fingerprint, ...tool }] of open) {
    const taken = { fingerprint, manifest: functionalManifest(manifest) as JsonObject, at: Date.now(), by: userId }
    tools.set(name, { ...tool, manifest, fingerprint, accepted: taken })
  }
  return { tools, result: open.length }
}

const isOpen = ({ manifest, accepted: { manifest: acceptedManifest, by } }: PersonalTool) =>
  by === NOBODY || !isSameMeaning(acceptedManifest, manifest)

function nothing(name: string): PersonalTool {
  const manifest: ToolManifest = { name, inputSchema: { type: 'object' } }
  return { manifest, fingerprint: '', accepted: { fingerprint: '', manifest: {}, at: 0, by: NOBODY } }
}

function readTools({ toolsJson }: PersonalCatalogRow): Map<string, PersonalTool> {
  const read = Object.entries(toolsJson).map(([name, value]) => [name, personalTool.safeParse(value).data] as const)
  return new Map(read.filter((one): one is [string, PersonalTool] => one[1] !== undefined))
}

function viewOf(row: PersonalCatalogRow): PersonalCatalog {
  const { uscoId, introspectedAt, recordAt } = row
  const tools = [...readTools(row).values()].map(({ manifest, fingerprint, inactive, accepted: acceptance }) => ({
    uscoId,
    manifest,
    pin: fingerprint,
    pinnedAt: new Date(acceptance.at),
    ...(inactive === undefined ? {} : { inactive }),
    ...(inactive === undefined && acceptance.by !== NOBODY
      ? changeOf(acceptance.manifest, functionalManifest(manifest))
      : {}),
    ...(acceptance.by === NOBODY ? { unaccepted: true as const } : {}),
  }))
  return { tools, introspectedAt, recordAt }
}
