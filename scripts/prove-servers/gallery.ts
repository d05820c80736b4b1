/** The gallery as this proof uses it: how each published server is installed and started. */
import { readFileSync } from 'node:fs'

export interface GalleryServer {
  id: string
  title: string
  description: string
  /** `module` is the Go package of a binary that `go install` builds. */
  package: { type: 'npm' | 'pypi' | 'binary'; name: string; version?: string; module?: string }
  args?: string[]
  env?: Array<{ name: string; title: string; secret: boolean }>
  /** Values and files with which it starts here, and calls that need no network. */
  prove?: {
    values?: Record<string, string>
    env?: Record<string, string>
    files?: Record<string, string>
    calls?: Array<{ tool: string; arguments: Record<string, unknown> }>
  }
}

const FILE = new URL('../../apps/server/src/gallery/gallery.json', import.meta.url)

export const readGallery = (): GalleryServer[] => JSON.parse(readFileSync(FILE, 'utf8')).servers

/** `{{name}}` is a value of the user; `{{folder}}` is a folder of this run. */
export const filled = (text: string, values: Record<string, string>): string =>
  text.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const value = values[name]
    if (value === undefined) throw new Error(`Gallery value missing: \`${name}\`. Add it to "prove.values".`)
    return value
  })
