/** Tools as the catalog has them, from wherever they come: a row, a record, a look. */

import type { JsonObject } from '../schema/json.ts'
import type { PinRow, UserServerToolRow } from '../schema/toolkit/catalog.ts'
import type { CustomServer } from '../schema/toolkit/server.ts'
import { type Annotations, functionalManifest, type ToolManifest } from '../schema/toolkit/tool.ts'
import type { StoredToolkit } from '../toolkits/stored-toolkit.ts'
import { fingerprintOf, isSameMeaning, isSameText } from './fingerprint.ts'
import { type ReadManifests, readManifests } from './read-manifests.ts'
import { NOBODY } from './store-catalog.ts'

/** What a record brought along, for one that was never looked at: nobody saw it at the server. */
export function declaredTools({ uscoId, toolkit }: StoredToolkit): CatalogTool[] {
  return (toolkit.tools ?? []).map((manifest) => ({ uscoId, manifest, pin: '', unaccepted: true }))
}

/** What was found of a toolkit that is not stored: seen for the first time, each time. */
export async function toolsOf(
  { uscoId }: StoredToolkit,
  { manifests, setAside }: ReadManifests,
): Promise<CatalogTool[]> {
  const found = await Promise.all(
    manifests.map(async (manifest) => ({ uscoId, manifest, pin: await fingerprintOf(manifest) })),
  )
  const bad = setAside.map(({ name, reason }) => ({
    uscoId,
    manifest: { name, inputSchema: { type: 'object' } },
    pin: '',
    inactive: reason,
  }))
  return [...found, ...bad]
}

/** A custom toolkit's tools are in its own definition; they pass the same checks. */
export function readCustom(server: CustomServer): Promise<ReadManifests> {
  const manifests = server.tools.map(
    ({ execute: _execute, examples: _examples, tools: _tools, hosts: _hosts, ...manifest }) => manifest,
  )
  return readManifests(manifests)
}

/** What changed since a tool was accepted: a meaning, which blocks it, or noise, which is shown. */
export function changeOf(
  from: JsonObject,
  now: ToolManifest | JsonObject,
): Pick<CatalogTool, 'changed' | 'minorChange'> {
  const to = now as JsonObject
  if (isSameText(from, to)) return {}
  return isSameMeaning(from, to) ? { minorChange: { from, to } } : { changed: { from, to } }
}

function pinnedChange(row: UserServerToolRow, pin: PinRow, manifest: ToolManifest) {
  const { manifestJson, changedManifestJson, acceptedBy } = pin
  if (changedManifestJson) return changeOf(manifestJson, changedManifestJson)
  const { minorChange } =
    row.isActive && acceptedBy !== NOBODY ? changeOf(manifestJson, functionalManifest(manifest)) : {}
  return minorChange ? { minorChange } : {}
}

export function toTool(row: UserServerToolRow, pin: PinRow | undefined): CatalogTool {
  const manifest: ToolManifest = {
    name: row.name,
    ...(row.title === null ? {} : { title: row.title }),
    ...(row.description === null ? {} : { description: row.description }),
    inputSchema: row.inputSchemaJson,
    ...(row.outputSchemaJson === null ? {} : { outputSchema: row.outputSchemaJson }),
    ...(row.annotationsJson === null ? {} : { annotations: row.annotationsJson as Annotations }),
    ...(row.iconsJson ? { icons: row.iconsJson } : {}),
    ...(row.metaJson ? { _meta: row.metaJson } : {}),
  }
  return {
    uscoId: row.uscoId,
    manifest,
    pin: row.fingerprint,
    ...(pin ? { pinnedAt: pin.acceptedAt } : {}),
    ...(row.isActive ? {} : { inactive: row.reason ?? 'the server no longer lists it' }),
    ...(pin ? pinnedChange(row, pin, manifest) : {}),
    ...(pin?.acceptedBy === NOBODY ? { unaccepted: true as const } : {}),
  }
}

/** A tool as the catalog has it. */
export interface CatalogTool {
  uscoId: string
  manifest: ToolManifest
  /** The fingerprint of what the server says now. */
  pin: string
  /** Since when it is accepted as it is; none where nothing of it is stored. */
  pinnedAt?: Date
  /** Not usable: the server no longer lists it, or it was set aside. */
  inactive?: string
  /** It differs from what was accepted. */
  changed?: { from: JsonObject; to: JsonObject }
  /** It differs from what was accepted in nothing but noise: order, defaults, examples, white space. It is not blocked. */
  minorChange?: { from: JsonObject; to: JsonObject }
  /** First seen while its server was not trusted, and accepted by nobody since. */
  unaccepted?: true
  /** Off: the same, and its server is not trusted now either. */
  blocked?: true
}
