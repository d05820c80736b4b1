/** Programs in processes that are killed, over one PostgreSQL: another finishes them, and each tool is called exactly once. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { createDatabase } from '../../../../test/database.ts'
import type { RunView } from '../../src/schema/records/run.ts'
import { type HttpFaultServer, startFaultServer } from '../fixtures/fault-http.ts'
import { newKey, type RemoteHost, startHost } from '../fixtures/remote-host.ts'

const KEY = newKey()
const LEASE_MS = 2000
const PROVE = process.env.LOADOUT_PROVE === 'full'

let database: Awaited<ReturnType<typeof createDatabase>>
let server: HttpFaultServer
let hosts: RemoteHost[]
let called: string[]
let holds: string | undefined

beforeAll(async () => {
  database = await createDatabase(inject('postgresUrl'))
})
afterAll(() => database.drop())
beforeEach(async () => {
  called = []
  holds = undefined
  const readOnly = { annotations: { readOnlyHint: true } }
  const tools = [
    { name: 'read', inputSchema: { type: 'object' }, ...readOnly },
    { name: 'write', inputSchema: { type: 'object' } },
    { name: 'ask_me', inputSchema: { type: 'object' } },
  ]
  server = await startFaultServer({ tools, at: {} })
  const handle = server.server.handle.bind(server.server)
  server.server.handle = async (message, io) => {
    const { name, arguments: args } = (message.params ?? {}) as { name?: string; arguments?: { n?: number } }
    if (message.method === 'tools/call') {
      called.push(`${name}${args?.n ?? ''}`)
      if (name === holds) return new Promise<never>(() => {})
    }
    return handle(message, io)
  }
  hosts = await Promise.all([startHost(database.url, KEY, LEASE_MS), startHost(database.url, KEY, LEASE_MS)])
})
afterEach(async () => {
  await Promise.all(hosts.map((host) => host.end()))
  await server.close()
})

const PROGRAM = `
  for (let n = 0; n < 3; n++) await kit.read({ n })
  await kit.write({ n: 1 })
  const before = [Date.now(), Math.random()]
  await kit.ask_me({ n: 7 })
  await kit.write({ n: 2 })
  return before.length
`
const EACH_ONCE = ['read0', 'read1', 'read2', 'write1', 'ask_me7', 'write2']

describe('a program whose process is killed', () => {
  const rounds = PROVE ? 10 : 1
  it(`while waiting for an approval continues in another process, ${rounds} times`, {
    timeout: 60_000 * (1 + rounds),
  }, async () => {
    for (let round = 0; round < rounds; round++) {
      const userId = `ann-${round}`
      called.length = 0
      const first = round === 0 ? (hosts[0] as RemoteHost) : await startHost(database.url, KEY, LEASE_MS)
      const second = hosts[1] as RemoteHost
      await first.do({ do: 'register', userId, input: { name: 'kit', url: server.url } })
      const paused = await first.do<RunView>({ do: 'run', userId, program: PROGRAM, wait: true })
      expect(paused.status).toBe('paused')
      first.kill()
      const approvalId = paused.steps.at(-1)?.approvalId ?? ''
      await second.do({ do: 'answer', userId, approvalId, answer: { decision: 'allow' } })
      const view = () => second.do<RunView>({ do: 'run-view', userId, runId: paused.id })
      await expect.poll(async () => (await view()).status).toBe('completed')
      expect(called).toEqual(EACH_ONCE)
    }
  })

  it('during a write call ends as outcome-unknown until a user decides', async () => {
    const [first, second] = hosts as [RemoteHost, RemoteHost]
    const userId = 'bea'
    await first.do({ do: 'register', userId, input: { name: 'kit', url: server.url } })
    holds = 'write'
    const started = await first.do<RunView>({ do: 'run', userId, program: PROGRAM, wait: false })
    await expect.poll(() => called).toContain('write1')
    first.kill()
    holds = undefined
    const view = () => second.do<RunView>({ do: 'run-view', userId, runId: started.id })
    await expect.poll(async () => (await view()).status).toBe('outcome-unknown')
    expect(called).toEqual(['read0', 'read1', 'read2', 'write1'])
    const stepId = (await view()).steps.find((step) => step.status === 'outcome-unknown')?.id ?? ''
    await second.do({ do: 'run-step', userId, runId: started.id, stepId, decision: 'repeat' })
    await expect.poll(async () => (await view()).status).toBe('paused')
    expect(called).toEqual(['read0', 'read1', 'read2', 'write1', 'write1'])
  })

  it('during a read-only call repeats only that call', async () => {
    const [first, second] = hosts as [RemoteHost, RemoteHost]
    const userId = 'cat'
    await first.do({ do: 'register', userId, input: { name: 'kit', url: server.url } })
    holds = 'read'
    const program = 'await kit.write({ n: 1 }); return await kit.read({ n: 2 })'
    const started = await first.do<RunView>({ do: 'run', userId, program, wait: false })
    await expect.poll(() => called).toContain('read2')
    first.kill()
    holds = undefined
    const view = () => second.do<RunView>({ do: 'run-view', userId, runId: started.id })
    await expect.poll(async () => (await view()).status).toBe('completed')
    expect(called).toEqual(['write1', 'read2', 'read2'])
  })
})
