/** The SDK's own client over our fetch, against the SDK's own server, in both protocol eras. */

import type { RequestListener } from 'node:http'
import {
  auth,
  Client,
  type OAuthClientProvider,
  SSEClientTransport,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { createMcpHandler, McpServer, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { listen } from '../../../../test/loopback.ts'
import { createGuardedFetch, withOriginHeaders } from '../../src/connections/http/guard/guarded-fetch.ts'
import { SIGN_IN } from '../fixtures/sign-in.ts'

const guarded = createGuardedFetch({ privateNetwork: true })
afterAll(() => guarded.close())

function makeServer(): McpServer {
  const server = new McpServer({ name: 'test', version: '1.0.0' })
  const inputSchema = z.object({ text: z.string() })
  server.registerTool('echo', { inputSchema }, async ({ text }) => ({ content: [{ type: 'text', text }] }))
  server.registerTool('steps', { inputSchema }, async ({ text }, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken ?? 0
    for (const progress of [1, 2])
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress } })
    return { content: [{ type: 'text', text }] }
  })
  return server
}

/** A web handler as a listener of `node:http`. */
function onNode(handle: (request: Request) => Promise<Response>): RequestListener {
  return async (incoming, outgoing) => {
    const body = Buffer.concat(await incoming.toArray())
    const headers = new Headers(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]))
    const { method = 'GET' } = incoming
    const gone = new AbortController()
    outgoing.on('close', () => gone.abort())
    const init = { method, headers, body: body.length > 0 ? body : undefined, signal: gone.signal }
    const response = await handle(new Request(`http://${incoming.headers.host}${incoming.url}`, init))
    outgoing.writeHead(response.status, Object.fromEntries(response.headers))
    outgoing.flushHeaders()
    const reader = response.body?.getReader()
    outgoing.on('close', () => reader?.cancel().catch(() => {}))
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) outgoing.write(part.value)
    outgoing.end()
  }
}

/** One session per client, as servers of the first era keep them. */
function withSessions(enableJsonResponse: boolean): RequestListener {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>()
  return onNode(async (request) => {
    const known = sessions.get(request.headers.get('mcp-session-id') ?? '')
    if (known) return known.handleRequest(request)
    const transport = new WebStandardStreamableHTTPServerTransport({
      enableJsonResponse,
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, transport),
    })
    await makeServer().connect(transport)
    return transport.handleRequest(request)
  })
}

const modern = createMcpHandler(makeServer)
const SERVERS: Record<string, { listener: RequestListener; era: 'legacy' | 'modern'; streams: boolean }> = {
  'with sessions, JSON': { listener: withSessions(true), era: 'legacy', streams: false },
  'with sessions, event streams': { listener: withSessions(false), era: 'legacy', streams: true },
  '2026-07-28': { listener: onNode((request) => modern.fetch(request)), era: 'modern', streams: true },
}

describe('the MCP SDK over guarded fetch', () => {
  for (const [name, { listener, era, streams }] of Object.entries(SERVERS))
    it(`lists and calls tools of a server ${name}`, async () => {
      await using server = await listen(listener)
      const fetch = withOriginHeaders(guarded.fetch, `http://127.0.0.1:${server.port}`, { 'x-api-key': 'k' })
      const client = new Client(
        { name: 'test', version: '1.0.0' },
        { versionNegotiation: { mode: era === 'modern' ? 'auto' : 'legacy' } },
      )
      await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${server.port}/mcp`), { fetch }))
      expect((await client.listTools()).tools.map((tool) => tool.name)).toEqual(['echo', 'steps'])

      const all = Array.from({ length: 30 }, async (_, i) => {
        const result = await client.callTool({ name: 'echo', arguments: { text: `grüße ${i}` } })
        return result.content
      })
      expect(await Promise.all(all)).toEqual(
        Array.from({ length: 30 }, (_, i) => [{ type: 'text', text: `grüße ${i}` }]),
      )

      const seen: number[] = []
      const onprogress = ({ progress }: { progress: number }) => void seen.push(progress)
      const result = await client.callTool({ name: 'steps', arguments: { text: 'done' } }, { onprogress })
      expect(result.content).toEqual([{ type: 'text', text: 'done' }])
      if (streams) expect(seen).toEqual([1, 2])
      expect(server.requests.every(({ headers }) => headers['x-api-key'] === 'k')).toBe(true)
      await client.close()
    })

  it('supports the old HTTP+SSE transport', async () => {
    let stream: { write(text: string): unknown } | undefined
    await using server = await listen(async (request, response) => {
      if (request.method === 'GET') {
        stream = response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write('event: endpoint\ndata: /messages\n\n')
        return
      }
      const message = JSON.parse(Buffer.concat(await request.toArray()).toString())
      response.writeHead(202).end('Accepted')
      const serverInfo = { name: 'old', version: '1' }
      const result = { protocolVersion: '2024-11-05', capabilities: {}, serverInfo }
      if (message.id !== undefined)
        stream?.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id: message.id, result })}\n\n`)
    })
    const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: 'legacy' } })
    await client.connect(
      new SSEClientTransport(new URL(`http://127.0.0.1:${server.port}/sse`), { fetch: guarded.fetch }),
    )
    expect(client.getServerVersion()).toMatchObject({ name: 'old' })
    await client.close()
  })

  it('reads the OAuth errors of a token endpoint', async () => {
    await using server = await listen((request, response) => {
      const issuer = `http://127.0.0.1:${server.port}`
      const json = (status: number, body: object) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
      if (request.url?.includes('oauth-protected-resource'))
        json(200, { resource: issuer, authorization_servers: [issuer] })
      else if (request.url?.includes('oauth-authorization-server'))
        json(200, {
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          response_types_supported: ['code'],
          code_challenge_methods_supported: ['S256'],
        })
      else json(400, { error: 'invalid_grant', error_description: 'used before' })
    })
    const provider: OAuthClientProvider = {
      ...SIGN_IN,
      discoveryState: () => ({ authorizationServerUrl: `http://127.0.0.1:${server.port}` }),
      invalidateCredentials: () => {},
    }
    const signIn = auth(provider, {
      serverUrl: `http://127.0.0.1:${server.port}`,
      authorizationCode: 'x',
      fetchFn: guarded.fetch,
    })
    await expect(signIn).rejects.toThrow('used before')
    expect(server.requests.at(-1)).toMatchObject({
      url: '/token',
      headers: { 'content-type': expect.stringContaining('application/x-www-form-urlencoded') },
    })
  })
})
