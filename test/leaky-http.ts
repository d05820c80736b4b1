/** An HTTP server that misbehaves by path and returns the headers and the query of its requests. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { answerTo, outcomeOf, type RpcMessage, spell } from './leaky-server.ts'

export interface LeakyServer {
  url: string
  /** The bodies that were posted to a path. */
  bodies(path: string): string[]
  close(): Promise<void>
}

/** With `-late` only calls are answered in this way. */
const STATUSES: Record<string, (response: ServerResponse, known: string) => void> = {
  unauthorised(response, known) {
    const challenge = `Bearer realm="${known.replaceAll(/["\\]/g, '')}", error_description="${encodeURIComponent(known)}"`
    response.writeHead(401, { 'www-authenticate': challenge }).end(known)
  },
  broken: (response, known) => void response.writeHead(500, { 'x-debug': encodeURIComponent(known) }).end(known),
  moved: (response, known) =>
    void response.writeHead(302, { location: `http://127.0.0.1:1/?${encodeURIComponent(known)}` }).end(known),
  busy: (response, known) => void response.writeHead(429, { 'retry-after': known.slice(0, 20) }).end(known),
  garbled: (response, known) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end(`{"jsonrpc": ${known}`),
  streamed: (response, known) =>
    void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`data: ${known}\n\n`),
  html: (response, known) => void response.writeHead(200, { 'content-type': 'text/html' }).end(known),
}

export async function startLeakyServer(): Promise<LeakyServer> {
  const posted = new Map<string, string[]>()
  const http: Server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://server')
    const how = url.pathname.slice(1)
    const body = Buffer.concat(await request.toArray()).toString()
    posted.set(how, [...(posted.get(how) ?? []), body])
    if (request.method !== 'POST' || !body.startsWith('{')) return void response.writeHead(405).end()
    const message = JSON.parse(body) as RpcMessage
    const known = knownFrom(request, url)
    const status = STATUSES[how.replace('-late', '')]
    if (status && (!how.endsWith('-late') || message.method === 'tools/call')) return status(response, known)
    const output = how === 'quotes' ? JSON.stringify(message.params?.arguments) : known
    const answer = answerTo(message, () => outcomeOf(how, output))
    if (!answer) return void response.writeHead(202).end()
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    bodies: (path) => posted.get(path) ?? [],
    close: () =>
      new Promise((resolve) => {
        http.close(() => resolve())
        http.closeAllConnections()
      }),
  }
}

function knownFrom({ headers }: IncomingMessage, { searchParams }: URL): string {
  const sent = [headers.authorization, headers['x-key'], headers['x-note']].flatMap((value) => value ?? [])
  const [scheme, credentials = ''] = headers.authorization?.split(' ') ?? []
  const decoded = scheme === 'Basic' ? Buffer.from(credentials, 'base64').toString().split(':') : [credentials]
  return spell([...sent.map(String), ...decoded.filter((part) => part.length > 3), ...searchParams.values()])
}
