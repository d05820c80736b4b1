/** Removing a user with running calls, in this and other processes: the calls end and leave no data. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { provenWithin } from '../../../../test/prove/work.ts'
import { type HttpFaultServer, startFaultServer } from '../../test/fixtures/fault-http.ts'
import { createAudit } from '../audit/audit.ts'
import { newEntry } from '../audit/entry.ts'
import { memoryJournal } from '../audit/journal/journal.ts'
import { nodeDrivers } from '../connections/node-drivers.ts'
import { processKeyRing } from '../credentials/aes-key-ring.ts'
import { createServices, type HostServices } from '../host/create-services.ts'
import { rule } from '../policy/rules.ts'
import { newId } from '../schema/ids.ts'
import { COLLECTION_NAMES } from '../storage/collections.ts'
import { createKvStorage } from '../storage/kv/kv-storage.ts'
import { memoryBackend } from '../storage/kv/memory-backend.ts'
import type { Storage } from '../storage/storage.ts'

const WHO = 'ann-7f3a91'
let backend: ReturnType<typeof memoryBackend>
let storage: Storage
let host: HostServices
let other: HostServices
let signals: AbortSignal[]
/** Tools that run, by name. */
let entered: string[]
let finish: () => void

const open = (more: object = {}) => {
  const released = new Promise<void>((resolve) => {
    finish = resolve
  })
  // One that does not listen to its signal, and one that says when it hears it.
  const deaf = {
    name: 'deaf',
    execute: () => {
      entered.push('deaf')
      return released.then(() => 'x'.repeat(2000))
    },
  }
  const slow = {
    name: 'slow',
    execute: (_: unknown, { signal }: { signal: AbortSignal }) => {
      entered.push('slow')
      signals.push(signal)
      return released.then(() => 'done')
    },
  }
  const pay = { name: 'pay', execute: () => 'paid' }
  return createServices({
    storage: { ...storage, name: 'memory', close: async () => {} },
    keyRing: processKeyRing(),
    tools: [deaf, slow, pay].map((tool) => ({ ...tool, inputSchema: { type: 'object' } })) as never,
    policy: [rule('app.pay', 'ask'), rule('*', 'allow')],
    ...more,
  })
}
beforeEach(async () => {
  signals = []
  entered = []
  backend = memoryBackend()
  storage = createKvStorage({ name: 'memory', open: async () => backend })
  host = open()
  other = open()
  await Promise.all([host.ready(), other.ready()])
})
afterEach(async () => {
  finish()
  await Promise.all([host.close(), other.close()])
})

const everything = async () =>
  JSON.stringify(await Promise.all(COLLECTION_NAMES.map(async (name) => [name, await backend.scan(name)])))
const start = (at: HostServices, tool: string, toolkit = 'app') =>
  at.calls.start({ userId: WHO, toolkit, tool, arguments: { me: WHO }, caller: { type: 'direct' } })
/** A call of `pay` waits for its approval; the other calls wait in their tools. */
const waits = async (tool: string, { pending }: ReturnType<typeof start>) =>
  void (await (tool === 'pay' ? pending : expect.poll(() => entered).toContain(tool)))
/** Counters and the log are written a moment later. */
const settle = async () => {
  await new Promise((resolve) => setTimeout(resolve, 1300))
  await Promise.all([host.audit.flush(), other.audit.flush()])
}

