/**
 * What a remembered answer was given for. It changes with the tool's manifest and with the toolkit's server, auth and
 * overrides; not with a label, a switch, a timeout, or a secret that was rotated: secrets are placeholders here, and the
 * numbers in them do not count.
 */
import type { CatalogTool } from '../catalog/catalog.ts'
import { canonicalJson } from '../schema/json.ts'
import type { StoredToolkit } from '../toolkits/stored-toolkit.ts'

export interface Fingerprints {
  tool: string
  toolkit: string
}

export interface Fingerprinter {
  of(stored: StoredToolkit, found: CatalogTool): Promise<Fingerprints>
}

export function createFingerprinter(): Fingerprinter {
  // A stored toolkit is replaced in the cache when anything of it changes, so its fingerprint holds as long as it does.
  const toolkits = new WeakMap<StoredToolkit, Promise<string>>()
  const toolkitOf = (stored: StoredToolkit): Promise<string> => {
    const known = toolkits.get(stored)
    if (known) return known
    const { server, overrides } = stored.toolkit
    const made = hashOf(canonicalJson({ server, overrides }).replace(/\$\{secret:(args|url)\.\d+\}/g, '${secret:$1}'))
    toolkits.set(stored, made)
    return made
  }
  return {
    async of(stored, found) {
      const toolkit = await toolkitOf(stored)
      return { toolkit, tool: await hashOf(canonicalJson([toolkit, found.pin, found.manifest])) }
    },
  }
}

async function hashOf(text: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
  return [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
