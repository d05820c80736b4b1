/**
 * `npm run smoke`: an answer in less than a minute. Lint, types, the unit tests of the pure modules, one real call over stdio
 * and one over HTTP, one page in Chromium.
 */
import { ensureChromium } from './chromium.ts'
import { closingLine, describeFailure, isGood, runTests } from './run-tests.ts'
import { buildWeb, isStale } from './start.ts'
import { fail, stepBeside } from './step.ts'

const LIBRARY = 'packages/loadout/src'
/** Modules without I/O: their tests start no process, no database and no server. */
const PURE = [
  'schema',
  'policy/decide',
  'loadout/overlay',
  'search/rank',
  'audit/chain',
  'toolkits/import',
  'catalog/fingerprint',
]
const REAL = 'test/smoke/smoke.e2e.test.ts'

ensureChromium()
if (isStale()) buildWeb()
await Promise.all([
  stepBeside('lint', 'biome', ['check', '.']),
  stepBeside('types', 'tsc', ['--noEmit']),
  stepBeside('types of the web UI', 'tsc', ['--noEmit', '-p', 'apps/web']),
])
console.log('\n▸ tests')
const run = runTests([...PURE.map((path) => `${LIBRARY}/${path}`), REAL])
for (const test of run.failed) console.log(`\n${describeFailure(test)}`)
console.log(`\n${closingLine(run)}`)
if (!isGood(run)) fail('Tests failed')
