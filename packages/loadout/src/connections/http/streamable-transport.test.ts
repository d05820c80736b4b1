/** A call by the short way and by the SDK's own: whatever the server answers, both must come to the same. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { listen, names } from '../../../../../test/loopback.ts'
import { provenWithin } from '../../../../../test/prove/work.ts'
import type { JsonObject } from '../../schema/json.ts'
import type { RemoteServer } from '../../schema/toolkit/server.ts'
import type { Connection, EraVerdict } from '../connection.ts'
import { createGuardedFetch, type GuardedFetch, type GuardOptions } from './guard/guarded-fetch.ts'
import { httpConnections } from './http.ts'

interface Call {
  id: number
  params: { name: string; _meta: { progressToken: number } }
}
type Answer = (call: Call, response: ServerResponse, request: IncomingMessage) => unknown

const open: GuardedFetch[] = []
afterEach(async () => {
  for (const guarded of open.splice(0)) await guarded.close()
})

const INFO = { capabilities: { tools: { listChanged: true } }, serverInfo: { name: 'test', version: '1' } }
const MODERN = { resultType: 'complete', supportedVersions: ['2026-07-28'], ...INFO, ttlMs: 0, cacheScope: 'private' }
const VERDICTS: Record<string, EraVerdict> = { legacy: { era: 'legacy' }, modern: { era: 'modern', discover: MODERN } }

const resultOf = ({ id }: Call, text = 'grüße') =>
  JSON.stringify({ jsonrpc: '2.0', id, result: { resultType: 'complete', content: [{ type: 'text', text }] } })
const json = (response: ServerResponse, body: string | Buffer, headers = {}) =>
  response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(body)
const events = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' })
const progress = ({ params }: Call, count: number) =>
  `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params: { ...params._meta, progress: count } })}\n\n`

/** A server that completes the handshake and answers each call with `answer`. */
const serve = (answer: Answer, sent: IncomingMessage[]) =>
  listen(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString()
    if (request.method !== 'POST' && request.headers['last-event-id'] === undefined)
      return response.writeHead(405).end()
    const message = body === '' ? {} : JSON.parse(body)
    if (message.method === 'initialize') {
      const result = { protocolVersion: '2025-11-25', ...INFO }
      return json(response, JSON.stringify({ jsonrpc: '2.0', id: message.id, result }), { 'mcp-session-id': 's1' })
    }
    if (message.id === undefined && request.method === 'POST') return response.writeHead(202).end()
    if (message.method === 'subscriptions/listen') {
      const error = { code: -32_601, message: 'Nobody listens here.' }
      return json(response, JSON.stringify({ jsonrpc: '2.0', id: message.id, error }))
    }
    sent.push(request)
    await answer(message, response, request)
  })

interface Setting {
  era?: 'legacy' | 'modern'
  guard?: GuardOptions
  auth?: RemoteServer['auth']
  timeoutMs?: number
  /** The tool's name. */
  tool?: string
  during?: (call: RunningCall) => Promise<unknown>
}

interface RunningCall {
  connection: Connection
  abort: AbortController
  sent: IncomingMessage[]
  /** Progress that the client received. */
  progress: number[]
}

/** What a call comes to: by the short way, and without it. */
async function bothWays(answer: Answer, setting: Setting = {}) {
  return [await call(answer, setting, true), await call(answer, setting, false)] as const
}

