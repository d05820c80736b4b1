import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { codeOf, listen, names } from '../../../../test/loopback.ts'
import { HostError } from '../errors.ts'
import { createGuardedFetch, type GuardedFetch, type GuardOptions } from './guarded-fetch.ts'

const open: GuardedFetch[] = []
afterEach(async () => {
  for (const guarded of open.splice(0)) await guarded.close()
})
function local(options: GuardOptions = {}) {
  const guarded = createGuardedFetch({ privateNetwork: true, connectTimeoutMs: 1000, ...options })
  open.push(guarded)
  return guarded.fetch
}

/** A server that answers each connection as the test says. */
async function raw(onSocket: (socket: Socket, index: number) => void) {
  let count = 0
  const server: Server = createServer((socket) => {
    socket.on('error', () => {})
    onSocket(socket, count++)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  return { url: `http://127.0.0.1:${port}/`, connections: () => count, [Symbol.dispose]: () => server.close() }
}
async function chunksOf<T>(stream: ReadableStream<T> | null | undefined): Promise<T[]> {
  const chunks: T[] = []
  for await (const chunk of stream ?? []) chunks.push(chunk)
  return chunks
}
const ANSWER = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

describe('requests and answers', () => {
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
  })

  it('a caller has no say in the headers of the connection', async () => {
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

  it('passes for a Response', async () => {
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

  it('decodes text of a stream across chunks', async () => {
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

describe('abort', () => {
  it('before, during the wait and in the body: with the reason, and the connection is closed', async () => {
    await using server = await listen((request, response) => {
      if (request.url === '/body') response.writeHead(200).write('part')
    })
    const fetch = local()
    const url = `http://127.0.0.1:${server.port}`
    await expect(fetch(url, { signal: AbortSignal.abort() })).rejects.toMatchObject({ name: 'AbortError' })
    expect(server.sockets).toHaveLength(0)

    const waiting = new AbortController()
    const never = fetch(`${url}/never`, { signal: waiting.signal, method: 'POST', body: 'x' })
    setTimeout(() => waiting.abort(), 30)
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
    await expect(fetch(`${url}/never`, { signal: AbortSignal.timeout(20) })).rejects.toMatchObject({
      name: 'TimeoutError',
    })
    await sleep(30)
    expect(server.sockets.every((socket) => socket.destroyed)).toBe(true)
  })

  it('cancelling a body closes its connection', async () => {
    await using server = await listen((_, response) => response.writeHead(200).write('part'))
    const response = await local()(`http://127.0.0.1:${server.port}/`)
    await response.body?.cancel()
    await sleep(30)
    expect(server.sockets[0]?.destroyed).toBe(true)
  })
})

describe('kept connections', () => {
  it('are used again, also after an answer that nobody read', async () => {
    await using server = await listen((_, response) => response.end('{"a":1}'))
    const fetch = local()
    const signal = new AbortController().signal
    for (let i = 0; i < 20; i++) {
      const response = await fetch(`http://127.0.0.1:${server.port}/`, { method: 'POST', body: 'x', signal })
      if (i % 2) expect(await response.json()).toEqual({ a: 1 })
      else await sleep(5)
    }
    expect(server.requests).toHaveLength(20)
    expect(server.sockets).toHaveLength(1)
  })

  it('are at most as many as allowed', async () => {
    await using server = await listen((_, response) => setTimeout(() => response.end('ok'), 10))
    const fetch = local({ maxSocketsPerHost: 3 })
    const all = Array.from({ length: 12 }, () => fetch(`http://127.0.0.1:${server.port}/`).then((r) => r.text()))
    expect(await Promise.all(all)).toHaveLength(12)
    expect(server.sockets).toHaveLength(3)
  })

  /** Answers the first request of the first connection, and resets it at the second. */
  const stale = () =>
    raw((socket, index) => {
      let requests = 0
      socket.on('data', () => {
        if (index === 0 && ++requests > 1) socket.resetAndDestroy()
        else socket.write(ANSWER)
      })
    })

  it('that are gone are replaced once for what may be done twice', async () => {
    for (const init of [{}, { method: 'DELETE' }, { method: 'POST', body: 'x', headers: { 'idempotency-key': '1' } }]) {
      using server = await stale()
      const fetch = local()
      await (await fetch(server.url)).text()
      await sleep(5)
      expect(await (await fetch(server.url, init)).text()).toBe('ok')
      expect(server.connections()).toBe(2)
    }
  })

  it('that are gone fail a POST that was sent: it may have been carried out', async () => {
    using server = await stale()
    const fetch = local()
    await (await fetch(server.url)).text()
    await sleep(5)
    expect(await codeOf(fetch(server.url, { method: 'POST', body: 'x' }))).toBe('server-unreachable')
    expect(server.connections()).toBe(1)
  })

  it('a new connection that is reset is not tried again', async () => {
    using server = await raw((socket) => socket.once('data', () => socket.resetAndDestroy()))
    expect(await codeOf(local()(server.url))).toBe('server-unreachable')
    expect(server.connections()).toBe(1)
  })

  it('end with close, as does what is under way', async () => {
    await using server = await listen((request, response) => {
      if (request.url !== '/never') response.end('ok')
    })
    const guarded = createGuardedFetch({ privateNetwork: true })
    const url = `http://127.0.0.1:${server.port}`
    await (await guarded.fetch(url)).text()
    const waiting = codeOf(guarded.fetch(`${url}/never`))
    await sleep(20)
    await guarded.close()
    expect(await waiting).toBe('shutting-down')
    expect(await codeOf(guarded.fetch(url))).toBe('shutting-down')
    await sleep(20)
    expect(server.sockets.every((socket) => socket.destroyed)).toBe(true)
  })
})

describe('failures say what happened, and nothing secret', () => {
  async function failure(promise: Promise<unknown>): Promise<HostError> {
    const error = await promise.then(
      () => undefined,
      (thrown) => thrown,
    )
    expect(HostError.is(error)).toBe(true)
    return error as HostError
  }

  it('refused, unknown name, reset, cut off, not HTTP, damaged', async () => {
    const fetch = local({ lookup: names({}).lookup })
    using closed = await raw(() => {})
    closed[Symbol.dispose]()
    await sleep(5)
    const refused = await failure(fetch(`${closed.url}secret-path?token=secret`))
    expect(refused).toMatchObject({ code: 'server-unreachable', message: expect.stringContaining('refused') })
    expect(`${refused.message} ${refused.action}`).not.toContain('secret')
    expect((await failure(fetch('http://unknown.test/?token=secret'))).message).toBe(
      'http://unknown.test: DNS does not know the name.',
    )

    using cut = await raw((socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\npart')
        setTimeout(() => socket.resetAndDestroy(), 20)
      })
    })
    for (const read of [(r: Response) => r.text(), (r: Response) => chunksOf(r.body)]) {
      const error = await failure(read(await fetch(cut.url)))
      expect(error).toMatchObject({ code: 'server-unreachable', message: expect.stringContaining('reset') })
    }
    using other = await raw((socket) => socket.once('data', () => socket.end('SSH-2.0-OpenSSH\r\n')))
    expect(await failure(fetch(other.url))).toMatchObject({ code: 'protocol-error' })
    using damaged = await raw((socket) =>
      socket.once('data', () =>
        socket.end('HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\nconnection: close\r\n\r\nnot gzip'),
      ),
    )
    const response = await fetch(damaged.url)
    expect(await failure(response.text())).toMatchObject({ code: 'protocol-error' })
  })

  it('a name or a handshake that takes too long is a timeout', async () => {
    const fetch = local({ connectTimeoutMs: 50, lookup: () => new Promise(() => {}) })
    expect(await failure(fetch('http://slow.test/'))).toMatchObject({ code: 'server-timeout' })
    using silent = await raw(() => {})
    expect(await failure(fetch(silent.url.replace('http:', 'https:')))).toMatchObject({ code: 'server-timeout' })
  })

  it('a login or error page is passed on as it is', async () => {
    await using server = await listen((_, response) =>
      response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>'),
    )
    const response = await local()(`http://127.0.0.1:${server.port}/`)
    expect([response.ok, response.status, await response.text()]).toEqual([false, 502, '<h1>Bad gateway</h1>'])
  })
})
