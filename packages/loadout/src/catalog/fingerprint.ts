import type { ToolManifest } from '../schema/tool.ts'

/** A tool's identity as it was described: any change of any part of it is another fingerprint. */
export async function fingerprintOf(manifest: ToolManifest): Promise<string> {
  const { name, title = null, description = null, inputSchema, outputSchema = null, annotations = null } = manifest
  const text = canonical([name, title, description, inputSchema, outputSchema, annotations])
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** JSON with sorted keys: a database may give keys back in another order, and that is no change. */
export function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined)
  entries.sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`).join(',')}}`
}
