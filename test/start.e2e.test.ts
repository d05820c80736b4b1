/** The README's first command, as a newcomer gives it. `test/command.e2e.test.ts` tests the command line. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { copyPrepared } from './prepare-pglite.ts'
import { start, startSource } from './run-process.ts'
import { list, MAIN, post, serve, urlOf } from './serve-process.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'loadout-start-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe('npm start', () => {
  it('prints a URL, serves the page and health checks, and keeps data after a restart and a kill', async () => {
    const dataDir = join(folder, 'one')
    // The command of the README itself, on a folder that does not exist yet.
    const program = startSource(['scripts/start.ts'], { PORT: '0', LOADOUT_DATA_DIR: dataDir })
    const first = { program, url: await urlOf(program) }
    expect(await (await fetch(`${first.url}/healthz`)).json()).toMatchObject({ status: 'ok' })
    expect((await fetch(`${first.url}/readyz`)).status).toBe(200)
    for (const path of ['/', '/connectors']) {
      const page = await fetch(first.url + path)
      expect(page.headers.get('content-type')).toContain('text/html')
      expect(page.headers.get('content-security-policy')).toContain("script-src 'self'")
      expect(await page.text()).toContain('<div id="root">')
    }
    expect((await post(first.url, JSON.stringify({ name: 'Files', command: '/nowhere/server' }))).status).toBe(201)
    expect(await first.program.end('SIGTERM')).toBe(0)

    const second = await serve(dataDir)
    expect(await list(second.url)).toMatchObject([{ id: 'files' }])
    await post(second.url, JSON.stringify({ name: 'More', command: '/nowhere/server' }))
    expect(await second.program.end('SIGKILL')).toBe('SIGKILL')

    const third = await serve(dataDir)
    expect(await list(third.url)).toHaveLength(2)
    await third.program.end()
  })

  it('survives invalid bodies, and refuses a data folder that another process holds', async () => {
    const dataDir = join(folder, 'held')
    await copyPrepared(dataDir)
    const { program, url } = await serve(dataDir)
    expect((await post(url, JSON.stringify({ name: 'x', command: 'x'.repeat(5_000_000) }))).status).toBe(413)
    expect((await post(url, '{')).status).toBe(400)
    expect((await post(url, '{"__proto__":{"name":"x"},"name":"x","command":"x"}')).status).toBe(422)
    expect((await fetch(`${url}/api/mcp`, { headers: { origin: 'https://evil.example' } })).status).toBe(403)
    expect(await list(url)).toEqual([])
    expect(program.child.exitCode).toBeNull()
    const second = start(MAIN, { PORT: '0', LOADOUT_DATA_DIR: dataDir })
    expect(await second.ended).toBe(1)
    expect(second.stderr()).toMatch(/held by process \d+\. Stop that process/)
    await program.end()
  })

  const bad: Record<string, [env: Record<string, string>, says: RegExp]> = {
    'a bad port': [{ PORT: 'http' }, /^PORT must be a whole number\. Correct the named setting and start again\.\n$/],
    'a weak key': [{ LOADOUT_MASTER_KEY: 'aGVsbG8=' }, /^Key 1 has 5 bytes; 32 are needed\. Make one with/],
    'a data folder that is a file': [
      { LOADOUT_DATA_DIR: '/dev/null' },
      /^LOADOUT_DATA_DIR "\/dev\/null" cannot be written to/,
    ],
    'no database for many users': [{ LOADOUT_MODE: 'multi-user' }, /^DATABASE_URL is needed in multi-user mode\. /],
  }
  for (const [name, [env, says]] of Object.entries(bad))
    it.concurrent(`fails with a one-line error for ${name}`, async ({ expect }) => {
      const program = start(MAIN, { LOADOUT_DATA_DIR: join(folder, 'never'), ...env })
      expect(await program.ended).toBe(1)
      expect(program.stderr()).toMatch(says)
      expect(program.stderr().trim().split('\n')).toHaveLength(1)
    })
})
