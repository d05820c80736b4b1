import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { chunksOf, codeOf, listen, names, raw } from '../../../../../../test/loopback.ts'
import { HostError } from '../../../errors.ts'
import { createGuardedFetch, type GuardedFetch, type GuardOptions } from '../guard/guarded-fetch.ts'

const open: GuardedFetch[] = []
afterEach(async () => {
  for (const guarded of open.splice(0)) await guarded.close()
})
function local(options: GuardOptions = {}) {
  const guarded = createGuardedFetch({ privateNetwork: true, connectTimeoutMs: 60_000, ...options })
  open.push(guarded)
  return guarded.fetch
}

/** The client returns a connection to its pool within a few turns of the event loop after it read the answer. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await nextTurn()
}

const ANSWER = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

describe('keep-alive connections', () => {
  it('are reused, even after an unread response', async () => {
    await using server = await listen((_, response) => response.end('{"a":1}'))
    const fetch = local()
    const signal = new AbortController().signal
    for (let i = 0; i < 20; i++) {
      const response = await fetch(`http://127.0.0.1:${server.port}/`, { method: 'POST', body: 'x', signal })
      if (i % 2) expect(await response.json()).toEqual({ a: 1 })
      else await turns()
    }
    expect(server.requests).toHaveLength(20)
    expect(server.sockets).toHaveLength(1)
  })

  it('wait for a slow response longer than the idle timeout', async () => {
    await using server = await listen((_, response) => setTimeout(() => response.end('late'), 4500))
    expect(await (await local()(`http://127.0.0.1:${server.port}/`)).text()).toBe('late')
  })

  it('are limited per host', async () => {
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

  it('that are stale are replaced once for idempotent requests', async () => {
    for (const init of [{}, { method: 'DELETE' }, { method: 'POST', body: 'x', headers: { 'idempotency-key': '1' } }]) {
      using server = await stale()
      const fetch = local()
      await (await fetch(server.url)).text()
      await turns()
      expect(await (await fetch(server.url, init)).text()).toBe('ok')
      expect(server.connections()).toBe(2)
    }
  })

  it('that are stale fail a POST that was sent because it may have run', async () => {
    using server = await stale()
    const fetch = local()
    await (await fetch(server.url)).text()
    await turns()
    expect(await codeOf(fetch(server.url, { method: 'POST', body: 'x' }))).toBe('server-unreachable')
    expect(server.connections()).toBe(1)
  })

  it('are not retried if a new connection is reset', async () => {
    using server = await raw((socket) => socket.once('data', () => socket.resetAndDestroy()))
    expect(await codeOf(local()(server.url))).toBe('server-unreachable')
    expect(server.connections()).toBe(1)
  })

  it('are closed by close, together with running requests', async () => {
    await using server = await listen((request, response) => {
      if (request.url !== '/never') response.end('ok')
    })
    const guarded = createGuardedFetch({ privateNetwork: true })
    const url = `http://127.0.0.1:${server.port}`
    await (await guarded.fetch(url)).text()
    const waiting = codeOf(guarded.fetch(`${url}/never`))
    await expect.poll(() => server.requests.length).toBe(2)
    await guarded.close()
    expect(await waiting).toBe('shutting-down')
    expect(await codeOf(guarded.fetch(url))).toBe('shutting-down')
    await expect.poll(() => server.sockets.every((socket) => socket.destroyed)).toBe(true)
  })
})

describe('fetch failures', () => {
  async function failure(promise: Promise<unknown>): Promise<HostError> {
    const error = await promise.then(
      () => undefined,
      (thrown) => thrown,
    )
    expect(HostError.is(error)).toBe(true)
    return error as HostError
  }

  it('report refusals, unknown names, resets, cuts and invalid HTTP without secrets', async () => {
    const fetch = local({ lookup: names({}).lookup })
    using closed = await raw(() => {})
    closed[Symbol.dispose]()
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
    using upgrading = await raw((socket) =>
      socket.once('data', () =>
        socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
      ),
    )
    expect(await failure(fetch(upgrading.url))).toMatchObject({ code: 'server-unreachable' })
    using damaged = await raw((socket) =>
      socket.once('data', () =>
        socket.end('HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\nconnection: close\r\n\r\nnot gzip'),
      ),
    )
    const response = await fetch(damaged.url)
    expect(await failure(response.text())).toMatchObject({ code: 'protocol-error' })
  })

  it('report a slow DNS lookup or handshake as a timeout', async () => {
    const fetch = local({ connectTimeoutMs: 50, lookup: () => new Promise(() => {}) })
    expect(await failure(fetch('http://slow.test/'))).toMatchObject({ code: 'server-timeout' })
    using silent = await raw(() => {})
    expect(await failure(fetch(silent.url.replace('http:', 'https:')))).toMatchObject({ code: 'server-timeout' })
  })

  it('do not include error pages, which are returned unchanged', async () => {
    await using server = await listen((_, response) =>
      response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>'),
    )
    const response = await local()(`http://127.0.0.1:${server.port}/`)
    expect([response.ok, response.status, await response.text()]).toEqual([false, 502, '<h1>Bad gateway</h1>'])
  })
})
