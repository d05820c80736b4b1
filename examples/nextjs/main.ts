/**
 * A Next.js app whose users add their own servers. Only `lib/host.ts` and one route use Loadout. Two users send requests to the
 * route, as Next.js does; a scripted model replaces the real one.
 */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { getRequestListener } from '@hono/node-server'
import { startModelServer } from '@loadout/core/testing'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'

/** A server that one user adds. */
async function startNotes(owner: string) {
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'notes', version: '1.0.0' })
    server.registerTool(
      'add',
      { description: 'Adds a note.', inputSchema: z.object({ text: z.string() }) },
      ({ text }) => ({
        content: [{ type: 'text', text: `${owner} notes: ${text}` }],
      }),
    )
    return server
  })
  const http = createServer(getRequestListener((request) => handler.fetch(request)))
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  return { http, url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp` }
}

const steps = ['Ann', 'Bob'].flatMap((name) => [
  { answer: { calls: [{ name: 'mcp_notes_add', arguments: { text: 'milk' } }] } },
  { answer: `It is noted, ${name}.` },
])
const model = await startModelServer(steps)
Object.assign(process.env, {
  SESSION_SECRET: 'a secret of the app',
  PRIVATE_NETWORK: 'on',
  MODEL: 'anthropic:claude-opus-5-5',
  MODEL_URL: model.baseUrl.aiSdkAnthropic,
})

const { DELETE, GET, POST, PUT } = await import('./app/api/[...path]/route.ts')
const { host } = await import('./lib/host.ts')
const { cookieFor } = await import('./lib/session.ts')

const request = (user: string, path: string, body?: unknown) =>
  new Request(`http://localhost:3000/api/${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json', cookie: cookieFor(user) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
const read = async (answer: Response | Promise<Response>) => (await answer).json()

async function converse(user: string) {
  await POST(request(user, 'threads', { id: 'chat' }))
  const body = { messages: [{ role: 'user', parts: [{ type: 'text', text: 'Note that I need milk.' }] }] }
  const answer = await POST(request(user, 'threads/chat/messages', body))
  let text = ''
  const approved = new Set<string>()
  for await (const chunk of answer.body as ReadableStream<Uint8Array>) {
    text += new TextDecoder().decode(chunk)
    // Tools without annotations need approval.
    const [, id] = /"type":"data-approval","id":"(\w+)"/.exec(text) ?? []
    if (id && approved.size < approved.add(id).size)
      await POST(request(user, `approvals/${id}/answer`, { decision: 'allow' }))
  }
  return text
}

const servers = await Promise.all(['Ann', 'Bob'].map(startNotes))
try {
  const forged = new Request('http://localhost:3000/api/mcp', { headers: { cookie: `${cookieFor('ann')}0` } })
  assert.equal((await GET(forged)).status, 401)
  for (const [index, user] of ['ann', 'bob'].entries()) {
    const added = await POST(request(user, 'mcp', { name: 'notes', url: servers[index]?.url }))
    const { state, toolCount } = await added.json()
    assert.deepEqual([added.status, state.status, toolCount], [201, 'connected', 1])
  }
  const key = { method: 'PUT', headers: { 'content-type': 'application/json', cookie: '' }, body: '{"key":"sk-own"}' }
  for (const user of ['ann', 'bob']) {
    const saved = new Request('http://localhost:3000/api/models/anthropic/key', {
      ...key,
      headers: { ...key.headers, cookie: cookieFor(user) },
    })
    assert.equal((await PUT(saved)).status, 204)
  }
  // Each user has their own server, although both have the same name.
  assert.match(await converse('ann'), /Ann notes: milk/)
  assert.match(await converse('bob'), /Bob notes: milk/)
  const { toolkits } = await read(GET(request('bob', 'mcp')))
  assert.equal(toolkits.length, 1)
  const remove = new Request(request('bob', 'mcp/notes'), { method: 'DELETE' })
  assert.equal((await DELETE(remove)).status, 204)
  model.done()

  const sources = await Promise.all(
    ['lib/host.ts', 'app/api/[...path]/route.ts'].map((path) => readFile(join(import.meta.dirname, path), 'utf8')),
  )
  const lines = sources.join('\n').split('\n')
  const count = lines.filter((line) => line.trim() !== '' && !line.trim().startsWith('//')).length
  assert.ok(count <= 25, `${count} lines use Loadout`)
} finally {
  for (const { http } of servers) http.close().closeAllConnections()
  await host.close()
  await model.close()
}