async function call(answer: Answer, setting: Setting, short: boolean) {
  const { era = 'legacy', guard, auth = { type: 'none' }, timeoutMs = 60_000, tool = 'echo', during } = setting
  const sent: IncomingMessage[] = []
  await using server = await serve(answer, sent)
  const guarded = createGuardedFetch({ privateNetwork: true, ...guard })
  open.push(guarded)
  const events = { progress: [] as number[], changed: 0, lines: 0 }
  const preparePost: GuardedFetch['preparePost'] = (...args) => {
    events.lines++
    return guarded.preparePost(...args)
  }
  const connect = httpConnections({ fetch: guarded.fetch, ...(short ? { preparePost } : {}), clientVersion: '1' })
  const url = `http://127.0.0.1:${server.port}/mcp`
  const connection = await connect(
    { server: { type: 'http', url, headers: {}, auth }, connectMs: 60_000, verdict: VERDICTS[era] },
    { onListChanged: () => void events.changed++, onClosed() {}, onElicitation: async () => ({ action: 'decline' }) },
  )
  const abort = new AbortController()
  const outcome = connection
    .callTool(
      { name: tool, arguments: {} },
      {
        timeoutMs,
        totalMs: 60_000,
        signal: abort.signal,
        onProgress: (step) => void events.progress.push(step.progress),
      },
    )
    .then(
      ({ content }) => (content[0] as JsonObject).text,
      (error) => ({ code: error.code, retryAfterMs: error.retryAfterMs }),
    )
  await during?.({ connection, abort, sent, progress: events.progress })
  const came = await outcome
  await connection.close()
  return { came, events, sent, headers: sent.map(({ headers }) => headers) }
}

const plain = ({ came, events, sent }: Awaited<ReturnType<typeof call>>) => ({
  came,
  progress: events.progress.at(-1),
  changed: events.changed,
  sent: sent.map(({ method, url }) => `${method} ${url}`),
})

const OK = 'grüße'
const failed = (code: string) => ({ code, retryAfterMs: undefined })
const CASES: Record<string, { answer: Answer; came: unknown; sent?: string[]; setting?: Setting }> = {
  JSON: { answer: (message, response) => json(response, resultOf(message)), came: OK },
  'JSON with a byte order mark': {
    answer: (message, response) => json(response, `\uFEFF${resultOf(message)}`),
    came: OK,
  },
  'compressed JSON': {
    answer: (message, response) => json(response, gzipSync(resultOf(message)), { 'content-encoding': 'gzip' }),
    came: OK,
  },
  'a list of messages': { answer: (message, response) => json(response, `[${resultOf(message)}]`), came: OK },
  'a result with _meta': {
    answer: (message, response) => json(response, resultOf(message).replace('"content"', '"_meta":{"x":1},"content"')),
    came: OK,
  },
  'an error of the protocol': {
    answer: ({ id }, response) =>
      json(response, JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_602, message: 'no' } })),
    came: failed('refused-by-server'),
  },
  'a stream with line ends of all kinds, and a character cut in two': {
    async answer(message, response) {
      const bytes = Buffer.from(`: hello\r\rdata: nonsense\r\n\r\nevent: message\r\ndata: ${resultOf(message)}\r\n\r\n`)
      const cut = bytes.indexOf(Buffer.from('ü')) + 1
      events(response).write(bytes.subarray(0, cut))
      await sleep(20)
      response.write(bytes.subarray(cut))
      await sleep(20)
      response.end('data: after the answer\n\n')
    },
    came: OK,
  },
  'events of other kinds': {
    answer: (message, response) => events(response).end(`event: ping\ndata: {}\n\ndata: ${resultOf(message)}\n\n`),
    came: OK,
  },
  'JSON beyond the limit': {
    answer: (message, response) => json(response, resultOf(message, 'x'.repeat(5000))),
    came: failed('response-too-large'),
    setting: { guard: { maxResponseBytes: 1000 } },
  },
  'compressed JSON beyond the limit': {
    answer: (message, response) =>
      json(response, gzipSync(resultOf(message, 'x'.repeat(5000))), { 'content-encoding': 'gzip' }),
    came: failed('response-too-large'),
    setting: { guard: { maxResponseBytes: 1000 } },
  },
  'an event beyond the limit': {
    answer: (message, response) => events(response).end(`data: ${resultOf(message, 'x'.repeat(5000))}\n\n`),
    came: failed('response-too-large'),
    setting: { guard: { maxResponseBytes: 1000 } },
  },
  'many events that are each below the limit': {
    answer: (message, response) => events(response).end(`${': x\n\n'.repeat(1000)}data: ${resultOf(message)}\n\n`),
    came: OK,
    setting: { guard: { maxResponseBytes: 1000 } },
  },
  'a stream that ends without the answer': {
    answer: (message, response) => events(response).end(progress(message, 1)),
    came: failed('session-lost'),
  },
  'a stream that breaks off': {
    answer(message, response) {
      events(response).write(progress(message, 1))
      setTimeout(() => response.destroy(), 20)
    },
    came: failed('session-lost'),
  },
  'JSON that breaks off': {
    answer(_, response) {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 }).write('{"jsonrpc"')
      setTimeout(() => response.destroy(), 20)
    },
    came: failed('server-unreachable'),
  },
  'no answer but a closed connection': {
    answer: (_, response) => void response.destroy(),
    came: failed('server-unreachable'),
  },
  'what is no JSON': { answer: (_, response) => json(response, 'hello'), came: failed('protocol-error') },
  'JSON that is no message': { answer: (_, response) => json(response, '{"a":1}'), came: failed('server-unreachable') },
  'nothing in JSON': { answer: (_, response) => json(response, ''), came: failed('protocol-error') },
  'a page': {
    answer: (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Hello'),
    came: failed('protocol-error'),
  },
  'two content types': {
    answer: (message, response) =>
      json(response, resultOf(message), { 'content-type': ['application/json', 'text/html'] }),
    came: failed('protocol-error'),
  },
  'a 202': {
    answer: (_, response) => response.writeHead(202).end(),
    came: failed('server-timeout'),
    setting: { timeoutMs: 200 },
  },
  'a 401': { answer: (_, response) => response.writeHead(401).end(), came: failed('sign-in-needed') },
  'a 404': { answer: (_, response) => response.writeHead(404).end('gone'), came: failed('session-lost') },
  'a 429': {
    answer: (_, response) => response.writeHead(429, { 'retry-after': '7' }).end(),
    came: { code: 'rate-limited', retryAfterMs: 7000 },
  },
  'a 503': { answer: (_, response) => response.writeHead(503).end(), came: failed('server-unreachable') },
  'a redirect on the same origin': {
    answer: (message, response, { url }) =>
      url === '/mcp' ? response.writeHead(307, { location: '/v2' }).end() : json(response, resultOf(message)),
    came: OK,
    sent: ['POST /mcp', 'POST /v2'],
  },
  'a stream that is resumed': {
    answer: (message, response, { method, headers }) =>
      method === 'GET'
        ? events(response).end(`data: ${resultOf({ ...message, id: Number(headers['last-event-id']) })}\n\n`)
        : events(response).end(`id: ${message.id}\nretry: 30\ndata:\n\n${progress(message, 1)}`),
    came: OK,
    sent: ['POST /mcp', 'GET /mcp'],
  },
}

