/**
 * `npm run prove:runtimes`: installs the packed packages, Bun and Deno in an empty folder, and runs the same suite on Node,
 * Bun and Deno. The suite is `suite.ts`.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packPackages } from '../build/pack.ts'
import { fail } from '../step.ts'

const PACKAGES = ['bun@1', 'deno@2', '@modelcontextprotocol/server-everything', '@electric-sql/pglite', 'drizzle-orm']
const RUNTIMES: Record<string, string[]> = {
  Node: [process.execPath],
  Bun: ['node_modules/.bin/bun', 'run'],
  Deno: ['node_modules/.bin/deno', 'run', '--allow-all'],
}
/** Longer than the suite takes on a busy machine; a runtime that hangs fails. */
const MAX_MS = 600_000

const folder = mkdtempSync(join(tmpdir(), 'loadout-runtimes-'))
const rows: string[] = []
let failed = false
try {
  const tarballs = await packPackages(join(folder, 'tarballs'))
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  const root = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  const { 'quickjs-wasi': quickjs } = { ...root.dependencies, ...root.devDependencies }
  const wanted = [
    ...PACKAGES,
    `quickjs-wasi@${quickjs ?? 'latest'}`,
    tarballs['@loadout/core'],
    tarballs['@loadout/server'],
  ]
  const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error']
  execFileSync('npm', ['install', ...quiet, ...wanted.map(String)], { cwd: folder, stdio: 'inherit' })
  copyFileSync(new URL('suite.ts', import.meta.url), join(folder, 'suite.ts'))
  for (const [name, [command = '', ...args]] of Object.entries(RUNTIMES)) {
    console.log(`\n▸ ${name}`)
    const { status, stdout, stderr } = spawnSync(command, [...args, 'suite.ts', process.execPath], {
      cwd: folder,
      encoding: 'utf8',
      timeout: MAX_MS,
    })
    console.log(stdout.trimEnd())
    const passed = stdout.match(/^✓/gm)?.length ?? 0
    const isWhole = status === 0 && stdout.includes('the host closed')
    if (!isWhole) {
      failed = true
      console.log(stderr.slice(-4000))
    }
    rows.push(`${isWhole ? '✓' : '✗'} ${name.padEnd(5)} ${passed} passed, ${stdout.match(/^✗/gm)?.length ?? 0} failed`)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
console.log(`\n${rows.join('\n')}`)
if (failed) fail('A runtime failed')
