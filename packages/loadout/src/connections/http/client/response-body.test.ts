import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { brotliCompressSync, createGzip, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { codeOf, listen } from '../../../../../../test/loopback.ts'
import { provenGrowth, provenWithin } from '../../../../../../test/prove/work.ts'
import { createGuardedFetch } from '../guard/guarded-fetch.ts'

const MIB = 1024 * 1024
const guarded = createGuardedFetch({ privateNetwork: true })
afterAll(() => guarded.close())
const url = (port: number, path = '/') => `http://127.0.0.1:${port}${path}`

/** More than this is between the two ends in no case: buffers of streams and sockets. */
const ON_THE_WAY = 20 * MIB

/** Writes up to `bytes` of `chunk` as fast as they are taken; says how many were. */
async function flood(response: ServerResponse | ReturnType<typeof createGzip>, chunk: Buffer, bytes: number) {
  let sent = 0
  let open = true
  const closed = new Promise<void>((resolve) => {
    response.on('close', () => {
      open = false
      resolve()
    })
  })
  while (open && sent < bytes) {
    sent += chunk.length
    if (!response.write(chunk)) await Promise.race([once(response, 'drain'), closed])
  }
  if (open) response.end()
  return sent
}

describe('the response size limit', () => {
  it('rejects 400 MB of JSON by its length or soon after the limit', async () => {
    const sent: number[] = []
    await using server = await listen(async (request, response) => {
      response.writeHead(200, {
        'content-type': 'application/json',
        ...(request.url === '/length' && { 'content-length': 400 * MIB }),
      })
      sent.push(await flood(response, Buffer.alloc(64 * 1024, 0x20), 400 * MIB))
    })
    const three = async () => {
      expect(await codeOf(guarded.fetch(url(server.port, '/length')))).toBe('response-too-large')
      const response = await guarded.fetch(url(server.port))
      expect(await codeOf(response.json())).toBe('response-too-large')
      const streamed = await guarded.fetch(url(server.port))
      expect(await codeOf(drain(streamed))).toBe('response-too-large')
    }
    await provenWithin(3000, () => provenGrowth(150 * MIB, three))
    await expect.poll(() => sent.length).toBe(3)
    // The limit is 10 MiB.
    for (const bytes of sent) expect(bytes).toBeLessThan(10 * MIB + ON_THE_WAY)
  })

  it('rejects a gzip bomb', async () => {
    let sent: number | undefined
    await using server = await listen(async (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
      const gzip = createGzip()
      gzip.on('error', () => {}).pipe(response)
      response.on('close', () => gzip.destroy())
      sent = await flood(gzip, Buffer.alloc(64 * 1024), 400 * MIB)
    })
    await provenGrowth(150 * MIB, async () => {
      const response = await guarded.fetch(url(server.port))
      expect(await codeOf(response.text())).toBe('response-too-large')
    })
    // It is left as soon as what was unpacked is too much, though zeros of gigabytes would fit into the socket.
    await expect.poll(() => sent).toBeLessThan(400 * MIB)
  })

  it('accepts a response at the limit and rejects one more byte', async () => {
    const small = createGuardedFetch({ privateNetwork: true, maxResponseBytes: 1000 })
    await using server = await listen((request, response) => {
      const size = Number(request.url?.slice(1))
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(size, 0x61)))
    })
    expect((await (await small.fetch(url(server.port, '/1000'))).text()).length).toBe(1000)
    expect(await codeOf((await small.fetch(url(server.port, '/1001'))).text())).toBe('response-too-large')
    await small.close()
  })

  it('leaves an oversized unread response in the socket', async () => {
    let sent = 0
    await using server = await listen(async (_, response) => {
      sent = await flood(response, Buffer.alloc(64 * 1024), 400 * MIB)
    })
    await provenGrowth(60 * MIB, async () => {
      await guarded.fetch(url(server.port))
      await sleep(100)
    })
    server.server.closeAllConnections()
    await expect.poll(() => sent).toBeGreaterThan(0)
    expect(sent).toBeLessThan(ON_THE_WAY)
  })
})

describe('the event size limit of a stream', () => {
  const streams = createGuardedFetch({ privateNetwork: true, maxResponseBytes: MIB })
  afterAll(() => streams.close())
  const events = { 'content-type': 'Text/Event-Stream; charset=utf-8' }

  it('rejects a line that never ends', async () => {
    let sent = 0
    await using server = await listen(async (_, response) => {
      response.writeHead(200, events).write('data: ')
      sent = await flood(response, Buffer.alloc(64 * 1024, 0x61), 400 * MIB)
    })
    expect(await codeOf(drain(await streams.fetch(url(server.port))))).toBe('response-too-large')
    await expect.poll(() => sent).toBeGreaterThan(0)
    expect(sent).toBeLessThan(ON_THE_WAY)
  })

  it('counts an event of many lines as one', async () => {
    await using server = await listen(async (_, response) => {
      response.writeHead(200, events)
      await flood(response, Buffer.from(`data: ${'a'.repeat(1000)}\n`), 2 * MIB)
    })
    expect(await codeOf(drain(await streams.fetch(url(server.port))))).toBe('response-too-large')
  })

  for (const end of ['\n\n', '\r\n\r\n', '\r\r'])
    it(`allows many small events that end with ${JSON.stringify(end)}`, async () => {
      await using server = await listen(async (_, response) => {
        response.writeHead(200, events)
        await flood(response, Buffer.from(`data: ${'a'.repeat(50_000)}${end}`), 5 * MIB)
      })
      expect(await drain(await streams.fetch(url(server.port)))).toBeGreaterThan(5 * MIB)
    })

  it('delivers compressed events as they arrive', async () => {
    await using server = await listen((_, response) => {
      response.writeHead(200, { ...events, 'content-encoding': 'gzip' })
      const gzip = createGzip()
      gzip.pipe(response)
      gzip.write('data: 1\n\n')
      gzip.flush()
    })
    const reader = (await streams.fetch(url(server.port))).body?.getReader()
    const first = await reader?.read()
    expect(Buffer.from(first?.value ?? []).toString()).toBe('data: 1\n\n')
    await reader?.cancel()
  })
})

it('every content encoding is decoded', async () => {
  const text = 'grüße '.repeat(1000)
  const codings: Record<string, Buffer> = {
    gzip: gzipSync(text),
    'x-gzip': gzipSync(text),
    deflate: deflateSync(text),
    'deflate, raw': deflateRawSync(text),
    br: brotliCompressSync(text),
    'gzip, br': brotliCompressSync(gzipSync(text)),
    identity: Buffer.from(text),
    unknown: Buffer.from(text),
  }
  await using server = await listen((request, response) => {
    const coding = decodeURIComponent(request.url?.slice(1) ?? '')
    response.writeHead(200, { 'content-encoding': coding.replace(', raw', '') }).end(codings[coding])
  })
  for (const coding of Object.keys(codings)) {
    const response = await guarded.fetch(url(server.port, `/${encodeURIComponent(coding)}`))
    expect(await response.text(), coding).toBe(text)
  }
  expect(server.sockets).toHaveLength(1)
})

async function drain(response: Response): Promise<number> {
  let bytes = 0
  for await (const chunk of response.body ?? []) bytes += chunk.length
  return bytes
}
