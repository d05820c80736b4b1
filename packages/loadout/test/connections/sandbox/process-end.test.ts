/** A sandbox ends with its connection and with its host, however that ends, and all that runs inside ends with it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { programPath } from '../../../../../test/program-path.ts'
import type { LeftProcess } from '../../../src/connections/stdio/left-processes.ts'
import { openSandboxed, sandboxed } from '../../fixtures/sandboxed-server.ts'

const HOST = programPath(fileURLToPath(new URL('../../fixtures/sandboxed-host-process.ts', import.meta.url)))

/** Command lines on this machine with the mark in them. */
const alive = (mark: string) =>
  readdirSync('/proc').flatMap((name) => {
    try {
      const line = /^\d+$/.test(name) ? readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ') : ''
      return line.includes(mark) && !line.includes('host-process') ? [line] : []
    } catch {
      return []
    }
  })

async function gone(mark: string): Promise<string[]> {
  for (let tries = 0; tries < 100 && alive(mark).length > 0; tries++) await new Promise((done) => setTimeout(done, 20))
  return alive(mark)
}

// A folder for temporary files of its own: other tests have sockets too.
const folder = mkdtempSync(join(tmpdir(), 'loadout-ends-'))
const usual = process.env.TMPDIR
beforeAll(() => {
  chmodSync(folder, 0o777)
  process.env.TMPDIR = folder
})
afterAll(() => {
  if (usual === undefined) delete process.env.TMPDIR
  else process.env.TMPDIR = usual
  rmSync(folder, { recursive: true, force: true })
})

const sockets = () => readdirSync(tmpdir()).filter((name) => name.startsWith('loadout-egress-'))

const newMark = () => `mark-${process.pid}-${Math.round(performance.now() * 1000)}`

it('closing a sandbox ends all processes inside, even detached ones that ignore signals, and reports none as left', async () => {
  const left: LeftProcess[] = []
  const drivers = sandboxed({ onLeftProcesses: (processes) => void left.push(...processes) })
  const mark = newMark()
  const inside = await openSandboxed(drivers)
  await inside.run(
    `require('node:child_process').spawn('/bin/sh', ['-c', 'trap "" TERM HUP INT; while :; do sleep 1; done; : ${mark}'], { detached: true, stdio: 'ignore' }).unref(); process.on('SIGTERM', () => {})`,
  )
  expect(alive(mark).length).toBeGreaterThanOrEqual(1)
  await inside.connection.close()
  expect(await gone(mark)).toEqual([])
  expect(drivers.processes?.()).toBe(0)
  await drivers.close()
  expect(left).toEqual([])
})

// Root takes another number for each sandbox; anybody else is nobody inside and themselves outside.
const hosts = process.getuid?.() === 0 ? [{ uid: 0 }, { uid: 54_321 }] : [{ uid: process.getuid?.() }]

it.each(hosts)('kill -9 of a host that runs as $uid leaves nothing of its sandboxes', async ({ uid }) => {
  const mark = newMark()
  const as = uid === undefined || uid === process.getuid?.() ? {} : { uid, gid: uid }
  const host = spawn(process.execPath, [HOST, mark, 'example.com'], { stdio: ['ignore', 'pipe', 'ignore'], ...as })
  const exited = once(host, 'exit')
  try {
    await once(host.stdout, 'data')
    // A loop that is just about to sleep is there twice.
    expect(alive(mark).length).toBeGreaterThanOrEqual(2)
  } finally {
    host.kill('SIGKILL')
    await exited
  }
  expect(await gone(mark)).toEqual([])
  // What it had open is swept by the next host; what others have open stays.
  const left = sockets()
  expect(left).toHaveLength(1)
  const [living, next] = [sandboxed(), sandboxed()]
  await openSandboxed(living, { hosts: ['example.com'] })
  await openSandboxed(next)
  await next.close()
  expect(sockets()).toHaveLength(1)
  expect(sockets()).not.toEqual(left)
  await living.close()
  expect(sockets()).toEqual([])
})
