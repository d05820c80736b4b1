/** Serves MCP over Streamable HTTP on loopback. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { McpServerFactory } from '@modelcontextprotocol/server'
import type { Interference } from './faults.ts'
import { type Listener, type ListenOptions, loadSdk } from './listener.ts'

export async function listenOverHttp(factory: McpServerFactory, { onMessage }: ListenOptions): Promise<Listener> {
  const [{ createServer }, { createMcpHandler }] = await Promise.all([import('node:http'), loadSdk()])
  const handler = createMcpHandler(factory)
  const http = createServer(async (incoming, outgoing) => {
    outgoing.on('error', () => {})
    try {
      const body = Buffer.concat(await incoming.toArray())
      const message = parsed(body)
      const interference = message === undefined ? undefined : await onMessage(message)
      if (interference) return misbehave(outgoing, interference)
      await send(outgoing, await handler.fetch(requestOf(incoming, body)))
    } catch {
      // The client went away.
      outgoing.destroy()
    }
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  return {
    server: { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp` },
    async close() {
      http.closeAllConnections()
      await new Promise((resolve) => http.close(resolve))
    },
  }
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return undefined
  }
}

function requestOf(incoming: IncomingMessage, body: Buffer): Request {
  const headers = new Headers(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]))
  const method = incoming.method ?? 'GET'
  const url = `http://${incoming.headers.host}${incoming.url}`
  return new Request(url, body.length > 0 ? { method, headers, body: new Uint8Array(body) } : { method, headers })
}

async function send(outgoing: ServerResponse, response: Response): Promise<void> {
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  const reader = response.body?.getReader()
  outgoing.on('close', () => void reader?.cancel().catch(() => {}))
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) outgoing.write(part.value)
  outgoing.end()
}

function misbehave(outgoing: ServerResponse, interference: Interference): void {
  if (interference.type === 'silence') return
  if (interference.type === 'disconnect') return void outgoing.destroy()
  const { status, headers } = interference.type === 'status' ? interference : { status: 200, headers: {} }
  outgoing.writeHead(status, { 'content-type': 'application/json', ...headers })
  outgoing.end(JSON.stringify(interference.message))
}
