/**
 * What a server inside sees of this machine: nothing. It runs whatever code the test gives it, as the worst one would. The real
 * bubblewrap is used; where it is missing these tests fail (`npm test` installs it).
 */
import { chmodSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  NO_HOOKS,
  openSandboxed,
  type SandboxedServer,
  sandboxed,
  sandboxedRecord,
} from '../../../test/fixtures/sandboxed-server.ts'
import type { Drivers } from '../drivers.ts'

const CANARY = 'canary-5d1f08'
let drivers: Drivers
let inside: SandboxedServer
let outside: Server
let folder: string
const connections: string[] = []

beforeAll(async () => {
  process.env.LOADOUT_CANARY = CANARY
  folder = mkdtempSync(join(tmpdir(), 'loadout-sandbox-'))
  // Whoever runs inside could use it, if it were there.
  chmodSync(folder, 0o777)
  writeFileSync(join(folder, 'data'), CANARY)
  outside = createServer((socket) => {
    connections.push(socket.remoteAddress ?? '')
    socket.end('reached')
  })
  await new Promise<void>((resolve) => outside.listen(0, '0.0.0.0', resolve))
  drivers = sandboxed()
  inside = await openSandboxed(drivers, { env: { OWN: 'mine' } })
})
afterAll(async () => {
  delete process.env.LOADOUT_CANARY
  await drivers.close()
  outside.close()
  rmSync(folder, { recursive: true, force: true })
})

const port = () => (outside.address() as { port: number }).port
const answerTo = async (code: string) => (await inside.run(code)).value

describe('a sandboxed server', () => {
  it('has no network to the host, its names or a metadata service', async () => {
    const reach = (host: string, at: number) =>
      inside.run(
        `return new Promise((resolve, reject) => { const s = require('node:net').connect({ host: '${host}', port: ${at}, timeout: 3000 }, () => resolve('reached')); s.on('error', reject); s.on('timeout', () => resolve('silence')) })`,
      )
    for (const host of ['127.0.0.1', '0.0.0.0', '::1']) expect((await reach(host, port())).error).toBe('ECONNREFUSED')
    for (const host of ['169.254.169.254', '10.0.0.1', '1.1.1.1'])
      expect((await reach(host, 80)).error).toBe('ENETUNREACH')
    const own = `return require('node:dns').promises.lookup('${hostname()}.')`
    expect((await inside.run(own)).error).toMatch(/^E/)
    expect((await inside.run(`return require('node:dns').promises.lookup('example.com')`)).error).toMatch(/^E/)
    expect((await inside.run(`return require('node:dns').promises.resolve4('example.com')`)).error).toMatch(/^E/)
    expect(await answerTo(`return Object.keys(require('node:os').networkInterfaces())`)).toEqual(['lo'])
    expect(connections).toEqual([])
  })

  it('cannot reach abstract sockets of the host', async () => {
    const name = `loadout-${process.pid}`
    const server = createServer((socket) => socket.end('reached'))
    await new Promise<void>((resolve) => server.listen(`\0${name}`, resolve))
    const outcome = await inside.run(
      `return new Promise((resolve, reject) => { require('node:net').connect('\\0${name}').on('connect', () => resolve('reached')).on('error', reject) })`,
    )
    server.close()
    expect(outcome.error).toBe('ECONNREFUSED')
  })

  it('sees no host files except programs', async () => {
    const list = (path: string) => answerTo(`return require('node:fs').readdirSync('${path}')`)
    const expected = [
      'bin',
      'dev',
      'etc',
      'home',
      'lib',
      'lib32',
      'lib64',
      'libx32',
      'opt',
      'proc',
      'sbin',
      'tmp',
      'usr',
    ]
    expect(((await list('/')) as string[]).filter((name) => !expected.includes(name))).toEqual([])
    expect(await list('/home')).toEqual(['sandbox'])
    expect(await list('/home/sandbox')).toEqual([])
    expect(await list('/tmp')).toEqual([])
    expect(await answerTo(`return require('node:fs').readFileSync('/etc/passwd', 'utf8')`)).toBe(
      'sandbox:x:65534:65534::/home/sandbox:/bin/sh\n',
    )
    const hidden = [
      '/root',
      '/var',
      '/run',
      '/sys',
      '/etc/shadow',
      '/etc/hostname',
      '/etc/resolv.conf',
      '/etc/ssl/private',
    ]
    const files = [process.cwd(), join(folder, 'data'), '/var/run/docker.sock', '/run/docker.sock', '/proc/kcore']
    for (const path of [...hidden, ...files])
      expect([
        path,
        (await inside.run(`return require('node:fs').readFileSync('${path}', 'utf8').length`)).error,
      ]).toEqual([path, expect.stringMatching(/^(ENOENT|EACCES|EPERM)$/)])
  })

  it('sees only its own processes and cannot signal host processes', async () => {
    const pids = (await answerTo(`return require('node:fs').readdirSync('/proc').filter((name) => +name)`)) as string[]
    expect(pids.length).toBeLessThan(5)
    expect((await inside.run(`return process.kill(${process.pid}, 0)`)).error).toBe('ESRCH')
  })

  it('has no host environment, not even in its parent processes', async () => {
    const env = (await answerTo('return process.env')) as Record<string, string>
    expect(Object.keys(env).sort()).toEqual([
      'HOME',
      'LANG',
      'LOGNAME',
      'OWN',
      'PATH',
      'PWD',
      'PYTHONHASHSEED',
      'TMPDIR',
      'USER',
    ])
    const all = await answerTo(
      `const fs = require('node:fs'); return fs.readdirSync('/proc').filter((name) => +name).map((pid) => { try { return fs.readFileSync('/proc/' + pid + '/environ', 'utf8') + fs.readFileSync('/proc/' + pid + '/cmdline', 'utf8') } catch (e) { return e.code } })`,
    )
    expect(JSON.stringify(all)).not.toContain(CANARY)
  })

  it('has no privileges and cannot gain any', async () => {
    const status = (await answerTo(`return require('node:fs').readFileSync('/proc/self/status', 'utf8')`)) as string
    expect(status).toMatch(/^NoNewPrivs:\s1$/m)
    for (const set of ['CapEff', 'CapPrm', 'CapBnd', 'CapAmb'])
      expect(status).toMatch(new RegExp(`^${set}:\\s0+$`, 'm'))
    expect(await answerTo('return [process.getuid(), process.getgid()]')).toEqual([65534, 65534])
    const shell = (line: string) =>
      inside.run(`return require('node:child_process').spawnSync('/bin/sh', ['-c', ${JSON.stringify(line)}]).status`)
    for (const line of [
      'unshare -Ur true',
      'unshare -m true',
      'mount -t tmpfs none /tmp',
      'chroot /tmp true',
      'nsenter -t 1 -m true',
    ])
      expect([line, (await shell(line)).value]).not.toEqual([line, 0])
  })

  it('can write only to its home and /tmp, which are deleted with it', async () => {
    for (const path of ['/x', '/usr/x', '/etc/x', '/dev/x', '/opt/loadout/bin/x', '/proc/sys/kernel/hostname'])
      expect([path, (await inside.run(`require('node:fs').writeFileSync('${path}', 'x')`)).error]).toEqual([
        path,
        expect.stringMatching(/^(EROFS|EACCES|EPERM|ENOENT)$/),
      ])
    for (const path of ['/tmp/x', '/home/sandbox/x'])
      expect(await inside.run(`require('node:fs').writeFileSync('${path}', '1')`)).toEqual({ value: null })
    const other = await openSandboxed(drivers)
    expect(await other.run(`return require('node:fs').existsSync('/tmp/x')`)).toEqual({ value: false })
    await other.connection.close()
  })
})

