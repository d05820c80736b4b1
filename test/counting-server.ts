/** A server of the official SDK over HTTP whose tools a test chooses and changes while it runs; it counts what reaches it. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'

export interface CountedTool {
  name: string
  description?: string
  inputSchema?: { type: 'object'; [key: string]: unknown }
  annotations?: Record<string, unknown>
}

export interface CountingServer {
  url: string
  /** What it lists from now on. */
  tools: CountedTool[]
  /** The calls that it got, in their order. */
  calls: Array<{ name: string; arguments: Record<string, unknown> }>
  /** Requests of every kind. */
  requests: number
  /** While it is set, every request is answered with this status. */
  refuses?: number
  /** What every request waits for. */
  gate?: Promise<void>
  close(): Promise<void>
}

/** Each tool says who it is and what it was given. The port is chosen, where one is given: a server that comes back. */
export async function startCountingServer(name: string, tools: CountedTool[], port = 0): Promise<CountingServer> {
  const makeServer = () => {
    const server = new McpServer({ name, version: '1.0.0' }, { capabilities: { tools: {} } })
    server.server.setRequestHandler('tools/list', () => ({
      tools: running.tools.map((tool) => ({ ...tool, inputSchema: tool.inputSchema ?? { type: 'object' as const } })),
    }))
    server.server.setRequestHandler('tools/call', async ({ params }) => {
      const call = { name: params.name, arguments: params.arguments ?? {} }
      running.calls.push(call)
      // Answers overtake each other.
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 3))
      return { content: [{ type: 'text' as const, text: JSON.stringify({ server: name, ...call }) }] }
    })
    return server
  }
  const handler = createMcpHandler(makeServer)
  const http = createServer(async (incoming, outgoing) => {
    running.requests++
    const body = Buffer.concat(await incoming.toArray())
    await running.gate
    if (running.refuses !== undefined) return void outgoing.writeHead(running.refuses).end()
    const headers = new Headers(Object.entries(incoming.headers).map(([key, value]) => [key, String(value)]))
    const init = { method: incoming.method ?? 'GET', headers, ...(body.length > 0 ? { body } : {}) }
    const response = await handler.fetch(new Request(`http://${incoming.headers.host}${incoming.url}`, init))
    outgoing.writeHead(response.status, Object.fromEntries(response.headers))
    const reader = response.body?.getReader()
    outgoing.on('close', () => reader?.cancel().catch(() => {}))
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) outgoing.write(part.value)
    outgoing.end()
  })
  await new Promise<void>((resolve) => http.listen(port, '127.0.0.1', resolve))
  const running: CountingServer = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    tools,
    calls: [],
    requests: 0,
    close: () =>
      new Promise<void>((resolve) => {
        http.close(() => resolve())
        http.closeAllConnections()
      }),
  }
  return running
}
