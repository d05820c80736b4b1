import type { JsonObject } from '../schema/json.ts'
import type { ToolManifest } from '../schema/toolkit/tool.ts'
import { canonical, meaningOf } from './manifest-meaning.ts'

/** Fingerprints of the version before have no prefix, and changed with every byte of a manifest. */
const VERSION = '2:'

/**
 * A tool's identity by the meaning of its manifest: name, words, types, required arguments, enum members, hints and schemas.
 * The order of a list without order, defaults, examples and white space do not change it.
 */
export async function fingerprintOf(manifest: ToolManifest | JsonObject): Promise<string> {
  return `${VERSION}${await sha256(canonical(meaningOf(manifest)))}`
}

/** The fingerprint of a stored manifest: as it is stored where it is of this version, else computed again. */
export async function currentFingerprint(stored: string, manifest: JsonObject): Promise<string> {
  return stored === '' || stored.startsWith(VERSION) ? stored : fingerprintOf(manifest)
}

/** The fingerprint of the version before, in which grants of that time are bound. */
export function oldFingerprintOf(manifest: ToolManifest): Promise<string> {
  const { name, title = null, description = null, inputSchema, outputSchema = null, annotations = null } = manifest
  return sha256(canonical([name, title, description, inputSchema, outputSchema, annotations]))
}

/** Whether two manifests differ in nothing but noise. */
export const isSameMeaning = (one: ToolManifest | JsonObject, other: ToolManifest | JsonObject): boolean =>
  canonical(meaningOf(one)) === canonical(meaningOf(other))

/** Whether two manifests are the same but for the order of keys. */
export const isSameText = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other) || canonical(one) === canonical(other)

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
