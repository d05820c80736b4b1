import { it } from 'vitest'
import { FILESYSTEM } from '../../../../test/real-servers.ts'
import { expectRead, runLarge } from '../../test/fixtures/large-run.ts'

it('50 MB of a real server, over stdio and over HTTP, kept in PGlite: a preview under 2 KB, bounded memory, read right', async () => {
  expectRead(await runLarge(FILESYSTEM))
}, 120_000)
