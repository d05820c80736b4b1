/** A server of the official SDK over HTTP whose tool answers 50 MB: `node large-server.ts` says its URL. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { largeRows } from './large-rows.ts'

const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'large', version: '1.0.0' })
  const annotations = { readOnlyHint: true }
  server.registerTool('rows', { inputSchema: z.object({ all: z.boolean() }), annotations }, async ({ all }) => {
    const rows = all ? largeRows() : []
    return { content: [{ type: 'text', text: `${rows.length} rows` }], structuredContent: { rows } }
  })
  return server
})
const http = createServer(async (incoming, outgoing) => {
  const body = Buffer.concat(await incoming.toArray())
  const headers = new Headers(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]))
  const init = { method: incoming.method ?? 'GET', headers, ...(body.length > 0 ? { body } : {}) }
  const response = await handler.fetch(new Request(`http://${incoming.headers.host}${incoming.url}`, init))
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  for await (const part of response.body ?? []) outgoing.write(part)
  outgoing.end()
})
http.listen(0, '127.0.0.1', () =>
  process.stdout.write(`http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp\n`),
)
