/** Where a program runs from: the bundle that the global set-up has made (`programs.ts`), or else its source file. */
import { existsSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('..', import.meta.url))

export function programPath(source: string): string {
  const folder = process.env.LOADOUT_TEST_PROGRAMS
  if (folder === undefined) return source
  const bundle = join(folder, relative(ROOT, resolve(ROOT, source))).replace(/\.ts$/, '.mjs')
  return existsSync(bundle) ? bundle : source
}
