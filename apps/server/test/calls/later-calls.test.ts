/** A call that was waited for is there later: after a restart, and with what was too large for its record. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineTool, masterKeyRing, rule } from '@loadout/core'
import { createServices } from '@loadout/core/services'
import { pglite } from '@loadout/core/storage/pglite'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { copyPrepared } from '../../../../test/prepare-pglite.ts'
import { createApp } from '../../src/http/app.ts'

const KEY = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64')
let dataDir: string
beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'loadout-later-'))
  await copyPrepared(dataDir)
})
afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

async function open() {
  const image = { type: 'image', mimeType: 'image/png', data: 'a'.repeat(2_000_000) }
  const host = createServices({
    storage: pglite({ dataDir }),
    keyRing: await masterKeyRing(KEY),
    tools: [
      defineTool({ name: 'small', execute: () => 'hello' }),
      defineTool({ name: 'picture', execute: () => ({ content: [image] }) }),
      defineTool({ name: 'wrong', inputSchema: { type: 'object', required: ['to'] }, execute: () => 'x' }),
    ],
    policy: [rule('*', 'allow')],
  })
  await host.ready()
  const app = createApp({ host, authenticate: () => ({ kind: 'session', userId: 'ann' }) })
  const ask = async (path: string, body?: object) => {
    const sent = { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
    const answer = await app.request(path, body === undefined ? {} : sent)
    return { status: answer.status, body: await answer.json() }
  }
  return { host, ask }
}

it('a call returns the same response by its ID after a restart', async () => {
  const first = await open()
  const call = (tool: string) => first.ask(`/api/tools/app/${tool}/call`, { arguments: {} })
  const [small, picture, wrong] = [await call('small'), await call('picture'), await call('wrong')]
  expect([small.status, picture.status, wrong.status]).toEqual([200, 200, 422])
  expect(picture.body.content[0].data).toHaveLength(2_000_000)
  await first.host.close()

  const { host, ask } = await open()
  expect(await ask(`/api/calls/${small.body.callId}`)).toEqual(small)
  const { requestId: _, ...problem } = wrong.body
  expect(await ask(`/api/calls/${wrong.body.callId}`)).toMatchObject({ status: 422, body: problem })
  const later = await ask(`/api/calls/${picture.body.callId}`)
  expect(later).toMatchObject({ status: 200, body: { status: 'ok', resultHandle: expect.any(String) } })
  const part = await ask(`/api/results/${later.body.resultHandle}?limit=100`)
  expect(part.body.characters).toBeGreaterThan(2_000_000)
  await host.close()
})
