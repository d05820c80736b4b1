/** Packages of strangers take no more of the disk than the operator gives them, and none that runs is taken away. */
import { execFileSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { INLINE_SERVER } from '../../../../test/fixtures/inline-server.ts'
import { openSandboxed, sandboxed } from '../../../../test/fixtures/sandboxed-server.ts'

const MIB = 1024 * 1024
/** Packages by what they take. */
const SIZES: Record<string, number> = { one: 2 * MIB, two: 2 * MIB, three: 2 * MIB, huge: 40 * MIB }
let folder: string
let registry: Server

function pack(name: string, bytes: number): Buffer {
  const dir = join(folder, name)
  mkdirSync(join(dir, 'package'), { recursive: true })
  writeFileSync(join(dir, 'package', 'package.json'), JSON.stringify({ name, version: '1.0.0', bin: './main.js' }))
  writeFileSync(join(dir, 'package', 'main.js'), `#!/usr/bin/env node\n${INLINE_SERVER}`)
  // What is packed small and is large on the disk.
  writeFileSync(
    join(dir, 'package', 'data'),
    name === 'huge' ? Buffer.alloc(bytes, randomBytes(4096)) : randomBytes(bytes),
  )
  execFileSync('tar', ['-czf', join(dir, 'package.tgz'), '-C', dir, 'package'])
  return readFileSync(join(dir, 'package.tgz'))
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'loadout-room-'))
  const files = new Map(Object.entries(SIZES).map(([name, bytes]) => [name, pack(name, bytes)]))
  registry = createServer((request, response) => {
    const [, name = '', isFile] = /^\/([a-z]+)(\/file\.tgz)?$/.exec(request.url ?? '') ?? []
    const data = files.get(name)
    if (!data) return response.writeHead(404).end('{}')
    if (isFile) return response.end(data)
    const integrity = `sha512-${createHash('sha512').update(data).digest('base64')}`
    const version = {
      name,
      version: '1.0.0',
      bin: './main.js',
      dist: { tarball: `${url()}/${name}/file.tgz`, integrity },
    }
    const body = { name, 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': version } }
    return response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve))
})
afterAll(() => {
  registry.close()
  rmSync(folder, { recursive: true, force: true })
})
const url = () => `http://127.0.0.1:${(registry.address() as { port: number }).port}`

function room(packageBytes: number, packagesBytes: number) {
  const dir = mkdtempSync(join(tmpdir(), 'loadout-kept-'))
  const drivers = sandboxed({
    sandbox: { npmRegistry: url(), dir: join(dir, 'packages'), packageBytes, packagesBytes },
  })
  // Whoever runs inside has to get there.
  execFileSync('chmod', ['755', dir])
  return {
    npx: (name: string) => openSandboxed(drivers, { command: 'npx', args: ['-y', name] }),
    packages: () => readdirSync(join(dir, 'packages')),
    leave: (name: string) => mkdirSync(join(dir, 'packages', name), { recursive: true }),
    /** As if nobody had used what is there for a day. */
    async age() {
      const before = Date.now() / 1000 - 86_400
      for (const name of readdirSync(join(dir, 'packages'))) utimesSync(join(dir, 'packages', name), before, before)
    },
    async close() {
      await drivers.close()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

describe('the package folder', () => {
  it('rejects a package above the size limit, however small its archive is', async () => {
    const { npx, packages, close } = room(8 * MIB, 100 * MIB)
    await expect(npx('huge')).rejects.toMatchObject({
      code: 'stdio-refused',
      message: expect.stringContaining('larger than a package may be'),
    })
    expect(packages()).toEqual([])
    const inside = await npx('one')
    expect(await inside.run('return 1')).toEqual({ value: 1 })
    await close()
  })

  it('evicts the least recently used packages and none that runs', async () => {
    const { npx, packages, age, close } = room(4 * MIB, 7 * MIB)
    const one = await npx('one')
    const [first = ''] = packages()
    const two = await npx('two')
    await two.connection.close()
    await age()
    const three = await npx('three')
    expect(packages()).toHaveLength(2)
    expect(packages()).toContain(first)
    expect(await one.run(`return require('node:fs').statSync('/packages/node_modules/one/data').size`)).toEqual({
      value: 2 * MIB,
    })
    // Both that are left run.
    await age()
    await expect(npx('two')).rejects.toMatchObject({ code: 'stdio-refused', message: expect.stringContaining('full') })
    await three.connection.close()
    await age()
    expect(await (await npx('two')).run('return 1')).toEqual({ value: 1 })
    expect(packages()).toHaveLength(2)
    await close()
  })

  it('removes leftovers of a killed host and keeps downloads of other hosts', async () => {
    const { npx, packages, age, leave, close } = room(4 * MIB, 100 * MIB)
    leave('new-of-a-dead-host')
    await age()
    leave('new-of-another-host')
    const one = await npx('one')
    expect(packages().filter((name) => name.startsWith('new-'))).toEqual(['new-of-another-host'])
    expect(await one.run('return 1')).toEqual({ value: 1 })
    await close()
  })
})
