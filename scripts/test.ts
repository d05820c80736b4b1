/** `npm test`: everything that must hold, in one command. Ends with one line that counts the tests. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureBubblewrap } from './bubblewrap.ts'
import { ensureChromium } from './chromium.ts'
import { buildWeb, isStale } from './start.ts'
import type { TestReport } from './test-report.ts'

const folder = mkdtempSync(join(tmpdir(), 'loadout-test-'))

function step(name: string, command: string, args: string[]): void {
  console.log(`\n▸ ${name}`)
  const { status } = spawnSync(command, args, { stdio: 'inherit' })
  if (status !== 0) fail(`${name} failed`)
}

function fail(message: string): never {
  console.error(`\n✗ ${message}`)
  rmSync(folder, { recursive: true, force: true })
  process.exit(1)
}

ensureChromium()
ensureBubblewrap()
step('format and lint', 'biome', ['check', '.'])
step('types', 'tsc', ['--noEmit'])
step('types of the web UI', 'tsc', ['--noEmit', '-p', 'apps/web'])
if (isStale()) buildWeb()
console.log('\n▸ tests')
const first = runTests([])
let last = first
// A machine that stops a process for seconds fails a test that waits; a mistake fails as surely when it runs alone.
if (first.errors === 0 && first.failedFiles.length > 0 && first.failedFiles.length <= 3) {
  console.log(`\n▸ once more, alone: ${first.failedFiles.join(', ')}`)
  last = runTests(first.failedFiles)
}
rmSync(folder, { recursive: true, force: true })
console.log(`\nTests: ${first.passed + first.failed.length - last.failed.length} passed, ${last.failed.length} failed`)
for (const name of first.failed) if (!last.failed.includes(name)) console.log(`Passed only alone: ${name}`)
if (first.passed + first.failed.length === 0) fail('No test ran')
// What the tests start may have its own idea of how a process ends.
if (last.status !== 0 || last.failed.length > 0 || last.errors > 0) fail('Tests failed')

function runTests(files: readonly string[]): TestReport & { status: number } {
  const path = join(folder, `report-${files.length}.json`)
  const { status } = spawnSync(
    'vitest',
    ['run', '--reporter=default', '--reporter=./scripts/test-report.ts', ...files],
    {
      stdio: 'inherit',
      env: { ...process.env, LOADOUT_TEST_REPORT: path },
    },
  )
  if (!existsSync(path)) fail('The tests did not come to their end')
  return { ...(JSON.parse(readFileSync(path, 'utf8')) as TestReport), status: status ?? 1 }
}
