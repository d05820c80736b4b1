/** Packages are fetched before entry, without running anything of theirs, from the registry alone; then there is none. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { INLINE_SERVER } from '../../../../test/fixtures/inline-server.ts'
import { openSandboxed, sandboxed } from '../../../../test/fixtures/sandboxed-server.ts'
import type { Drivers } from '../../drivers.ts'
import { readPackageRun } from './package-run.ts'

let folder: string
let registry: Server
let drivers: Drivers
const requests: string[] = []

/** A package with a program, and with a script that tells of itself where it runs. */
function pack(version: string): Buffer {
  const dir = join(folder, `package-${version}`)
  mkdirSync(join(dir, 'package'), { recursive: true })
  const canary = join(folder, 'script-ran')
  const manifest = {
    name: '@acme/server',
    version,
    bin: { server: './main.js' },
    scripts: {
      preinstall: `touch ${canary}`,
      install: `touch ${canary}`,
      postinstall: `touch ${canary}; touch /packages/ran`,
    },
  }
  writeFileSync(join(dir, 'package', 'package.json'), JSON.stringify(manifest))
  writeFileSync(
    join(dir, 'package', 'main.js'),
    `#!/usr/bin/env node\nprocess.env.VERSION = '${version}'\n${INLINE_SERVER}`,
  )
  execFileSync('tar', ['-czf', join(dir, 'package.tgz'), '-C', dir, 'package'])
  return readFileSync(join(dir, 'package.tgz'))
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'loadout-registry-'))
  const files = new Map(['1.0.0', '1.1.0'].map((version) => [version, pack(version)]))
  registry = createServer((request, response) => {
    requests.push(request.url ?? '')
    const [, version] = /server-([\d.]+)\.tgz$/.exec(request.url ?? '') ?? []
    if (version) return response.end(files.get(version))
    if (decodeURIComponent(request.url ?? '') !== '/@acme/server') return response.writeHead(404).end('{}')
    const versions = [...files].map(([of, data]) => {
      const integrity = `sha512-${createHash('sha512').update(data).digest('base64')}`
      const dist = { tarball: `${url()}/@acme/server/-/server-${of}.tgz`, integrity }
      return [of, { name: '@acme/server', version: of, bin: { server: './main.js' }, dist, hasInstallScript: true }]
    })
    const body = { name: '@acme/server', 'dist-tags': { latest: '1.1.0' }, versions: Object.fromEntries(versions) }
    return response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve))
  drivers = sandboxed({ sandbox: { npmRegistry: url(), dir: join(folder, '..', `loadout-kept-${process.pid}`) } })
})
afterAll(async () => {
  await drivers.close()
  registry.close()
  rmSync(folder, { recursive: true, force: true })
  rmSync(packageDir(), { recursive: true, force: true })
})
const url = () => `http://127.0.0.1:${(registry.address() as { port: number }).port}`
const packageDir = () => join(tmpdir(), `loadout-kept-${process.pid}`)
const npx = (...args: string[]) => openSandboxed(drivers, { command: 'npx', args })

describe('a sandboxed package', () => {
  it('is installed without scripts and runs read-only without network', async () => {
    const inside = await npx('-y', '@acme/server@1.0.0')
    expect(await inside.run('return process.env.VERSION')).toEqual({ value: '1.0.0' })
    expect(await inside.run(`return require('node:fs').existsSync('/packages/ran')`)).toEqual({ value: false })
    expect((await inside.run(`require('node:fs').writeFileSync('/packages/node_modules/x', '')`)).error).toBe('EROFS')
    expect((await inside.run(`return (await fetch('${url()}')).status`)).error).toBeDefined()
    expect(await inside.run(`return Object.keys(process.env).filter((name) => /npm/i.test(name))`)).toEqual({
      value: [],
    })
    await inside.connection.close()
    expect(existsSync(join(folder, 'script-ran'))).toBe(false)
  })

  it('is fetched once for concurrent requests and keeps its version', async () => {
    const before = requests.length
    const all = await Promise.all([npx('@acme/server'), npx('@acme/server'), npx('-y', '-p', '@acme/server', 'server')])
    expect(requests.slice(before).filter((path) => path.endsWith('.tgz'))).toEqual(['/@acme/server/-/server-1.1.0.tgz'])
    for (const inside of all) {
      expect(await inside.run('return process.env.VERSION')).toEqual({ value: '1.1.0' })
      await inside.connection.close()
    }
    expect(readdirSync(packageDir()).filter((name) => name.startsWith('new-'))).toEqual([])
    expect(readdirSync(packageDir())).toHaveLength(2)
  })

  it('that does not exist is reported and leaves nothing behind', async () => {
    await expect(npx('@acme/missing')).rejects.toMatchObject({
      code: 'spawn-failed',
      message: expect.stringMatching(/@acme\/missing/),
    })
    expect(readdirSync(packageDir())).toHaveLength(2)
  })

  it('of Python is rejected without uv', async () => {
    const uv = ['/usr/bin/uv', '/usr/local/bin/uv'].some((path) => existsSync(path))
    const refusal = { code: uv ? 'spawn-failed' : 'stdio-refused' }
    await expect(openSandboxed(drivers, { command: 'uvx', args: ['loadout-no-such-package'] })).rejects.toMatchObject(
      refusal,
    )
  })
})

