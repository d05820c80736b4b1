/** The older HTTP+SSE transport, and servers of it that misbehave. */

import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { provenWithin } from '../../../../test/prove/work.ts'
import { nodeDrivers } from '../../src/connections/node-drivers.ts'
import { createServices, type HostServices } from '../../src/host/create-services.ts'
import { rule } from '../../src/policy/rules.ts'
import { FaultServer } from '../fixtures/fault-script.ts'

let host: HostServices
let server: Server
let gets: number
afterEach(async () => {
  await host.close()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

interface SseScript {
  /** Starts the stream of events. */
  first: (stream: ServerResponse) => void
  /** Ends the stream in the middle of a call. */
  drop?: boolean
  introspectMs?: number
}

async function start({ first, drop = false, introspectMs = 25_000 }: SseScript) {
  gets = 0
  const rpc = new FaultServer({ era: 'legacy' })
  let stream: ServerResponse | undefined
  server = createServer(async (request, response) => {
    if (request.method === 'GET') {
      gets++
      stream = response
      return first(response)
    }
    const message = JSON.parse(Buffer.concat(await request.toArray()).toString())
    response.writeHead(202).end()
    if (drop && message.method === 'tools/call') return void stream?.end('retry: 0\n\n')
    const send = (body: object) => void stream?.write(`event: message\ndata: ${JSON.stringify(body)}\n\n`)
    await rpc.handle(message, { send, raw() {}, bytes() {}, exit() {} })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/sse`
  host = createServices({ policy: [rule('*', 'allow')], drivers: nodeDrivers({ guard: { privateNetwork: true } }) })
  const timeouts = { introspectMs, callMs: 25_000, totalMs: 25_000 }
  const { stored } = await host.toolkits.register(
    { name: 'kit', type: 'sse', url, timeouts },
    { tier: 'user', userId: 'ann' },
  )
  return () =>
    host.catalog.introspect(stored, 'ann').then(
      (tools) => tools.length,
      (error) => error.code,
    )
}

const open = (stream: ServerResponse) => stream.writeHead(200, { 'content-type': 'text/event-stream' })
const endpoint = (stream: ServerResponse) => open(stream).write('retry: 0\nevent: endpoint\ndata: /message\n\n')
const call = () =>
  host.calls.start({ userId: 'ann', toolkit: 'kit', tool: 'echo', arguments: {}, caller: { type: 'direct' } }).outcome

it('an SSE server lists and calls tools', async () => {
  const look = await start({ first: endpoint })
  expect(await look()).toBe(1)
  expect((await call()).status).toBe('ok')
})

it('an SSE server that sends nothing or no endpoint times out and does not block closing', async () => {
  for (const first of [() => {}, (stream: ServerResponse) => void open(stream).write(': hello\n\n')]) {
    const look = await start({ first, introspectMs: 700 })
    expect(await provenWithin(2500, look)).toBe('server-timeout')
    await provenWithin(1500, () => host.close())
    server.closeAllConnections()
  }
})

it('47, 48 an SSE stream that drops fails the call at once and is not reopened endlessly', async () => {
  const look = await start({ first: endpoint, drop: true })
  await look()
  // At the end of its time it would be a timeout.
  const outcome = await provenWithin(1500, call)
  expect(outcome).toMatchObject({ error: { code: 'session-lost' } })
  await new Promise((resolve) => setTimeout(resolve, 500))
  expect(gets).toBeLessThan(5)
})

it('reconnects for the first call after the server broke the stream and came back (G5)', async () => {
  // A server that asks for a long pause before the stream is read again.
  const first = (stream: ServerResponse) =>
    void open(stream).write('retry: 600000\nevent: endpoint\ndata: /message\n\n')
  const look = await start({ first })
  await look()
  const states: string[] = []
  host.events.on('state-changed', ({ state }) => states.push(state.status))
  // As at a restart: the connections break, and the address answers again.
  server.closeAllConnections()
  await expect.poll(() => states).toContain('disconnected')
  expect(await call()).toMatchObject({ status: 'ok' })
  expect(gets).toBe(2)
})
