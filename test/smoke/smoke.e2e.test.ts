/** The shortest proof that the product works: a call over stdio, a call over HTTP, and the page that shows both servers. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type OpenApp, openApp } from '../../apps/web/test/open-app.ts'
import { FILESYSTEM, type RunningServer, startHttpServer } from '../real-servers.ts'

describe('the server', () => {
  let app: OpenApp
  let remote: RunningServer
  let folder: string
  const post = async (path: string, body: object) => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    const response = await fetch(app.url + path, init)
    return { status: response.status, body: await response.json() }
  }

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'loadout-smoke-'))
    await writeFile(join(folder, 'note.txt'), 'from a file')
    remote = await startHttpServer('modern')
    app = await openApp()
  })
  afterAll(async () => {
    await app[Symbol.asyncDispose]()
    await remote.close()
    await rm(folder, { recursive: true, force: true })
  })

  it('calls a tool of a server over stdio', async () => {
    await post('/api/mcp', { name: 'Files', command: process.execPath, args: [FILESYSTEM, folder] })
    const path = join(folder, 'note.txt')
    const { status, body } = await post('/api/tools/files/read_text_file/call', { arguments: { path } })
    expect([status, body.content]).toEqual([200, [{ type: 'text', text: 'from a file' }]])
  })

  it('calls a tool of a server over HTTP', async () => {
    await post('/api/mcp', { name: 'Remote', url: remote.url })
    const { status, body } = await post('/api/tools/remote/echo/call', { arguments: { text: 'hello' } })
    expect([status, body.content]).toEqual([200, [{ type: 'text', text: 'hello' }]])
  })

  it('shows both servers on its page', async () => {
    const page = await app.open()
    for (const name of ['Files', 'Remote']) await page.getByRole('heading', { name, exact: true }).waitFor()
    await page.context().close()
  })
})
