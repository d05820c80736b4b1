/** Servers that need the older era, or habits that the new one has no word for (R5, G1, G2, G3, G6). */
import { describe, expect, it } from 'vitest'
import { type QuirkyHost, quirkyHost, type ServerLog } from '../../../test/fixtures/quirky-host.ts'
import type { CallOutcome } from '../../calls/call.ts'
import { memory } from '../../storage/memory.ts'
import type { Storage } from '../../storage/storage.ts'
import { Eras } from './eras.ts'

const textOf = (outcome: CallOutcome) =>
  'content' in outcome ? JSON.stringify(outcome.content) : JSON.stringify(outcome)
const erasOf = ({ host }: QuirkyHost) => host.connections.status().map(({ info }) => info.era)

/** Answers the first question that a server asks ann. */
async function answering({ host }: QuirkyHost): Promise<void> {
  await expect.poll(() => host.inputs.list('ann').length).toBe(1)
  const [input] = host.inputs.list('ann')
  host.inputs.answer('ann', input?.id ?? '', { action: 'accept', content: { day: 'Monday' } })
}

describe('a server that needs a back-channel', () => {
  it('is connected in the older era within the call, where the call may be repeated', async () => {
    await using world = quirkyHost()
    const server = await world.add('asker', { elicits: true })
    await world.introspect('asker')
    expect(erasOf(world)).toEqual(['modern'])
    const { outcome } = world.call('asker', 'echo')
    await answering(world)
    expect(textOf(await outcome)).toContain('Monday')
    expect(erasOf(world)).toEqual(['legacy'])
    expect(server.methods().filter((method) => method === 'tools/call')).toHaveLength(2)
    const stored = await world.host.toolkits.find('ann', 'asker')
    expect(world.host.connections.outputOf(stored, 'ann').lines).toContainEqual(
      expect.objectContaining({ level: 'warning', text: expect.stringContaining('back-channel') }),
    )
  })

  it('gets a call that writes once, says so, and is connected in the older era for the next', async () => {
    await using world = quirkyHost()
    const server = await world.add('asker', { elicits: true })
    await world.introspect('asker')
    const first = await world.call('asker', 'book').outcome
    expect(first.status).toBe('tool-error')
    expect(textOf(first)).toMatch(/no back-channel.*make the call again/)
    expect(server.methods().filter((method) => method === 'tools/call')).toHaveLength(1)
    const { outcome } = world.call('asker', 'book')
    await answering(world)
    expect(textOf(await outcome)).toContain('Monday')
  })

  it('names the option where the record asks for the new era', async () => {
    await using world = quirkyHost()
    await world.add('asker', { elicits: true }, { protocol: 'modern' })
    await world.introspect('asker')
    expect(textOf(await world.call('asker', 'echo').outcome)).toMatch(/Set `protocol` of the toolkit/)
    expect(erasOf(world)).not.toContain('legacy')
  })
})

describe('the remembered protocol of a server', () => {
  const info = (version?: string) => ({ era: 'legacy', transport: 'stdio', protocolVersion: '', version }) as const
  const modern = { era: 'modern', transport: 'stdio', protocolVersion: '', version: '1' } as const
  const stored = { uscoId: 'usco_1', toolkit: { server: { type: 'stdio' } }, row: { updatedAt: new Date(0) } } as never

  it('is the older era for one version of it, until another one answers', () => {
    const eras = new Eras()
    expect(eras.fallBack(stored, modern)).toBe(true)
    eras.connected(stored, { verdict: { era: 'legacy' }, info: info('1') })
    expect(eras.resolve(stored)).toEqual({ verdict: { era: 'legacy' } })
    expect(eras.isLegacy(stored)).toBe(true)
    eras.connected(stored, { verdict: { era: 'legacy' }, info: info('2') })
    expect(eras.isLegacy(stored)).toBe(false)
  })

  it('is forgotten where the server refuses the older era', () => {
    const eras = new Eras()
    eras.fallBack(stored, modern)
    eras.connected(stored, { verdict: { era: 'modern', discover: {} }, info: modern })
    expect(eras.resolve(stored)).toEqual({ verdict: { era: 'modern', discover: {} } })
  })
})

