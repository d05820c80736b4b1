import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '@loadout/server/config'
import { afterEach, expect, it } from 'vitest'
import { connect } from './client.ts'
import { followStarts, startLines } from './follow-starts.ts'

const folder = mkdtempSync(join(tmpdir(), 'loadout-follow-'))
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const MUTE = "process.stderr.write('Downloading the server\\n'); setInterval(() => {}, 1000)"

it('writes the phases of a server that starts while a command waits for it', async () => {
  const config = readConfig({ LOADOUT_DATA_DIR: folder, PATH: process.env.PATH })
  await using connection = await connect({ ...config, globalFiles: [] })
  const { client } = connection
  const lines: string[] = []
  await followStarts(
    client,
    (line) => lines.push(line),
    async () => {
      const saving = client.api.mcp.$post({ json: { name: 'mute', command: process.execPath, args: ['-e', MUTE] } })
      await expect
        .poll(() => lines, { timeout: 20_000 })
        .toEqual(['mute: starting', 'mute: installing (Downloading the server)'])
      await client.api.mcp[':id'].cancel.$post({ param: { id: 'mute' } })
      await saving
    },
  )
})

it('writes nothing of other events, and no line twice', () => {
  const lines: string[] = []
  const tell = startLines((line) => lines.push(line))
  const state = (fields: object) => ({
    id: undefined,
    event: 'state-changed',
    data: JSON.stringify({ toolkit: 'kit', state: fields }),
  })
  tell({ id: undefined, event: 'catalog-changed', data: '{}' })
  tell(state({ status: 'connecting' }))
  for (let i = 0; i < 2; i++) tell(state({ status: 'connecting', phase: 'probing' }))
  tell(state({ status: 'connected' }))
  expect(lines).toEqual(['kit: probing'])
})
