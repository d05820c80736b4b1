/**
 * Fingerprints that bind a saved permission to a tool. They change with the meaning of the manifest and with server,
 * auth and overrides of the toolkit, but not with labels, switches, timeouts or rotated secrets. A stored toolkit uses
 * its binding, which never repeats after a change; an inline toolkit uses its definition.
 */

import type { CatalogTool } from '../catalog/catalog.ts'
import { fingerprintOf, oldFingerprintOf } from '../catalog/fingerprint.ts'
import { canonicalJson } from '../schema/json.ts'
import { functionalManifest } from '../schema/toolkit/tool.ts'
import { bindingText, publicValues } from '../toolkits/binding.ts'
import type { StoredToolkit } from '../toolkits/stored-toolkit.ts'
import { sha256Hex } from '../util/hash.ts'

export interface Fingerprints {
  tool: string
  toolkit: string
}

export interface Fingerprinter {
  compute(stored: StoredToolkit, found: CatalogTool): Promise<Fingerprints>
  /** Whether `fingerprint` matches this tool as it is now. */
  matches(fingerprint: string, stored: StoredToolkit, found: CatalogTool): Promise<boolean>
  toolkit(stored: StoredToolkit): Promise<string>
}

export function createFingerprinter(): Fingerprinter {
  // The read cache replaces a changed toolkit, so the object is a valid cache key.
  const toolkits = new WeakMap<StoredToolkit, Promise<string>>()
  const toolkitOf = (stored: StoredToolkit): Promise<string> => {
    const cached = toolkits.get(stored)
    if (cached) return cached
    const hash = sha256Hex(textOf(stored))
    toolkits.set(stored, hash)
    return hash
  }
  return {
    toolkit: toolkitOf,
    async compute(stored, found) {
      const toolkit = await toolkitOf(stored)
      return { toolkit, tool: await toolOf(toolkit, found) }
    },
    async matches(fingerprint, stored, found) {
      const toolkit = await toolkitOf(stored)
      return fingerprint === (await (fingerprint.startsWith(VERSION) ? toolOf : oldToolOf)(toolkit, found))
    },
  }
}

/** Permissions of the previous version are bound to every byte of a manifest. */
const VERSION = '2:'

const toolOf = async (toolkit: string, { pin, manifest }: CatalogTool) =>
  `${VERSION}${await sha256Hex(canonicalJson([toolkit, pin === '', await fingerprintOf(manifest)]))}`

const oldToolOf = async (toolkit: string, { pin, manifest }: CatalogTool) =>
  sha256Hex(canonicalJson([toolkit, pin === '' ? '' : await oldFingerprintOf(manifest), functionalManifest(manifest)]))

function textOf({ toolkit, row, ephemeral }: StoredToolkit): string {
  if (row.binding !== '') return row.binding
  const { server, overrides } = toolkit
  return canonicalJson([bindingText(server, overrides), publicValues(ephemeral?.secrets() ?? {})])
}
