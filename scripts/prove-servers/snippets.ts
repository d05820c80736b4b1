/**
 * `npm run prove:snippets`: imports every config snippet in the READMEs of the gallery's npm servers. Prints how many are read,
 * and each refused one, which must be a script of several commands or invalid JSON.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readImport } from '../../packages/loadout/src/toolkits/import/read-import.ts'
import { readSource } from '../../packages/loadout/src/toolkits/import/read-source.ts'
import { readGallery } from './gallery.ts'

/** At least this share was read when the script was written; a lower one is a regression. */
const MIN_SHARE = 0.9
const FENCE = /^[ \t]*```(\w*)[^\n]*\n([\s\S]*?)^[ \t]*```/gm
const IS_CONFIG = /mcpServers|"servers"|mcp_servers|context_servers|"mcp"|npx|uvx|mcp add/

function readmeOf(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'loadout-readme-'))
  try {
    const packed = spawnSync('npm', ['pack', '--silent', name], { cwd: folder, encoding: 'utf8', timeout: 120_000 })
    const archive = packed.stdout.trim().split('\n').at(-1) ?? ''
    spawnSync('tar', ['xzf', archive, 'package/README.md'], { cwd: folder })
    return readFileSync(join(folder, 'package/README.md'), 'utf8')
  } catch {
    return ''
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

let read = 0
const refused: string[] = []
for (const { package: source } of readGallery()) {
  if (source?.type !== 'npm') continue
  for (const [, , code = ''] of readmeOf(source.name).matchAll(FENCE)) {
    if (!IS_CONFIG.test(code)) continue
    try {
      readImport(await readSource(code))
      read++
    } catch {
      refused.push(
        `${source.name}: ${code
          .trim()
          .replaceAll(/\s*\n\s*/g, ' ⏎ ')
          .slice(0, 160)}`,
      )
    }
  }
}
console.log(`${read} snippets read, ${refused.length} refused:\n${refused.map((line) => `  ${line}`).join('\n')}`)
if (read / (read + refused.length) < MIN_SHARE) process.exitCode = 1
