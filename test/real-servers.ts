/** Real MCP servers for tests: the public ones over stdio, and small ones of the official SDK over HTTP in either era. */
import { spawn } from 'node:child_process'
import { createServer, type RequestListener } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { createMcpHandler, McpServer, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import { z } from 'zod'

const require = createRequire(import.meta.url)

export const EVERYTHING = require.resolve('@modelcontextprotocol/server-everything/dist/index.js')
export const FILESYSTEM = require.resolve('@modelcontextprotocol/server-filesystem/dist/index.js')

export interface RunningServer {
  url: string
  /** Calls that it got. */
  calls: number
  /** What came along with each. */
  metas: Array<Record<string, unknown>>
  close(): Promise<void>
}

/**
 * One that echoes, in the given era; each answer waits a moment of its own, so that answers overtake each other. With
 * `cors`, pages may reach it, and read the header of that name. With `logs` it logs each text that it echoes.
 */
export async function startHttpServer(
  era: 'legacy' | 'modern',
  { cors, logs = false }: { cors?: string; logs?: boolean } = {},
): Promise<RunningServer> {
  const running = { calls: 0, metas: [] as Record<string, unknown>[] }
  const makeServer = () => {
    const info = { name: `test ${era}`, version: '1.0.0' }
    const server = new McpServer(info, logs ? { capabilities: { logging: {} } } : {})
    server.registerTool(
      'echo',
      { inputSchema: z.object({ text: z.string() }), annotations: { readOnlyHint: true } },
      async ({ text }, { mcpReq }) => {
        running.calls++
        running.metas.push({ ...mcpReq._meta })
        if (logs) await mcpReq.log('info', `echoes ${text}`, 'echo')
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 5))
        return { content: [{ type: 'text', text }] }
      },
    )
    return server
  }
  const handler = createMcpHandler(makeServer)
  const listener = era === 'modern' ? onNode((request) => handler.fetch(request)) : withSessions(makeServer)
  const http = createServer(cors === undefined ? listener : withCors(listener, cors))
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const { port } = http.address() as AddressInfo
  return Object.assign(running, {
    url: `http://127.0.0.1:${port}/mcp`,
    close: () =>
      new Promise<void>((resolve) => {
        http.close(() => resolve())
        http.closeAllConnections()
      }),
  })
}

/** The public server over its old SSE transport. */
export async function startSseServer(): Promise<RunningServer> {
  const port = await freePort()
  const child = spawn(process.execPath, [EVERYTHING, 'sse'], {
    env: { PORT: String(port), PATH: '/usr/bin:/bin' },
    stdio: 'ignore',
  })
  for (let tries = 0; tries < 200; tries++) {
    const up = await fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    )
    if (up) break
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return { url: `http://127.0.0.1:${port}/sse`, calls: 0, metas: [], close: async () => void child.kill('SIGKILL') }
}

function withSessions(makeServer: () => McpServer): RequestListener {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>()
  return onNode(async (request) => {
    const known = sessions.get(request.headers.get('mcp-session-id') ?? '')
    if (known) return known.handleRequest(request)
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, transport),
    })
    await makeServer().connect(transport)
    return transport.handleRequest(request)
  })
}

function withCors(listener: RequestListener, exposed: string): RequestListener {
  return (incoming, outgoing) => {
    outgoing.setHeader('access-control-allow-origin', '*')
    outgoing.setHeader('access-control-allow-methods', 'GET, POST, DELETE')
    outgoing.setHeader('access-control-allow-headers', '*')
    outgoing.setHeader('access-control-expose-headers', exposed)
    if (incoming.method === 'OPTIONS') outgoing.writeHead(204).end()
    else listener(incoming, outgoing)
  }
}

/** A web handler as a listener of `node:http`. */
function onNode(handle: (request: Request) => Promise<Response>): RequestListener {
  return async (incoming, outgoing) => {
    const body = Buffer.concat(await incoming.toArray())
    const headers = new Headers(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]))
    const { method = 'GET' } = incoming
    const init = { method, headers, ...(body.length > 0 ? { body } : {}) }
    const response = await handle(new Request(`http://${incoming.headers.host}${incoming.url}`, init))
    outgoing.writeHead(response.status, Object.fromEntries(response.headers))
    outgoing.flushHeaders()
    const reader = response.body?.getReader()
    outgoing.on('close', () => reader?.cancel().catch(() => {}))
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) outgoing.write(part.value)
    outgoing.end()
  }
}

async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
  const { port } = probe.address() as AddressInfo
  await new Promise((resolve) => probe.close(resolve))
  return port
}
