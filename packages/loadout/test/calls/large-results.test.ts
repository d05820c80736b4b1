import { it } from 'vitest'
import { FILESYSTEM } from '../../../../test/real-servers.ts'
import { MEGABYTES } from '../fixtures/large-rows.ts'
import { expectRead, runLarge } from '../fixtures/large-run.ts'

it(`keeps a result of ${MEGABYTES} MB in PGlite and gives the model a preview under 2 KB, over stdio and HTTP`, async () => {
  expectRead(await runLarge(FILESYSTEM))
})
