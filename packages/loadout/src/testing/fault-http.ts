/** The fault server over HTTP, with faults of its own: statuses, bodies that lie, streams that end too soon. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createGzip } from 'node:zlib'
import { type FaultIo, type FaultScript, FaultServer, type Message } from './fault-script.ts'

export interface HttpFaults extends FaultScript {
  /** What happens at a method, before JSON-RPC is looked at. */
  http?: Record<string, HttpFault>
  /** Answers by a stream of events instead of JSON. */
  sse?: boolean
  /** Gives a session id, and forgets it after so many requests. */
  forgetAfter?: number
}

export type HttpFault =
  | { status: number; headers?: Record<string, string>; body?: string }
  | 'reset'
  | 'stream-ends'
  | 'big-json'
  | 'gzip-bomb'
  | 'endless-event'
  | 'drip'

export interface HttpFaultServer {
  url: string
  server: FaultServer
  requests: Array<{ method: string; rpc?: string; headers: IncomingMessage['headers'] }>
  /** How many requests of a method are still open. */
  open(rpc: string): number
  close(): Promise<void>
}

const MB = 1024 * 1024

export async function startFaultServer(script: HttpFaults): Promise<HttpFaultServer> {
  const server = new FaultServer(script)
  const requests: HttpFaultServer['requests'] = []
  const open: string[] = []
  let sinceSession = 0
  const http: Server = createServer(async (request, response) => {
    response.on('error', () => {})
    if (request.method !== 'POST') {
      requests.push({ method: request.method ?? '', headers: request.headers })
      const fault = script.http?.[request.method ?? '']
      if (fault) return misbehave(fault, response)
      return void response.writeHead(request.method === 'GET' ? 405 : 200).end()
    }
    const message = JSON.parse(await read(request)) as Message
    requests.push({ method: 'POST', ...(message.method ? { rpc: message.method } : {}), headers: request.headers })
    if (message.method !== undefined) {
      const { method } = message
      open.push(method)
      response.on('close', () => open.splice(open.indexOf(method), 1))
    }
    const fault = message.method === undefined ? undefined : script.http?.[message.method]
    if (fault && !spent(script, requests, message.method)) return misbehave(fault, response)
    if (script.forgetAfter !== undefined) {
      if (message.method === 'initialize') {
        sinceSession = 0
        response.setHeader('mcp-session-id', `s-${requests.length}`)
      } else if (++sinceSession > script.forgetAfter) return void response.writeHead(404).end()
    }
    if (message.id === undefined) return void response.writeHead(202).end()
    await answer(server, message, { response, sse: script.sse === true })
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const { port } = http.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    server,
    requests,
    open: (rpc) => open.filter((method) => method === rpc).length,
    close: () =>
      new Promise((resolve) => {
        http.close(() => resolve())
        http.closeAllConnections()
      }),
  }
}

function spent({ times }: HttpFaults, requests: HttpFaultServer['requests'], rpc: string | undefined): boolean {
  return times !== undefined && requests.filter((request) => request.rpc === rpc).length > times
}

async function answer(
  server: FaultServer,
  message: Message,
  { response, sse }: { response: ServerResponse; sse: boolean },
): Promise<void> {
  response.writeHead(200, { 'content-type': sse ? 'text/event-stream' : 'application/json' })
  // A client waits for the head of a stream, not for its first event.
  if (sse) response.flushHeaders()
  const lines: string[] = []
  let answered = false
  const io: FaultIo = {
    send(body) {
      answered ||= 'result' in body || 'error' in body
      if (sse) response.write(`data: ${JSON.stringify(body)}\n\n`)
      else lines.push(JSON.stringify(body))
    },
    raw: (text) => void lines.push(text),
    bytes: (count) => void response.write('x'.repeat(count)),
    exit: () => void response.destroy(),
  }
  await server.handle(message, io)
  if (response.destroyed) return
  // A request that hangs keeps its stream open.
  if (answered || lines.length > 0) response.end(lines.at(-1) ?? '')
}

function misbehave(fault: HttpFault, response: ServerResponse): void {
  if (typeof fault === 'object') response.writeHead(fault.status, fault.headers).end(fault.body ?? '')
  else MISBEHAVIOUR[fault](response)
}

const MISBEHAVIOUR: Record<Extract<HttpFault, string>, (response: ServerResponse) => void> = {
  reset(response) {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
    response.write('{"jsonrpc":')
    setTimeout(() => response.destroy(), 20)
  },
  'stream-ends'(response) {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(': nothing\n\n')
  },
  'big-json': (response) => pour(response, { 'content-type': 'application/json' }),
  'endless-event': (response) => pour(response, { 'content-type': 'text/event-stream' }),
  'gzip-bomb'(response) {
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
    const gzip = createGzip()
    gzip.pipe(response)
    pourInto(gzip, 400)
  },
  drip(response) {
    response.writeHead(200, { 'content-type': 'application/json' })
    const timer = setInterval(() => response.write(' '), 200)
    response.on('close', () => clearInterval(timer))
  },
}

function pour(response: ServerResponse, headers: Record<string, string>): void {
  response.writeHead(200, headers)
  response.write(headers['content-type'] === 'text/event-stream' ? 'data: "' : '{"a":"')
  pourInto(response, 400)
}

function pourInto(stream: NodeJS.WritableStream, megabytes: number): void {
  const block = Buffer.alloc(MB, 0x78)
  let left = megabytes
  const write = () => {
    while (left-- > 0) if (!stream.write(block)) return void stream.once('drain', write)
    stream.end()
  }
  stream.on('error', () => {})
  write()
}

async function read(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += chunk
  return text
}
