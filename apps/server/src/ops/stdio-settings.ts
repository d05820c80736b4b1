/** Stdio settings: template file and sandbox folder. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { HostError } from '@loadout/core'
import { parse, parseJson, type StdioTemplate, stdioTemplates } from '@loadout/core/schema'

/** Reads the template file; throws `config-invalid` with the path of the error. */
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

/** Under root, sandboxes run as another user, who cannot read the data folder. */
export const sandboxDir = (configured: string | undefined, dataDir: string): string =>
  configured ?? (process.getuid?.() === 0 ? '/var/cache/loadout/packages' : join(dataDir, 'packages'))
