/**
 * Hostile stdio records through every door that a user has, under every policy that is not `on`: nothing runs outside the
 * policy. The marks are files and connections outside; every process that the host starts is counted as the runtime tells
 * of it. That the records do run where they may is the control, without which the rest would prove nothing.
 */

import type { ChildProcess } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createExecutionContext } from '@loadout/core'
import { nodeDrivers } from '@loadout/core/node'
import type { HostServices } from '@loadout/core/services'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Canary, type HostileRecord, hostileRecords, plant, TEMPLATES } from '../support/hostile-stdio.ts'
import { type Ask, multiUserApp } from '../support/multi-user-app.ts'

const AT_ONCE = 12
const TOOL = { name: 'go', inputSchema: { type: 'object' } }
/** Most never answer: the control gives them time to do their worst, and where nothing may run they need none. */
const isFull = process.env.LOADOUT_PROVE === 'full'
const [CONTROL_MS, DEADLINE_MS] = [700, isFull ? 700 : 250]
/** Each record takes every fourth route, another set than the record before; `npm run prove:stdio` takes all of them. */
const EVERY = isFull ? 1 : 4
const timesOf = (ms: number) => ({ timeouts: { introspectMs: ms, connectMs: ms, callMs: ms } })
let times = timesOf(DEADLINE_MS)

let folder: string
let listener: Server
const calls: string[] = []
const spawned: ChildProcess[] = []
const onSpawn = (message: unknown) => void spawned.push((message as { process: ChildProcess }).process)

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'loadout-hostile-'))
  chmodSync(folder, 0o777)
  listener = createServer((socket) => {
    calls.push('called')
    socket.destroy()
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  subscribe('child_process', onSpawn)
})
afterAll(() => {
  unsubscribe('child_process', onSpawn)
  listener.close()
  rmSync(folder, { recursive: true, force: true })
})

function newCanary(name: string): Canary {
  const dir = mkdtempSync(join(folder, `${name}-`))
  chmodSync(dir, 0o777)
  const canary = { dir, mark: join(dir, 'marked'), port: (listener.address() as { port: number }).port }
  plant(canary)
  return canary
}

const marks = ({ dir }: Canary) => readdirSync(dir).filter((name) => /^(marked|loadout-cwd)/.test(name))

/** Everything by which a user can bring a record to a server, with the toolkit that it made where it made one. */
interface Visit {
  ask: Ask
  host: HostServices
  userId: string
  name: string
  record: HostileRecord
}

/** A record that is there already, with its tools, so that nobody has to look at its server first. */
async function stored({ host, userId, name, record }: Visit): Promise<string> {
  const registered = await host.toolkits.register(
    { name, ...record, options: { tools: [TOOL] }, ...times },
    { tier: 'user', userId },
  )
  return registered.stored.toolkit.id
}

const ENTRY_POINTS: Record<string, (visit: Visit) => Promise<unknown>> = {
  'POST /api/mcp': async ({ ask, name, record }) => {
    const { body } = await ask('POST /api/mcp', { name, ...record, ...times })
    if (body.id) await ask(`POST /api/mcp/${body.id}/introspect`)
  },
  'POST /api/mcp, spelled otherwise': async ({ ask, name, record }) => {
    const { body } = await ask('POST /api/mcp', {
      name,
      transport: { type: 'stdio', spec: record },
      scope: 'global',
      ...times,
    })
    if (body.id) await ask(`POST /api/mcp/${body.id}/introspect`)
  },
  'POST /api/mcp/config': async ({ ask, name, record }) => {
    const { body } = await ask('POST /api/mcp/config', { name, config_json: { ...record, ...times } })
    if (body.usco_id) await ask('POST /api/mcp/config/introspect', { uscoId: body.usco_id })
  },
  'PATCH /api/mcp/{id}': async ({ ask, name, record }) => {
    const harmless = { name, tools: [{ ...TOOL, execute: 'return 1' }] }
    const { body } = await ask('POST /api/mcp', harmless)
    const changed = await ask(`PATCH /api/mcp/${body.id}`, { server: { type: 'stdio', ...record }, ...times })
    if (changed.status === 200) await ask(`POST /api/mcp/${body.id}/introspect`)
  },
  'POST /api/mcp/import': async ({ ask, name, record }) => {
    const config = { mcpServers: { [name]: { ...record, ...times } } }
    await ask('POST /api/mcp/import?preview=true', { config })
    const { body } = await ask('POST /api/mcp/import', { config })
    const id = body.entries?.[0]?.id
    if (id) await ask(`POST /api/mcp/${id}/introspect`)
  },
  'POST /api/tools/{toolkit}/{tool}/call': async (visit) => {
    const id = await stored(visit)
    await visit.ask(`POST /api/tools/${id}/go/call`, { arguments: {} })
  },
  'GET /api/mcp/{id}/resources and its kin': async (visit) => {
    const id = await stored(visit)
    // Each would open a line of its own; at once they share one.
    await Promise.all([
      visit.ask(`GET /api/mcp/${id}/resources`),
      visit.ask(`GET /api/mcp/${id}/resources/read?uri=a:b`),
      visit.ask(`GET /api/mcp/${id}/prompts`),
      visit.ask(`POST /api/mcp/${id}/prompts/x`, {}),
      visit.ask(`GET /api/mcp/${id}/skills`),
    ])
  },
  'a thread': async (visit) => {
    const id = await stored(visit)
    const { body } = await visit.ask('POST /api/threads', { title: visit.name })
    await visit.ask(`POST /api/threads/${body.id}/activations`, { ref: id, on: true })
    await visit.ask(`GET /api/threads/${body.id}/loadout`)
    await visit.ask(`GET /api/threads/${body.id}/explain`)
  },
  'an invocation that carries it': async ({ host, userId, record }) => {
    const principal = { kind: 'session' as const, userId }
    const context = createExecutionContext({ principal, toolkits: { carried: { ...record, ...times } } })
    await using run = await host.setupToolkits(undefined, { context })
    expect(run.loadout.tools ?? []).toEqual([])
  },
  'a warm start': async (visit) => {
    await stored(visit)
    await visit.host.warm({ userId: visit.userId })
  },
  'POST /api/app/toolkits': async ({ ask, name, record }) => {
    const { status } = await ask('POST /api/app/toolkits', { name, ...record, ...times })
    expect(status).toBe(403)
  },
}

