/** What is published works for somebody who installs it: plain JavaScript in node_modules, no TypeScript in sight. */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ROOT } from './run-process.ts'

it('the built library installs and runs', () => {
  const built = spawnSync('npm', ['run', '--silent', 'build'], { cwd: ROOT, encoding: 'utf8' })
  expect(built.status, built.stdout + built.stderr).toBe(0)
  const folder = mkdtempSync(join(tmpdir(), 'loadout-built-'))
  try {
    const modules = join(folder, 'node_modules')
    mkdirSync(modules)
    cpSync(join(ROOT, 'packages/loadout/dist'), join(modules, '@loadout/core'), { recursive: true })
    const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'packages/loadout/package.json'), 'utf8'))
    // What it needs, and the peers of what is used here; a scope is linked as a whole.
    const needed = [...Object.keys(dependencies), 'drizzle-orm', '@electric-sql/pglite'].map(
      (name) => name.split('/')[0],
    )
    for (const dependency of new Set(needed as string[]))
      symlinkSync(join(ROOT, 'node_modules', dependency), join(modules, dependency))
    writeFileSync(
      join(folder, 'use.mjs'),
      `import { createHost, masterKeyRing } from '@loadout/core'
       import { withExecutionContext, wordVectors } from '@loadout/core/node'
       import { pglite } from '@loadout/core/storage/pglite'
       import { storageSuite } from '@loadout/core/testing'
       const key = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64')
       const host = createHost({ storage: pglite(), keyRing: () => masterKeyRing(key), search: { vectors: wordVectors } })
       const ann = host.user('ann')
       await ann.toolkits.add({ name: 'Files', command: 'npx', env: { T: 's' } })
       const [{ id }] = await ann.toolkits.list()
       const { strategy } = await ann.search('files')
       await host.close()
       console.log(id, strategy, storageSuite(() => {}).length > 20, withExecutionContext.length)`,
    )
    const used = spawnSync(process.execPath, ['use.mjs'], { cwd: folder, encoding: 'utf8' })
    expect([used.stdout.trim(), used.stderr]).toEqual(['files hybrid true 2', ''])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
