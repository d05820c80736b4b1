/** `npm test`: format, lint, types and every test with small counts. Ends with a line that counts the tests. */
import { ensureBubblewrap } from './bubblewrap.ts'
import { checkCode } from './check-code.ts'
import { ensureChromium } from './chromium.ts'
import { closingLine, describeFailure, isGood, runTests } from './run-tests.ts'
import { buildWeb, isStale } from './start.ts'
import { fail } from './step.ts'

ensureChromium()
ensureBubblewrap()
await checkCode()
if (isStale()) buildWeb()
console.log('\n▸ tests')
const run = runTests()
for (const test of run.failed) console.log(`\n${describeFailure(test)}`)
console.log(`\n${closingLine(run)}`)
if (run.retried.length > 0) fail(`${run.retried.length} tests passed only after a retry`)
if (!isGood(run)) fail('Tests failed')