describe('a package command line', () => {
  const read = (command: string, ...args: string[]) => readPackageRun({ command, args, env: {} })
  it.each<[string[], object | undefined]>([
    [['npx', '-y', 'a@1.2.3', '--port', '1'], { from: 'npm', spec: 'a@1.2.3', args: ['--port', '1'] }],
    [['npx', '@a/b'], { spec: '@a/b', name: '@a/b', program: undefined }],
    [['npx', '--package=@a/b@^1.0.0', '--', 'run', '-x'], { spec: '@a/b@^1.0.0', program: 'run', args: ['-x'] }],
    [['npm', 'exec', '--yes', 'a', '--', 'x'], { spec: 'a', args: ['--', 'x'] }],
    [['/usr/bin/npx', 'a'], { spec: 'a' }],
    [['uvx', 'a@1.0'], { from: 'pypi', spec: 'a==1.0', program: 'a' }],
    [['uvx', '--from', 'a[x]==2', 'b'], { spec: 'a[x]==2', program: 'b' }],
    [['uv', 'tool', 'run', 'a@latest'], { spec: 'a' }],
    [['node', 'x'], undefined],
    [['npm', 'run', 'x'], undefined],
  ])('reads %j', ([command = '', ...args], expected) => {
    const run = read(command, ...args)
    if (expected === undefined) expect(run).toBeUndefined()
    else expect(run).toMatchObject(expected)
  })

  it.each<string[][]>([
    [['npx', '-c', 'touch /tmp/x']],
    [['npx', '--call', 'touch /tmp/x']],
    [['npx', '--call=touch /tmp/x']],
    [['npx', '-y', '-c', 'x', 'a']],
    [['npx', '-p', 'a', '-p', 'b', 'x']],
    [['npx', '-p', 'a', '/bin/sh']],
    [['npx', '-p', 'a', '../../x']],
    [['npx', '--node-options=--require=/x', 'a']],
    [['npx', '--registry=http://evil.test', 'a']],
    [['npx', '--prefix', '/x', 'a']],
    [['npx', 'git+https://evil.test/x.git']],
    [['npx', 'https://evil.test/x.tgz']],
    [['npx', 'file:/etc']],
    [['npx', './x']],
    [['npx', '/x']],
    [['npx', '../x']],
    [['npx', 'github:evil/x']],
    [['npx', 'evil/x']],
    [['npx', 'a@npm:b']],
    [['npx', 'a@file:/x']],
    [['npx', 'a b']],
    [['npx', '--', '-c']],
    [['npx']],
    [['npm', 'exec', '-c', 'x']],
    [['uvx', '--with', 'evil', 'a']],
    [['uvx', '--index-url', 'http://evil.test', 'a']],
    [['uvx', 'git+https://evil.test/x']],
    [['uvx', '--from', 'git+https://evil.test/x', 'a']],
    [['uvx', '--python', '/x', 'a']],
  ])('rejects %j', ([command = '', ...args]) => {
    expect(() => read(command, ...args)).toThrow(expect.objectContaining({ code: 'stdio-refused' }))
  })
})