describe('the stored protocol of a server', () => {
  /** A host whose storage outlives it. */
  const hostOn = (storage: Storage): QuirkyHost => {
    const { name } = storage
    const shared: Storage = {
      name,
      transaction: (access, work) => storage.transaction(access, work),
      watch: (listener) => storage.watch(listener),
      ready: () => storage.ready(),
      close: async () => {},
    }
    return quirkyHost({}, { storage: shared })
  }
  async function connect(storage: Storage, work: (world: QuirkyHost) => Promise<void>): Promise<void> {
    await using world = hostOn(storage)
    await work(world)
  }
  const probes = (server: ServerLog) => server.methods().filter((method) => method === 'server/discover').length
  const again = (world: QuirkyHost, name: string) => world.introspect(name).then(() => erasOf(world))

  it('is the older era after a restart, without another probe', async () => {
    const storage = memory()
    await using first = hostOn(storage)
    const server = await first.add('old', { era: 'legacy' })
    expect(await again(first, 'old')).toEqual(['legacy'])
    expect(probes(server)).toBe(1)
    await connect(storage, async (world) => {
      expect(await again(world, 'old')).toEqual(['legacy'])
      expect(server.starts()).toBe(2)
      expect(probes(server)).toBe(1)
    })
  })

  it('is why the older era is spoken: a server that needs a back-channel is asked in it after a restart', async () => {
    const storage = memory()
    await using first = hostOn(storage)
    const server = await first.add('asker', { elicits: true })
    await first.introspect('asker')
    const { outcome } = first.call('asker', 'echo')
    await answering(first)
    await outcome
    const before = probes(server)
    await connect(storage, async (world) => {
      const call = world.call('asker', 'book')
      await answering(world)
      expect(textOf(await call.outcome)).toContain('Monday')
      expect(probes(server)).toBe(before)
      const stored = await world.host.toolkits.find('ann', 'asker')
      expect(JSON.stringify(world.host.connections.outputOf(stored, 'ann').lines)).toContain('back-channel')
    })
  })

  it('is forgotten with a changed record', async () => {
    const storage = memory()
    await using first = hostOn(storage)
    const server = await first.add('old', { era: 'legacy' })
    await first.introspect('old')
    await first.host.toolkits.update('old', { timeouts: { callMs: 50_000 } }, first.owner)
    await connect(storage, async (world) => {
      await world.introspect('old')
      expect(probes(server)).toBe(2)
    })
  })

  it('is forgotten with another version of the server, which is probed at the next connection', async () => {
    const storage = memory()
    await using first = hostOn(storage)
    const server = await first.add('old', { era: 'legacy' })
    await first.introspect('old')
    server.release('2')
    for (const [starts, probed] of [
      [2, 1],
      [3, 2],
      [4, 2],
    ] as const)
      await connect(storage, async (world) => {
        await world.introspect('old')
        expect([server.starts(), probes(server)]).toEqual([starts, probed])
      })
  })
})

describe('the protocol of a record', () => {
  it.for(['legacy', 'modern'] as const)('connects a server of both eras in the %s one alone', async (protocol) => {
    await using world = quirkyHost()
    const server = await world.add('both', { era: 'both' }, { protocol })
    await world.introspect('both')
    expect(erasOf(world)).toEqual([protocol])
    expect(server.methods()).not.toContain(protocol === 'legacy' ? 'server/discover' : 'initialize')
  })

  it('is an error that names the option where the server refuses it', async () => {
    await using world = quirkyHost()
    await world.add('old', { era: 'legacy' }, { protocol: 'modern' })
    await world.add('new', { era: 'modern' }, { protocol: 'legacy' })
    for (const name of ['old', 'new'])
      await expect(world.introspect(name)).rejects.toMatchObject({
        code: 'protocol-error',
        action: 'Set `protocol` of the toolkit to `auto`.',
      })
  })

  it('is stored, shown and checked', async () => {
    await using world = quirkyHost()
    await world.add('both', {}, { protocol: 'legacy', log_level: 'debug' })
    const { options } = await world.host.views.one('ann', 'both')
    expect(options).toMatchObject({ protocol: 'legacy', logLevel: 'debug' })
    await expect(world.add('bad', {}, { protocol: 'newest' })).rejects.toMatchObject({
      errors: [expect.objectContaining({ path: 'protocol' })],
    })
  })
})

describe('habits of servers of the new era', () => {
  it('asks for the list before the first call of a connection, once', async () => {
    await using world = quirkyHost()
    const server = await world.add('lister', { era: 'modern', listFirst: true })
    await world.introspect('lister')
    await world.host.connections.reset((await world.host.toolkits.find('ann', 'lister')).uscoId, 'ann')
    for (let call = 0; call < 2; call++) expect((await world.call('lister').outcome).status).toBe('ok')
    expect(server.starts()).toBe(2)
    const [, second] = server.methods().join(' ').split('tools/list tools/call')
    expect(server.methods().slice(-3)).toEqual(['tools/list', 'tools/call', 'tools/call'])
    expect(second).not.toContain('tools/list')
  })

  it('answers a ping of the server', async () => {
    await using world = quirkyHost()
    await world.add('pinger', { era: 'modern', asks: 'ping' })
    await world.introspect('pinger')
    expect(textOf(await world.call('pinger').outcome)).toContain('{}')
  })

  it('refuses other requests of the server instead of keeping silent', async () => {
    await using world = quirkyHost()
    await world.add('sampler', { era: 'modern', asks: 'sampling/createMessage' })
    await world.introspect('sampler')
    expect(textOf(await world.call('sampler').outcome)).toContain('-32601')
  })

  it.for([
    ['legacy', undefined, 'info'],
    ['legacy', 'debug', 'debug'],
    ['modern', undefined, 'info'],
    ['modern', 'warning', 'warning'],
  ] as const)('asks a %s server to log from %s on', async ([era, logLevel, level]) => {
    await using world = quirkyHost()
    await world.add('logger', { era, logs: true }, { logLevel })
    await world.introspect('logger')
    await world.call('logger').outcome
    const stored = await world.host.toolkits.find('ann', 'logger')
    expect(world.host.connections.outputOf(stored, 'ann').lines).toContainEqual(
      expect.objectContaining({ source: 'log', text: `at ${level}` }),
    )
  })
})
