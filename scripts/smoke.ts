/**
 * `npm run smoke`: an answer in less than a minute. Lint, types, the unit tests of the pure modules, one real call over stdio
 * and one over HTTP, one page in Chromium.
 */
import { checkCode } from './check-code.ts'
import { ensureChromium } from './chromium.ts'
import { closingLine, describeFailure, isGood, runTests } from './run-tests.ts'
import { buildWeb, isStale } from './start.ts'
import { fail } from './step.ts'

/** Modules without I/O: their tests start no process, no database and no server. */
const PURE = [
  'util',
  'schema',
  'json-schema',
  'policy',
  'search/rank',
  'toolkits/import',
  'loadout/overlay',
  'audit/chain',
].map((path) => `packages/loadout/src/${path}`)
const REAL = 'test/smoke/smoke.e2e.test.ts'

ensureChromium()
if (isStale()) buildWeb()
await checkCode()
console.log('\n▸ tests')
const run = runTests(['--project', 'pure', '--project', 'counted', '--project', 'smoke', ...PURE, REAL])
for (const test of run.failed) console.log(`\n${describeFailure(test)}`)
console.log(`\n${closingLine(run)}`)
if (!isGood(run)) fail('Tests failed')
