import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { chunksOf, listen, raw } from '../../../../../../test/loopback.ts'
import { createGuardedFetch, type GuardedFetch, type GuardOptions } from './guarded-fetch.ts'

const open: GuardedFetch[] = []
afterEach(async () => {
  for (const guarded of open.splice(0)) await guarded.close()
})
function local(options: GuardOptions = {}) {
  const guarded = createGuardedFetch({ privateNetwork: true, connectTimeoutMs: 60_000, ...options })
  open.push(guarded)
  return guarded.fetch
}

describe('guarded fetch', () => {
  it('sends every kind of body with its type and length', async () => {
    await using echo = await listen((request, response) => {
      request.pipe(response.setHeader('x-type', request.headers['content-type'] ?? '-'))
    })
    const fetch = local()
    const form = new FormData()
    form.set('a', '1')
    const bodies: [BodyInit, string, RegExp][] = [
      ['grüße', 'text/plain;charset=UTF-8', /^grüße$/],
      [new TextEncoder().encode('bytes'), '-', /^bytes$/],
      [new TextEncoder().encode('buffer').buffer, '-', /^buffer$/],
      [new URLSearchParams({ a: 'b c' }), 'application/x-www-form-urlencoded;charset=UTF-8', /^a=b\+c$/],
      [new Blob(['blob'], { type: 'x/y' }), 'x/y', /^blob$/],
      [new Blob(['stream']).stream(), '-', /^stream$/],
      [form, 'multipart/form-data', /name="a"\r\n\r\n1/],
    ]
    for (const [body, type, text] of bodies) {
      const response = await fetch(`http://127.0.0.1:${echo.port}/`, { method: 'post', body })
      expect(response.headers.get('x-type')).toContain(type)
      expect(await response.text()).toMatch(text)
    }
    expect(echo.requests.every(({ method }) => method === 'POST')).toBe(true)
    const echoed = await fetch(`http://127.0.0.1:${echo.port}/`, { method: 'POST', body: form })
    const headers = { 'content-type': echoed.headers.get('x-type') ?? '' }
    expect((await new Response(await echoed.arrayBuffer(), { headers }).formData()).get('a')).toBe('1')
  })

  it('ignores connection headers that the caller sets', async () => {
    await using server = await listen((_, response) => response.end())
    const headers = { host: 'evil.test', connection: 'close', 'transfer-encoding': 'chunked', 'x-mine': '1' }
    await local()(`http://127.0.0.1:${server.port}/`, { headers })
    expect(server.requests[0]?.headers).toMatchObject({
      host: `127.0.0.1:${server.port}`,
      connection: 'keep-alive',
      'x-mine': '1',
    })
    expect(server.requests[0]?.headers['transfer-encoding']).toBeUndefined()
  })

  it('returns a complete Response', async () => {
    await using server = await listen((request, response) => {
      if (request.url === '/none') response.writeHead(204).end()
      else
        response
          .writeHead(
            201,
            'Made',
            [
              ['set-cookie', 'a=1'],
              ['set-cookie', 'b=2'],
              ['content-type', 'text/html'],
            ].flat(),
          )
          .end('\uFEFF<p>é</p>')
    })
    const fetch = local()
    const url = `http://127.0.0.1:${server.port}/page#part`
    const response = await fetch(url)
    expect(response).toBeInstanceOf(Response)
    expect(response).toMatchObject({
      ok: true,
      status: 201,
      statusText: 'Made',
      redirected: false,
      bodyUsed: false,
      url: url.split('#')[0],
    })
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
    const copy = response.clone()
    expect(await response.text()).toBe('<p>é</p>')
    expect(response.bodyUsed).toBe(true)
    await expect(response.text()).rejects.toThrow(TypeError)
    expect((await copy.arrayBuffer()).byteLength).toBe(12)
    expect((await (await fetch(url)).blob()).type).toBe('text/html')
    await expect((await fetch(url)).json()).rejects.toThrow(SyntaxError)
    const streamed = await fetch(url)
    const chunks = await chunksOf(streamed.body)
    expect(Buffer.concat(chunks).length).toBe(12)
    expect(streamed.bodyUsed).toBe(true)
    await expect(streamed.text()).rejects.toThrow(TypeError)
    const none = await fetch(`http://127.0.0.1:${server.port}/none`)
    expect([none.body, await none.text()]).toEqual([null, ''])
    const head = await fetch(url, { method: 'HEAD' })
    expect([head.status, head.body]).toEqual([201, null])
  })

  it('decodes stream text across chunks', async () => {
    const bytes = Buffer.from('data: grüße ✓\n\n')
    using server = await raw(async (socket) => {
      await once(socket, 'data')
      socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n')
      for (const byte of bytes) {
        socket.write(Buffer.of(byte))
        await sleep(1)
      }
      socket.end()
    })
    const { body } = await local()(server.url)
    const parts = await chunksOf(
      body?.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array<ArrayBuffer>>),
    )
    expect(parts.join('')).toBe(bytes.toString())
    expect(body?.locked).toBe(true)
  })
})

describe('aborting a guarded fetch', () => {
  it('before, while waiting or in the body rejects with the reason and closes the connection', async () => {
    await using server = await listen((request, response) => {
      if (request.url === '/body') response.writeHead(200).write('part')
    })
    const fetch = local()
    const url = `http://127.0.0.1:${server.port}`
    await expect(fetch(url, { signal: AbortSignal.abort() })).rejects.toMatchObject({ name: 'AbortError' })
    expect(server.sockets).toHaveLength(0)

    const waiting = new AbortController()
    const never = fetch(`${url}/never`, { signal: waiting.signal, method: 'POST', body: 'x' })
    await expect.poll(() => server.requests.length).toBe(1)
    waiting.abort()
    await expect(never).rejects.toMatchObject({ name: 'AbortError' })

    const reason = new Error('mine')
    const reading = new AbortController()
    const text = (await fetch(`${url}/body`, { signal: reading.signal })).text()
    setTimeout(() => reading.abort(reason), 30)
    await expect(text).rejects.toBe(reason)

    const streaming = new AbortController()
    const reader = (await fetch(`${url}/body`, { signal: streaming.signal })).body?.getReader()
    await reader?.read()
    const next = reader?.read()
    streaming.abort()
    await expect(next).rejects.toMatchObject({ name: 'AbortError' })

    const controller = new AbortController()
    const response = await fetch(`${url}/body`, { signal: controller.signal })
    await sleep(20)
    controller.abort()
    await expect(response.body?.getReader().read()).rejects.toMatchObject({ name: 'AbortError' })
    await expect(fetch(`${url}/never`, { signal: AbortSignal.timeout(20) })).rejects.toMatchObject({
      name: 'TimeoutError',
    })
    await expect.poll(() => server.sockets.every((socket) => socket.destroyed)).toBe(true)
  })

  it('by cancelling a body closes its connection', async () => {
    await using server = await listen((_, response) => response.writeHead(200).write('part'))
    const response = await local()(`http://127.0.0.1:${server.port}/`)
    await response.body?.cancel()
    await expect.poll(() => server.sockets[0]?.destroyed).toBe(true)
  })
})