describe('fast-path parity with the SDK', () => {
  for (const [name, { answer, came, sent = ['POST /mcp'], setting }] of Object.entries(CASES))
    for (const era of ['legacy', 'modern'] as const)
      it(`covers ${name} (${era})`, async () => {
        // None but a 202 ends by a timeout: its code would be another.
        const [short, long] = await provenWithin(8000, () => bothWays(answer, { ...setting, era }))
        expect(plain(short)).toEqual(plain(long))
        expect(plain(short)).toMatchObject({ came, sent })
        expect([short.events.lines, long.events.lines]).toEqual([1, 0])
      })

  it('covers headers, including secrets', async () => {
    for (const era of ['legacy', 'modern'] as const) {
      const auth = { type: 'headers' as const, headers: { 'X-Key': 'k', Accept: 'text/html', Te: 'x' } }
      const [short, long] = await bothWays((message, response) => json(response, resultOf(message)), { era, auth })
      const comparable = ({ headers: [first] }: typeof short) => ({ ...first, host: '' })
      expect(comparable(short)).toEqual(comparable(long))
      expect(comparable(short)).toMatchObject({ 'x-key': 'k', accept: 'application/json, text/event-stream' })
      if (era === 'modern') expect(comparable(short)).toMatchObject({ 'mcp-method': 'tools/call', 'mcp-name': 'echo' })
      else expect(comparable(short)).toMatchObject({ 'mcp-session-id': 's1', 'mcp-protocol-version': '2025-11-25' })
    }
  })

  it('covers tool names that a header cannot hold', async () => {
    const answer: Answer = (message, response) => json(response, resultOf(message))
    const [short, long] = await bothWays(answer, { era: 'modern', tool: 'größe\r\nx-evil: 1' })
    expect(short.headers[0]?.['mcp-name']).toBe(long.headers[0]?.['mcp-name'])
    expect(short.headers[0]).not.toHaveProperty('x-evil')
    expect(short.came).toBe(OK)
  })

  it('covers progress and notifications before the answer', async () => {
    for (const era of ['legacy', 'modern'] as const) {
      const answer: Answer = async (message, response) => {
        events(response).write(progress(message, 1))
        if (era === 'legacy') response.write('data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n')
        await sleep(250)
        response.end(`${progress(message, 2)}data: ${resultOf(message)}\n\n`)
      }
      const [short, long] = await bothWays(answer, { era })
      for (const { came, events } of [short, long]) {
        expect(came).toBe(OK)
        expect(events.progress).toEqual([1, 2])
        expect(events.changed).toBe(era === 'legacy' ? 1 : 0)
      }
    }
  })
})

