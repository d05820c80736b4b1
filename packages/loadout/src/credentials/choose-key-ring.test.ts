import { existsSync } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { copyPrepared } from '../../../../test/prepare-pglite.ts'
import { createServices } from '../host/create-services.ts'
import { pglite } from '../storage/pglite.ts'
import { keyFileRing } from './key-file.ts'

const ann = { tier: 'user', userId: 'ann' } as const
const WIKI = { name: 'Wiki', url: 'https://a.example/mcp', auth: { type: 'bearer', token: 's3cret' } }

let dataDir: string
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'key-ring-'))
  await copyPrepared(dataDir)
})
afterEach(() => rm(dataDir, { recursive: true, force: true }))

it('a host with its own data folder keeps a private key file there and reuses it at the next start', async () => {
  const first = createServices({ storage: pglite({ dataDir }) })
  const { stored } = await first.toolkits.register(WIKI, ann)
  await first.close()
  const { mode } = await stat(join(dataDir, 'keys.json'))
  if (process.platform !== 'win32') expect(mode & 0o777).toBe(0o600)

  await using again = createServices({ storage: pglite({ dataDir }) })
  const owner = { userId: 'ann', toolkit: stored.uscoId }
  expect(Object.values(await again.credentials.open(owner))).toEqual(['s3cret'])
})

it('a given key ring overrides the key file of the data folder', async () => {
  const elsewhere = join(dataDir, 'elsewhere', 'keys.json')
  await using host = createServices({ storage: pglite({ dataDir }), keyRing: () => keyFileRing(elsewhere) })
  await host.toolkits.register(WIKI, ann)
  expect([existsSync(elsewhere), existsSync(join(dataDir, 'keys.json'))]).toEqual([true, false])
})
