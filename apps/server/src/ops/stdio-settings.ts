/** What commands of users may be: the operator's templates from a file, and where their sandbox keeps packages. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { HostError } from '@loadout/core'
import { parse, parseJson, type StdioTemplate, stdioTemplates } from '@loadout/core/schema'

/** The templates of the file, or `config-invalid` with the place in it that is wrong. */
export function readTemplates(path: string | undefined): StdioTemplate[] {
  if (path === undefined) return []
  try {
    return parse(stdioTemplates, parseJson(readFileSync(path, 'utf8')))
  } catch (error) {
    const why = HostError.is(error) ? error.message : 'cannot be read'
    throw new HostError('config-invalid', {
      detail: `LOADOUT_STDIO_TEMPLATES names a file that is not right: ${path}: ${why.replace(/\s+/g, ' ')}`,
      cause: error,
    })
  }
}

/** In a sandbox of a root host another user runs, who does not get into the data folder. */
export const sandboxDir = (configured: string | undefined, dataDir: string): string =>
  configured ?? (process.getuid?.() === 0 ? '/var/cache/loadout/packages' : join(dataDir, 'packages'))
