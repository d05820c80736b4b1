/** Converts rows, records and introspection results to catalog tools. */

import type { JsonObject } from '../schema/json.ts'
import type { PinRow, UserServerToolRow } from '../schema/toolkit/catalog.ts'
import type { CustomServer } from '../schema/toolkit/server.ts'
import { type Annotations, functionalManifest, type ToolManifest } from '../schema/toolkit/tool.ts'
import type { StoredToolkit } from '../toolkits/stored-toolkit.ts'
import { fingerprintOf, isSameMeaning, isSameText } from './fingerprint.ts'
import { type ReadManifests, readManifests } from './read-manifests.ts'
import { NOBODY } from './store-catalog.ts'

/** Tools declared in a record that was never introspected. */
export function declaredTools({ uscoId, toolkit }: StoredToolkit): CatalogTool[] {
  return (toolkit.tools ?? []).map((manifest) => ({ uscoId, manifest, pin: '', unaccepted: true }))
}

/** Tools of an ephemeral toolkit. */
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

/** Tools of a custom toolkit, validated like those of a server. */
export function readCustom(server: CustomServer): Promise<ReadManifests> {
  const manifests = server.tools.map(
    ({ execute: _execute, examples: _examples, tools: _tools, hosts: _hosts, ...manifest }) => manifest,
  )
  return readManifests(manifests)
}

/** Compares manifests: `changed` blocks the tool, `minorChange` is only displayed. */
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
  /** Fingerprint of the current manifest. */
  pin: string
  /** Time of acceptance; missing if nothing is stored. */
  pinnedAt?: Date
  /** Reason why the tool is unusable: not listed any more, or invalid. */
  inactive?: string
  /** Accepted and current manifest, if they differ. */
  changed?: { from: JsonObject; to: JsonObject }
  /** Accepted and current manifest that differ only in noise: order, defaults, examples, white space. Not blocked. */
  minorChange?: { from: JsonObject; to: JsonObject }
  /** First seen while its server was not trusted, and not accepted since. */
  unaccepted?: true
  /** Blocked: not accepted, and its server is still not trusted. */
  blocked?: true
}
