/** State of a toolkit while its server requests input. */
import { afterEach, describe, expect, it } from 'vitest'
import { type HttpFaultServer, type HttpFaults, startFaultServer } from '../../test/fixtures/fault-http.ts'
import { createInputs } from '../calls/elicitation.ts'
import type { Connection, ConnectionHooks } from '../connections/connection.ts'
import { createConnector } from '../connections/connector.ts'
import { nodeDrivers } from '../connections/node-drivers.ts'
import { createServices, type HostServices } from '../host/create-services.ts'

const ann = { tier: 'user', userId: 'ann' } as const
const FORM = { message: 'Who?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } }

let host: HostServices
let server: HttpFaultServer
let states: string[]
afterEach(async () => {
  await host.close()
  await server.close()
})

/** How a server of each era asks, and goes on. */
const ASKS: Record<string, HttpFaults> = {
  legacy: { era: 'legacy', sse: true, at: { 'tools/call': [{ do: 'ask', count: 1, params: FORM }, { do: 'hang' }] } },
  modern: {
    era: 'modern',
    times: 1,
    at: {
      'tools/call': {
        do: 'result',
        result: {
          resultType: 'input_required',
          inputRequests: { who: { method: 'elicitation/create', params: { mode: 'form', ...FORM } } },
        },
      },
    },
  },
}

async function startAsking(script: HttpFaults) {
  server = await startFaultServer(script)
  host = createServices({ drivers: nodeDrivers({ guard: { privateNetwork: true } }) })
  states = []
  // The phases of a start are one state here.
  host.events.on('state-changed', ({ userId, state }) => {
    const word = `${userId} ${state.status}`
    if (states.at(-1) !== word) states.push(word)
  })
  const { stored } = await host.toolkits.register(
    { name: 'kit', url: server.url, timeouts: { callMs: 60_000, totalMs: 60_000 } },
    ann,
  )
  await host.catalog.introspect(stored, 'ann')
  const call = { userId: 'ann', toolkit: 'kit', tool: 'echo', arguments: {}, caller: { type: 'direct' as const } }
  const controller = new AbortController()
  const running = host.calls.start({ ...call, signal: controller.signal })
  return { running, controller, input: await running.inputRequested, stored }
}
const status = async () => (await host.views.one('ann', 'kit')).state.status

describe('a toolkit with an open elicitation', () => {
  for (const [era, script] of Object.entries(ASKS))
    for (const answer of [{ action: 'accept', content: { name: 'Ann' } }, { action: 'decline' }] as const)
      it(`shows input-needed until the answer is ${answer.action} (${era})`, async () => {
        const { input, controller } = await startAsking(script)
        expect((await host.views.one('ann', 'kit')).state).toEqual({
          status: 'input-needed',
          reason: expect.any(String),
          action: expect.any(String),
        })
        expect((await host.views.list('ann')).map((kit) => kit.state.status)).toEqual(['input-needed'])
        host.inputs.answer('ann', input.id, answer)
        await expect.poll(status).toBe('connected')
        expect(states).toEqual(['ann connecting', 'ann connected', 'ann input-needed', 'ann connected'])
        controller.abort()
      })

  it('shows input-needed before a tool change, which is shown again afterwards', async () => {
    const { input, controller, stored } = await startAsking(ASKS.legacy as HttpFaults)
    await host.storage.transaction({ caller: 'introspection', userId: 'ann' }, async (tx) => {
      const [pin] = await tx.list('pins', { where: { uscoId: stored.uscoId } })
      const set = { changedFingerprint: 'other', changedManifestJson: { name: 'echo' } }
      if (pin) await tx.update('pins', pin.pinId, { set })
    })
    expect(await status()).toBe('input-needed')
    host.inputs.answer('ann', input.id, { action: 'decline' })
    await expect.poll(status).toBe('changed')
    controller.abort()
  })

  it('shows input-needed until its last elicitation is settled', async () => {
    const ask = { do: 'ask', count: 2, params: FORM } as const
    const hang = { do: 'hang' } as const
    const { controller } = await startAsking({ era: 'legacy', sse: true, at: { 'tools/call': [ask, hang] } })
    await expect.poll(() => host.inputs.list('ann')).toHaveLength(2)
    const [first, second] = host.inputs.list('ann').map(({ id }) => id) as [string, string]
    host.inputs.answer('ann', first, { action: 'decline' })
    await expect.poll(() => host.inputs.list('ann')).toHaveLength(1)
    expect(await status()).toBe('input-needed')
    host.inputs.answer('ann', second, { action: 'decline' })
    await expect.poll(status).toBe('connected')
    expect(states).toEqual(['ann connecting', 'ann connected', 'ann input-needed', 'ann connected'])
    controller.abort()
  })

  it('stops showing input-needed after a timeout or when the server disconnects', async () => {
    const { stored, controller, running } = await startAsking(ASKS.legacy as HttpFaults)
    let hooks: ConnectionHooks | undefined
    const connector = createConnector({
      drivers: {
        async open(_target, options) {
          hooks = options
          const info = { era: 'legacy', transport: 'stdio', protocolVersion: '' } as const
          return { info, isOpen: () => true, close: async () => {}, diagnostics: () => ({}) } as unknown as Connection
        },
        close: async () => {},
      },
      secrets: async () => ({}),
      events: host.events,
      ask: createInputs(host.events, { expireMs: 30 }).ask,
      onToolsChanged: () => {},
    })
    const seen: unknown[] = []
    const see = () => seen.push(connector.stateOf(stored, 'ann')?.status)
    await connector.use(stored, 'ann', {
      repeatable: false,
      async work() {
        const answer = hooks?.onElicitation({ mode: 'form', message: '?' }, new AbortController().signal)
        see()
        expect(await answer).toEqual({ action: 'cancel' })
        see()
      },
    })
    expect(seen).toEqual(['input-needed', 'connected'])
    await connector.close()

    expect(await status()).toBe('input-needed')
    await host.connections.reset(stored.uscoId)
    controller.abort()
    await running.outcome
    await expect.poll(async () => [await status(), host.inputs.list('ann')]).toEqual(['disconnected', []])
  })
})
