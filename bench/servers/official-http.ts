/** `node official-http.ts <legacy|modern> <json|sse>`; prints its URL. The old era with sessions. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createMcpHandler, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import { makeServer } from './official.ts'

const [era, form] = process.argv.slice(2)
const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>()
const modern = createMcpHandler(makeServer)

async function legacy(request: Request): Promise<Response> {
  const known = sessions.get(request.headers.get('mcp-session-id') ?? '')
  if (known) return known.handleRequest(request)
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: () => crypto.randomUUID(),
    enableJsonResponse: form === 'json',
    onsessioninitialized: (id) => void sessions.set(id, transport),
  })
  await makeServer().connect(transport)
  return transport.handleRequest(request)
}

async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const body = Buffer.concat(await incoming.toArray())
  const headers = new Headers(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]))
  const init = { method: incoming.method ?? 'GET', headers, ...(body.length > 0 ? { body } : {}) }
  const request = new Request(`http://${incoming.headers.host}${incoming.url}`, init)
  const response = await (era === 'modern' ? modern.fetch(request) : legacy(request))
  outgoing.writeHead(response.status, Object.fromEntries(response.headers)).flushHeaders()
  const reader = response.body?.getReader()
  outgoing.on('close', () => reader?.cancel().catch(() => {}))
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) outgoing.write(part.value)
  outgoing.end()
}

const server = createServer((incoming, outgoing) => void serve(incoming, outgoing))
server.keepAliveTimeout = 600_000
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`))
// Ends with the bench, also where that is killed.
process.stdin.on('end', () => process.exit()).resume()