describe('a fast-path call', () => {
  const answers = async ({ progress }: RunningCall) => void (await expect.poll(() => progress).toEqual([1]))
  const arrives = async ({ sent }: RunningCall) => void (await expect.poll(() => sent.length).toBe(1))
  for (const era of ['legacy', 'modern'] as const)
    for (const hasStarted of [true, false])
      it(`that is cancelled is also cancelled on the wire (${era}, ${hasStarted ? 'in its answer' : 'before it'})`, async () => {
        let gone = 0
        const answer: Answer = (message, response) => {
          response.on('close', () => void gone++)
          if (hasStarted) events(response).write(progress(message, 1))
        }
        const during = async (running: RunningCall) => {
          await (hasStarted ? answers(running) : arrives(running))
          running.abort.abort()
        }
        const { came } = await call(answer, { era, during }, true)
        expect(came).toEqual(failed('cancelled'))
        await expect.poll(() => gone).toBe(1)
      })

  it('fails when its connection closes', async () => {
    let gone = 0
    const answer: Answer = (message, response) => {
      response.on('close', () => void gone++)
      events(response).write(progress(message, 1))
    }
    const closing = async (running: RunningCall) => {
      await answers(running)
      await running.connection.close()
    }
    expect((await call(answer, { during: closing }, true)).came).toEqual(failed('session-lost'))
    await expect.poll(() => gone).toBe(1)
  })

  it('sends no secret to another origin', async () => {
    await using other = await listen((_, response) => response.end())
    const answer: Answer = (_, response) =>
      response.writeHead(307, { location: `http://127.0.0.1:${other.port}/` }).end()
    const auth = { type: 'bearer' as const, token: 'secret' }
    const [short, long] = await bothWays(answer, { auth })
    expect(plain(short)).toEqual(plain(long))
    expect(short.headers[0]).toMatchObject({ authorization: 'Bearer secret' })
    expect(other.requests).toEqual([])
  })

  it('is checked by the address guard, by URL and by address', async () => {
    const { lookup } = names({ 'inside.example': '127.0.0.1' })
    const guarded = createGuardedFetch({ lookup })
    open.push(guarded)
    const headers = new Headers()
    expect(() => guarded.preparePost(new URL('http://127.0.0.1/'), headers)).toThrowError(
      expect.objectContaining({ code: 'address-blocked' }),
    )
    await using server = await listen((_, response) => response.end())
    const line = guarded.preparePost(new URL(`http://inside.example:${server.port}/`), headers)
    const failure = await new Promise<unknown>((resolve) => {
      const never = () => resolve(undefined)
      const reader = { onJson: never, onEvent: never, onStreamEnd: never, onOther: never, onDone() {} }
      line({ body: '{}', headers: [] }, { ...reader, onFailure: resolve })
    })
    expect(failure).toMatchObject({ code: 'address-blocked' })
    expect(server.requests).toEqual([])
  })
})

it('the fast path fails a call whose event stream floods it with unknown fields', async () => {
  const { came } = await call((_, response) => events(response).write('x\n'.repeat(60_000)), {}, true)
  expect(came).toEqual(failed('protocol-error'))
})