type Options = Parameters<typeof nodeDrivers>[0]

/** Brings every record through these doors, each as a user of its own. */
async function visit(
  { every = 1, ...options }: NonNullable<Options> & { every?: number },
  records: Record<string, HostileRecord>,
  entryPoints: string[],
): Promise<void> {
  const drivers = nodeDrivers({ ...options, baseEnv: { PATH: '/usr/local/bin:/usr/bin:/bin' } })
  const { host, as } = multiUserApp({ drivers })
  const work = Object.values(records).flatMap((record, index) =>
    entryPoints
      .map((entryPoint, at) => ({ record, door: entryPoint, index, at }))
      .filter(({ at }) => (at + index) % every === 0),
  )
  const next = async (): Promise<void> => {
    const one = work.shift()
    if (!one) return
    const userId = `mallory-${one.index}-${entryPoints.indexOf(one.door)}`
    const name = `kit ${one.index} ${entryPoints.indexOf(one.door)}`
    // A record that no schema takes has been refused as well as one can be.
    await ENTRY_POINTS[one.door]?.({ ask: as(userId), host, userId, name, record: one.record }).catch((error) => {
      if (error.name === 'AssertionError') throw error
    })
    return next()
  }
  await Promise.all(Array.from({ length: AT_ONCE }, next))
  await host.close()
}

const WATCHER = /while read -r op group/
const WAITING = /^read -r _ <&\d+ && exec \d+<&- && exec "\$@"$/

/** The watcher of all processes, a sandbox, or one that waits until the kernel keeps an account of it. */
function isOurs({ spawnfile, spawnargs: [, flag, script = '', , inner] }: ChildProcess): boolean {
  if (spawnfile === 'bwrap') return true
  if (spawnfile !== '/bin/sh' || flag !== '-c') return false
  return WATCHER.test(script) || (WAITING.test(script) && inner === 'bwrap')
}

describe('hostile stdio records', () => {
  it('number over 100 and do run where commands are allowed', async () => {
    const canary = newCanary('on')
    const records = hostileRecords(canary)
    expect(Object.keys(records).length).toBeGreaterThan(100)
    calls.length = 0
    times = timesOf(CONTROL_MS)
    await visit({ stdio: 'on', templates: TEMPLATES }, records, ['POST /api/mcp']).finally(() => {
      times = timesOf(DEADLINE_MS)
    })
    const found = marks(canary)
    process.stdout.write(`${Object.keys(records).length} records; ${found.length} marks where commands may be run\n`)
    expect(found.length).toBeGreaterThan(40)
    expect(calls).not.toEqual([])
  })

  for (const policy of ['off', 'templates'] as const)
    it(`start no process under "${policy}" on any route`, async () => {
      const canary = newCanary(policy)
      spawned.length = 0
      calls.length = 0
      await visit({ stdio: policy, templates: TEMPLATES }, hostileRecords(canary), Object.keys(ENTRY_POINTS))
      expect(spawned.map(({ spawnargs }) => spawnargs)).toEqual([])
      expect(marks(canary)).toEqual([])
      expect(calls).toEqual([])
    })

  it('start only sandboxes under "sandbox" on any route and leave no trace', async () => {
    const canary = newCanary('sandbox')
    spawned.length = 0
    calls.length = 0
    const from = performance.now()
    await visit(
      { stdio: 'sandbox', sandbox: { npmRegistry: 'http://127.0.0.1:9', cgroups: false }, every: EVERY },
      hostileRecords(canary),
      Object.keys(ENTRY_POINTS),
    )
    process.stdout.write(`${spawned.length} processes in ${Math.round(performance.now() - from)} ms\n`)
    expect(spawned.filter((child) => !isOurs(child)).map(({ spawnargs }) => spawnargs)).toEqual([])
    expect(spawned.length).toBeGreaterThan(100)
    expect(marks(canary)).toEqual([])
    expect(calls).toEqual([])
  })

  it('start no process if the sandbox is missing', async () => {
    const canary = newCanary('missing')
    spawned.length = 0
    await visit({ stdio: 'sandbox', sandbox: { bwrap: join(folder, 'no-bwrap') } }, hostileRecords(canary), [
      'POST /api/mcp',
    ])
    expect(spawned.filter(({ spawnfile, pid }) => pid !== undefined && spawnfile !== '/bin/sh')).toEqual([])
    expect(marks(canary)).toEqual([])
  })
})
