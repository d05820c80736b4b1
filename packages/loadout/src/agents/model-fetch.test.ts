/** Requests to models leave as all else does: through the proxy, past the guard, and to no other address than the API's. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { generateText } from 'ai'
import { afterEach, expect, it } from 'vitest'
import { nodeDrivers } from '../connections/node-drivers.ts'
import { createServices, type HostServices } from '../host/create-services.ts'
import type { ServiceOptions } from '../host/service-options.ts'
import { type ModelServer, startModelServer } from '../testing/model-server/server.ts'
import { createModels, type ModelSettings } from './models.ts'

let host: HostServices
let server: ModelServer
const others: Server[] = []
afterEach(async () => {
  for (const one of others.splice(0)) one.close()
  await server.close()
  await host.close()
})

async function start(drivers: ServiceOptions['drivers'], more: (url: string) => Partial<ModelSettings> = () => ({})) {
  server = await startModelServer(() => 'Hello.')
  host = createServices(drivers ? { drivers } : {})
  const baseUrls = { openai: server.baseUrl.openai }
  const models = createModels({
    ...host,
    model: 'openai:gpt-5.6',
    baseUrls,
    keys: { openai: 's3cr3t' },
    ...more(server.url),
  })
  const { model } = await models.open('ann', 'openai:gpt-5.6')
  return () => generateText({ model, prompt: 'Hi', maxRetries: 0 })
}

async function listen(answer: Parameters<typeof createServer>[1]): Promise<string> {
  const http = createServer(answer)
  others.push(http)
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`
}

it('model requests go through the proxy of the host', async () => {
  const urls: string[] = []
  const proxy = await listen(async (request, response) => {
    urls.push(request.url ?? '')
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { method = 'POST', headers } = request
    const { pathname } = new URL(request.url ?? '')
    const forwarded = { authorization: headers.authorization ?? '', 'content-type': 'application/json' }
    const sent = await fetch(server.url + pathname, { method, headers: forwarded, body: Buffer.concat(chunks) })
    response.writeHead(sent.status, { 'content-type': 'application/json' }).end(await sent.text())
  })
  const ask = await start(nodeDrivers({ guard: { proxy: { url: proxy } } }), () => ({
    baseUrls: { openai: 'http://models.invalid/v1' },
  }))
  expect((await ask()).text).toBe('Hello.')
  expect(urls).toEqual(['http://models.invalid/v1/responses'])
})

it('an operator URL may be private, and a user URL must pass the network guard', async () => {
  const drivers = () => nodeDrivers({ guard: { privateNetwork: false } })
  expect((await (await start(drivers()))()).text).toBe('Hello.')
  await server.close()
  await host.close()
  const ask = await start(drivers(), () => ({ addressesBy: 'user' }))
  await expect(ask()).rejects.toMatchObject({ code: 'address-blocked' })
  expect(server.requests).toEqual([])
})

it('a model key is never sent to another URL on a redirect', async () => {
  let received = 0
  const elsewhere = await listen((_, response) => void response.writeHead(200).end(String(++received)))
  const moved = await listen((_, response) => void response.writeHead(307, { location: elsewhere }).end())
  const ask = await start(nodeDrivers(), () => ({ baseUrls: { openai: moved } }))
  await expect(ask()).rejects.toMatchObject({ statusCode: 307 })
  expect(received).toBe(0)
})

it('an unreachable provider is reported as retryable', async () => {
  const ask = await start(nodeDrivers(), () => ({ baseUrls: { openai: 'http://127.0.0.1:9/v1' } }))
  await expect(ask()).rejects.toMatchObject({ name: 'AI_APICallError', isRetryable: true })
})