describe('removing a user with running calls', () => {
  it.each(['slow', 'deaf', 'pay'])('ends a call in this process: %s', async (tool) => {
    const running = start(host, tool)
    await waits(tool, running)
    const done = start(host, 'deaf')
    await expect.poll(() => entered.filter((name) => name === 'deaf')).toHaveLength(tool === 'deaf' ? 2 : 1)
    await host.users.remove(WHO)
    expect(await running.outcome).toMatchObject({ error: { code: 'cancelled' } })
    expect(signals.every((signal) => signal.aborted)).toBe(true)
    finish()
    await done.outcome
    await settle()
    expect(await everything()).not.toContain(WHO)
    expect(await host.audit.verify()).toMatchObject({ ok: true })
  })

  it.each(['slow', 'deaf', 'pay'])('ends a call in another process: %s', async (tool) => {
    await host.app.update({ limits: { maxCallsPerHour: 100, concurrencyPerUser: 5 } })
    const running = start(other, tool)
    await waits(tool, running)
    await host.toolkits.register({ name: 'Mine', url: 'https://x.invalid' }, { tier: 'user', userId: WHO })
    await host.users.remove(WHO)
    // A question is gone with its row.
    expect(await running.outcome).toMatchObject({ error: { code: tool === 'pay' ? 'approval-expired' : 'cancelled' } })
    finish()
    await settle()
    expect(await everything()).not.toContain(WHO)
    expect(await host.audit.verify()).toMatchObject({ ok: true })
  })

  it('cancels a call that hangs on its server and closes the connection', async () => {
    const server: HttpFaultServer = await startFaultServer({ at: { 'tools/call': { do: 'hang' } } })
    const drivers = nodeDrivers({ guard: { privateNetwork: true } })
    await using remote = open({ drivers })
    await remote.toolkits.register({ name: 'kit', url: server.url }, { tier: 'user', userId: WHO })
    const stored = await remote.toolkits.find(WHO, 'kit')
    await remote.catalog.introspect(stored, WHO)
    const running = start(remote, 'echo', 'kit')
    await expect.poll(() => remote.connections.status()[0]?.leases).toBe(1)
    await expect.poll(() => server.open('tools/call')).toBe(1)
    await provenWithin(3000, () => remote.users.remove(WHO))
    // The server never answers, so only the cancellation ends the call.
    expect(await running.outcome).toMatchObject({ error: { code: 'cancelled' } })
    expect(remote.connections.status()).toEqual([])
    await server.close()
  })

  it('lets a new user with the same ID call and shows only the new log entries', async () => {
    const running = start(host, 'slow')
    await waits('slow', running)
    const removing = host.users.remove(WHO)
    await removing
    await running.outcome
    finish()
    // Clocks of processes differ a little: so long a name is not trusted.
    await new Promise((resolve) => setTimeout(resolve, 1100))
    expect(await start(other, 'deaf').outcome).toMatchObject({ status: 'ok' })
    await other.audit.flush()
    const { items } = await host.audit.list({ userId: WHO })
    expect(items.map(({ outcome }) => outcome)).toEqual(['ok', 'started'])
  })
})

describe('the removed-user record', () => {
  it('anonymizes late journal entries of earlier actions and keeps newer ones', async () => {
    const journal = memoryJournal()
    const dead = { entryId: 'aent_dead', at: Date.now() - 60_000 }
    journal.append({ ...newEntry('x', { userId: WHO, action: 'toolkit_registered', detail: { me: WHO } }), ...dead })
    const callId = newId('call')
    await start(host, 'pay').pending
    await host.users.remove(WHO)
    // The outcome of a call that began before comes after.
    const outcome = { userId: WHO, action: 'mcp_tool_call', callId, outcome: 'ok', detail: { me: WHO } }
    journal.append({ ...newEntry('aent_late', outcome), at: Date.now() + 5000 })
    const secrets = { list: () => [] }
    const late = createAudit({ storage, journal, secrets, retentionDays: async () => undefined, strict: false })
    await late.start()
    await late.flush()
    expect(await everything()).not.toContain(WHO)
    expect(await late.verify()).toMatchObject({ ok: true })
    const newer = { ...newEntry('aent_newer', { userId: WHO, action: 'signed_in' }), at: Date.now() + 5000 }
    journal.append(newer)
    await late.record({ userId: 'bob', action: 'x' })
    await late.flush()
    expect((await late.list({ userId: WHO })).items.map(({ action }) => action)).toEqual(['signed_in'])
    await late.close()
  })

  it('is not written when removing an unknown user fails with not-found', async () => {
    await expect(host.users.remove(WHO)).rejects.toMatchObject({ code: 'not-found' })
    expect(await backend.scan('removedUsers')).toEqual([])
  })
})
