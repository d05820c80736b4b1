/** Two processes over one PostgreSQL: one answers what the other asks, and a limit is one limit. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { createDatabase } from '../../../../test/database.ts'
import { programPath } from '../../../../test/program-path.ts'
import { provenWithin } from '../../../../test/prove/work.ts'
import type { ApprovalView } from '../../src/schema/records/approval.ts'
import { newKey, type RemoteHost, startHost } from '../fixtures/remote-host.ts'

const FAULTY = programPath(fileURLToPath(new URL('../fixtures/fault-stdio.ts', import.meta.url)))
const KEY = newKey()

let folder: string
let database: Awaited<ReturnType<typeof createDatabase>>
let hosts: RemoteHost[]
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'loadout-policy-'))
  database = await createDatabase(inject('postgresUrl'))
  hosts = [await startHost(database.url, KEY), await startHost(database.url, KEY)]
})
afterAll(async () => {
  await Promise.all(hosts.map((host) => host.end()))
  await database.drop()
  await rm(folder, { recursive: true, force: true })
})

/** A toolkit whose server notes every call that it gets. */
async function register(userId: string, name: string, tools?: object[]): Promise<() => Promise<number>> {
  const [script, log] = [join(folder, `${name}.script`), join(folder, `${name}.log`)]
  await writeFile(script, JSON.stringify(tools ? { tools } : {}))
  await writeFile(log, '')
  const input = { name, command: process.execPath, args: [FAULTY, script, log] }
  await hosts[0]?.do({ do: 'register', userId, input })
  return async () => (await readFile(log, 'utf8')).split('\n').filter((line) => line.startsWith('echo')).length
}

it('a call that one process asks about continues when another process answers', async () => {
  const userId = 'ann'
  await register(userId, 'asker', [{ name: 'ask_me', inputSchema: { type: 'object' } }])
  const [one, other] = hosts as [RemoteHost, RemoteHost]
  const call = one.do({ do: 'call', userId, name: 'asker.ask_me', arguments: {} })
  const pending = async () => (await other.do<ApprovalView[]>({ do: 'approvals', userId }))[0]
  await expect.poll(pending).toBeDefined()
  const approvalId = (await pending())?.id ?? ''
  await other.do({ do: 'answer', userId, approvalId, answer: { decision: 'allow' } })
  expect(await provenWithin(1000, () => call)).toMatchObject({ status: 'ok' })
})

it('64 callers in two processes with a limit of 1,000 calls an hour make exactly 1,000 calls', async () => {
  const userId = 'bea'
  const received = await register(userId, 'counted')
  await hosts[0]?.do({ do: 'preferences', userId, patch: { costLimits: { maxCallsPerHour: 1000 } } })
  const made = await Promise.all(
    hosts.map((host) => host.do<number>({ do: 'burst', userId, name: 'counted.echo', callers: 32 })),
  )
  expect(made.reduce((sum, one) => sum + one, 0)).toBe(1000)
  expect(await received()).toBe(1000)
  expect(Math.min(...made)).toBeGreaterThan(0)
})

it('a process that is killed in the middle does not let calls exceed the limit', async () => {
  const userId = 'cyd'
  const received = await register(userId, 'killed')
  await hosts[0]?.do({ do: 'preferences', userId, patch: { costLimits: { maxCallsPerHour: 1000 } } })
  const [one, other] = hosts as [RemoteHost, RemoteHost]
  const burst = { do: 'burst' as const, userId, name: 'killed.echo', callers: 32 }
  void other.do(burst).catch(() => {})
  const made = one.do<number>(burst)
  await expect.poll(received, { timeout: 60_000, interval: 10 }).toBeGreaterThan(100)
  other.kill()
  await made
  expect(await received()).toBeLessThanOrEqual(1000)
  expect(await received()).toBeGreaterThan(500)
})

it('two concurrent answers in two processes have one winner, which decides the call', async () => {
  const userId = 'dan'
  await register(userId, 'twice', [{ name: 'ask_me', inputSchema: { type: 'object' } }])
  const [one, other] = [await startHost(database.url, KEY), await startHost(database.url, KEY)]
  for (let round = 0; round < 15; round++) {
    const call = one.do<{ status: string }>({ do: 'call', userId, name: 'twice.ask_me', arguments: {} })
    const pending = async () => (await other.do<ApprovalView[]>({ do: 'approvals', userId }))[0]
    await expect.poll(pending, { timeout: 60_000, interval: 20 }).toBeDefined()
    const approvalId = (await pending())?.id ?? ''
    const answers = await Promise.allSettled(
      [one, other].map((host, index) =>
        host.do<ApprovalView>({
          do: 'answer',
          userId,
          approvalId,
          answer: { decision: index === round % 2 ? 'allow' : 'deny' },
        }),
      ),
    )
    const won = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value.status] : []))
    const lost = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason.message] : []))
    expect([won.length, lost]).toEqual([1, ['conflict']])
    expect((await call).status).toBe(won[0] === 'allowed' ? 'ok' : 'denied')
  }
  await Promise.all([one.end(), other.end()])
})
