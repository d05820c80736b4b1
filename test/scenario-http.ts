/**
 * The server of our own scenarios over HTTP, in either era or over the old HTTP+SSE. It keeps every request that came, with
 * its headers, its message and its end; `fault` may answer in its place.
 */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  createMcpHandler,
  type JSONRPCMessage,
  type Transport,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { notifySession, type ScenarioState, scenarioServer } from './scenario-server.ts'

export type Kind = 'legacy' | 'modern' | 'sse'

export interface RpcMessage {
  id?: number | string
  method?: string
  params?: Record<string, unknown> & { _meta?: Record<string, unknown> }
  result?: unknown
}

export interface Seen {
  http: string
  path: string
  headers: IncomingHttpHeaders
  message?: RpcMessage
  /** Whether the client went away before its answer was complete. */
  aborted: boolean
  /** When it came. */
  at: number
}

/** Whether it answered. `nth` counts requests of this kind: of the RPC method, or of the HTTP one. */
export type Fault = (seen: Seen, response: ServerResponse, nth: number) => boolean

export interface HttpScenario {
  url: string
  seen: Seen[]
  notes: string[]
  /** Requests of an RPC method, or of an HTTP one. */
  of(method: string): Seen[]
  /** Ends every stream that is open; new ones are welcome. */
  dropStreams(): void
  close(): Promise<void>
}

type Listener = (request: IncomingMessage, response: ServerResponse, body: string) => Promise<void>

export async function startScenarioHttp(
  kind: Kind,
  { fault, pages }: { fault?: Fault; pages?: ScenarioState['pages'] } = {},
): Promise<HttpScenario> {
  const [seen, notes, open] = [[] as Seen[], [] as string[], new Set<ServerResponse>()]
  const state: ScenarioState = {
    note: (what) => void notes.push(what),
    grown: 0,
    tellChanged: notifySession,
    ...(pages ? { pages } : {}),
  }
  const listener = { legacy: withSessions, modern: eachAlone, sse: overSse }[kind](state)
  const of = (method: string) => seen.filter(({ http, message }) => message?.method === method || http === method)
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString()
    const { method: http = '', url: path = '', headers } = request
    const one: Seen = { http, path, headers, aborted: false, at: Date.now() }
    if (body.startsWith('{')) one.message = JSON.parse(body)
    seen.push(one)
    open.add(response)
    response.on('error', () => {})
    response.on('close', () => {
      open.delete(response)
      one.aborted = !response.writableFinished
    })
    if (fault?.(one, response, of(one.message?.method ?? one.http).length)) return
    await listener(request, response, body).catch((error) => response.destroy(error))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    seen,
    notes,
    of,
    dropStreams: () => void [...open].map((response) => response.end()),
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** The first era: sessions, each with a server of its own. */
function withSessions(state: ScenarioState): Listener {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>()
  return onNode(async (request) => {
    const id = request.headers.get('mcp-session-id')
    const known = sessions.get(id ?? '')
    if (known) return known.handleRequest(request)
    if (id !== null) return new Response(null, { status: 404 })
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (session) => void sessions.set(session, transport),
      onsessionclosed: (session) => void sessions.delete(session),
    })
    await scenarioServer(state).connect(transport)
    return transport.handleRequest(request)
  })
}

/** 2026-07-28: a server for each request, and streams of changes beside them. */
function eachAlone(state: ScenarioState): Listener {
  const handler = createMcpHandler(() => scenarioServer(state), { legacy: 'reject' })
  state.tellChanged = (_server, { times }) => {
    for (let i = 0; i < times; i++) handler.notify.toolsChanged()
  }
  return onNode((request) => handler.fetch(request))
}

function onNode(handle: (request: Request) => Promise<Response>): Listener {
  return async (incoming, outgoing, body) => {
    const gone = new AbortController()
    outgoing.on('close', () => gone.abort())
    const headers = new Headers(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]))
    const { method = 'GET', url } = incoming
    const init = { method, headers, signal: gone.signal, ...(body === '' ? {} : { body }) }
    const response = await handle(new Request(`http://${incoming.headers.host}${url}`, init))
    outgoing.writeHead(response.status, Object.fromEntries(response.headers))
    outgoing.flushHeaders()
    const reader = response.body?.getReader()
    outgoing.on('close', () => reader?.cancel().catch(() => {}))
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) outgoing.write(part.value)
    outgoing.end()
  }
}

/** The oldest way: one stream for all that the server says, and a POST for each message to it. */
function overSse(state: ScenarioState): Listener {
  const streams = new Map<string, OldTransport>()
  return async (request, response, body) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://server')
    if (request.method === 'GET') {
      const transport = new OldTransport(response)
      streams.set(transport.sessionId, transport)
      await scenarioServer(state).connect(transport)
      return
    }
    const stream = streams.get(searchParams.get('session') ?? '')
    if (pathname !== '/message' || !stream) return void response.writeHead(405, { allow: 'GET' }).end()
    response.writeHead(202).end()
    stream.onmessage?.(JSON.parse(body))
  }
}

class OldTransport implements Transport {
  readonly sessionId = crypto.randomUUID()
  onmessage?: (message: JSONRPCMessage) => void
  onclose?: () => void
  readonly #response: ServerResponse

  constructor(response: ServerResponse) {
    this.#response = response
    response.on('close', () => this.onclose?.())
  }

  async start(): Promise<void> {
    this.#response.writeHead(200, { 'content-type': 'text/event-stream' })
    this.#response.write(`event: endpoint\ndata: /message?session=${this.sessionId}\n\n`)
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.#response.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`)
  }

  async close(): Promise<void> {
    this.#response.end()
  }
}
