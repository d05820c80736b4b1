/** Six published servers, offline, through Loadout and the official client. `npm run prove:servers` has the whole list. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import { compare } from '../scripts/prove-servers/compare.ts'
import { readGallery } from '../scripts/prove-servers/gallery.ts'
import { install } from '../scripts/prove-servers/install.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const HERE = ['filesystem', 'memory', 'sequential-thinking', 'everything', 'slack', 'git']
const servers = readGallery()
const folder = mkdtempSync(join(tmpdir(), 'loadout-published-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The package that this checkout has stands where the proof would install it. */
function link(id: string, name: string): void {
  const place = join(folder, id, 'node_modules', name)
  mkdirSync(dirname(place), { recursive: true })
  writeFileSync(join(folder, id, 'package.json'), '{ "private": true }')
  symlinkSync(join(ROOT, 'node_modules', name), place)
}

describe('published servers', () => {
  for (const id of HERE)
    it(`${id} lists and answers the same through Loadout and the official client`, async () => {
      const server = servers.find((one) => one.id === id)
      if (!server) throw new Error(`The gallery has no server "${id}".`)
      const { name, version } = server.package
      const pinned = (manifest.devDependencies as Record<string, string>)[name]
      expect(pinned?.replace('^', '')).toBe(version)
      link(id, name)
      const installed = await install(server, folder)
      if (typeof installed === 'string') throw new Error(installed)
      const { loadout, differences } = await compare(installed)
      expect(differences).toEqual([])
      expect(loadout instanceof Error ? 0 : loadout.tools.size).toBeGreaterThan(0)
    })

  it('have a pinned version, a description and a unique id in the gallery', () => {
    expect(new Set(servers.map(({ id }) => id)).size).toBe(servers.length)
    for (const {
      id,
      description,
      package: { type, version },
    } of servers) {
      expect(id).toMatch(/^[a-z0-9-]+$/)
      expect(description).toMatch(/^[A-Z].{10,140}\.$/)
      expect(type === 'binary' || /^\d/.test(version ?? '')).toBe(true)
    }
    expect(servers.filter((one) => one.package.type === 'npm').length).toBeGreaterThanOrEqual(30)
  })
})
