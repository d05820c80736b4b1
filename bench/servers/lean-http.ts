/** `node lean-http.ts <legacy|modern> <json|sse>`; prints its URL. The old era has sessions and a stream of its own. */
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { answer, type Era } from './lean.ts'

const [era, form] = process.argv.slice(2) as [Era, 'json' | 'sse']
const type = form === 'sse' ? 'text/event-stream' : 'application/json'

const server = createServer((request, response) => {
  if (request.method === 'GET' && era === 'legacy') {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    return
  }
  if (request.method !== 'POST') {
    response.writeHead(request.method === 'GET' ? 405 : 200).end()
    return
  }
  const parts: Buffer[] = []
  request.on('data', (part: Buffer) => parts.push(part))
  request.on('end', () => {
    const message = JSON.parse(Buffer.concat(parts).toString())
    const reply = answer(message, era)
    const session = message.method === 'initialize' ? { 'mcp-session-id': randomUUID() } : {}
    if (reply === undefined) response.writeHead(202).end()
    else
      response.writeHead(200, { 'content-type': type, ...session }).end(form === 'sse' ? `data: ${reply}\n\n` : reply)
  })
})
server.keepAliveTimeout = 600_000
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`))
// Ends with the bench, also where that is killed.
process.stdin.on('end', () => process.exit()).resume()