describe('a sandbox record', () => {
  it('may use a working directory below its home and no other', async () => {
    const there = await openSandboxed(drivers, { cwd: 'notes/deep' })
    expect(await there.run('return process.cwd()')).toEqual({ value: '/home/sandbox/notes/deep' })
    await there.connection.close()
    for (const cwd of ['/', '/root', '/etc', '../..', '/home/sandbox/../../etc', '/home/sandboxes', '/tmp/../usr'])
      await expect(openSandboxed(drivers, { cwd })).rejects.toMatchObject({ code: 'stdio-refused' })
  })

  it('may run a machine program by name or the host Node by path and no other file', async () => {
    const same = await openSandboxed(drivers, { command: process.execPath })
    expect(await same.run('return process.version')).toEqual({ value: process.version })
    await same.connection.close()
    for (const command of [
      '/root/x',
      './x',
      '../usr/bin/node',
      '/usr/../root/x',
      '/home/sandbox/../../root/x',
      '/proc/1/exe',
    ])
      await expect(openSandboxed(drivers, { command })).rejects.toMatchObject({ code: 'stdio-refused' })
    await expect(openSandboxed(drivers, { command: 'no-such-program' })).rejects.toMatchObject({
      code: 'server-crashed',
    })
  })

  it('sets environment variables that apply only inside the sandbox', async () => {
    // The loader of whatever starts with this writes what it does to that file.
    const env = { LD_DEBUG: 'libs', LD_DEBUG_OUTPUT: join(folder, 'loaded'), LD_PRELOAD: join(folder, 'x.so') }
    const other = await openSandboxed(drivers, { env })
    expect((await other.run('return process.env.LD_PRELOAD')).value).toBe(env.LD_PRELOAD)
    expect(readdirSync(folder).filter((name) => name.startsWith('loaded'))).toEqual([])
    await other.connection.close()
  })
})

describe('an unavailable sandbox', () => {
  it('prevents the start and reports how to install bubblewrap', async () => {
    const marker = join(folder, 'ran')
    const without = sandboxed({ sandbox: { bwrap: join(folder, 'no-bwrap') } })
    const record = sandboxedRecord({ args: ['-e', `require('node:fs').writeFileSync('${marker}', '')`] })
    for (let tries = 0; tries < 2; tries++)
      await expect(without.open({ server: record, connectMs: 5000 }, NO_HOOKS, 'user')).rejects.toMatchObject({
        code: 'stdio-refused',
        action: expect.stringMatching(/apt-get install bubblewrap.*dnf install bubblewrap.*apk add bubblewrap/),
      })
    await without.close()
  })

  it('is checked again at the next start', async () => {
    const later = join(folder, 'later-bwrap')
    const drivers = sandboxed({ sandbox: { bwrap: later } })
    await expect(openSandboxed(drivers)).rejects.toMatchObject({ code: 'stdio-refused' })
    expect(await drivers.warnings?.()).toEqual([expect.stringContaining('bubblewrap')])
    symlinkSync('/usr/bin/bwrap', later)
    const there = await openSandboxed(drivers)
    expect(await there.run('return 1')).toEqual({ value: 1 })
    await drivers.close()
  })

  it('is also reported if bubblewrap cannot create namespaces', async () => {
    const broken = join(folder, 'broken-bwrap')
    writeFileSync(broken, '#!/bin/sh\necho "bwrap: No permissions to create new namespace" >&2\nexit 1\n', {
      mode: 0o755,
    })
    const without = sandboxed({ sandbox: { bwrap: broken } })
    await expect(openSandboxed(without)).rejects.toMatchObject({
      code: 'stdio-refused',
      message: expect.stringContaining('No permissions to create new namespace'),
      action: expect.stringContaining('user.max_user_namespaces'),
    })
    await without.close()
  })
})
