/** `npm test`: everything that must hold, in one command. Ends with one line that counts the tests. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureBubblewrap } from './bubblewrap.ts'
import { ensureChromium } from './chromium.ts'
import { buildWeb, isStale } from './start.ts'

const folder = mkdtempSync(join(tmpdir(), 'loadout-test-'))
const report = join(folder, 'report.json')

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
const { status } = spawnSync(
  'vitest',
  ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`],
  { stdio: 'inherit' },
)
const { numPassedTests, numFailedTests, numTotalTests, success } = JSON.parse(readFileSync(report, 'utf8'))
rmSync(folder, { recursive: true, force: true })
console.log(`\nTests: ${numPassedTests} passed, ${numFailedTests} failed`)
if (numTotalTests === 0) fail('No test ran')
// What the tests start may have its own idea of how a process ends.
if (!success || numFailedTests > 0) fail('Tests failed')
process.exit(status ?? 1)
