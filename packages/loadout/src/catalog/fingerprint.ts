/** Fingerprints of tool manifests. */
import type { JsonObject } from '../schema/json.ts'
import type { ToolManifest } from '../schema/toolkit/tool.ts'
import { sha256Hex } from '../util/hash.ts'
import { canonical, meaningOf } from './manifest-meaning.ts'

/** Prefix of the current version. Older fingerprints have none and cover every byte of a manifest. */
const VERSION = '2:'

/**
 * Hash of the meaning of a manifest: name, texts, types, required arguments, enum members, hints and schemas. The order
 * of unordered lists, defaults, examples and white space do not matter.
 */
export async function fingerprintOf(manifest: ToolManifest | JsonObject): Promise<string> {
  return `${VERSION}${await sha256Hex(canonical(meaningOf(manifest)))}`
}

/** Fingerprint of a stored manifest; computed again for older versions. */
export async function currentFingerprint(stored: string, manifest: JsonObject): Promise<string> {
  return stored === '' || stored.startsWith(VERSION) ? stored : fingerprintOf(manifest)
}

/** Fingerprint of the previous version, to which old grants are bound. */
export function oldFingerprintOf(manifest: ToolManifest): Promise<string> {
  const { name, title = null, description = null, inputSchema, outputSchema = null, annotations = null } = manifest
  return sha256Hex(canonical([name, title, description, inputSchema, outputSchema, annotations]))
}

/** Whether two manifests differ only in noise. */
export const isSameMeaning = (one: ToolManifest | JsonObject, other: ToolManifest | JsonObject): boolean =>
  canonical(meaningOf(one)) === canonical(meaningOf(other))

/** Whether two manifests are equal except for key order. */
export const isSameText = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other) || canonical(one) === canonical(other)
