/** Drives an app over HTTP: adds a server, chats with a tool call, approves the call. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { startModelServer } from '@loadout/core/testing'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'

/** An MCP server over HTTP with one tool, which needs approval because it has no annotations. */
export async function startNotes() {
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'notes', version: '1.0.0' })
    const inputSchema = z.object({ text: z.string() })
    server.registerTool('add', { description: 'Adds a note.', inputSchema }, ({ text }) => ({
      content: [{ type: 'text', text: `noted: ${text}` }],
    }))
    return server
  })
  const http = createServer(getRequestListener((request) => handler.fetch(request), { overrideGlobalObjects: false }))
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const { port } = http.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/mcp`, close: () => http.close().closeAllConnections() }
}

/** A model that calls the tool, then answers. */
export const startScriptedModel = () =>
  startModelServer([
    { answer: { calls: [{ name: 'mcp_notes_add', arguments: { text: 'milk' } }] } },
    { answer: 'Milk is on the list.' },
  ])

export interface Driven {
  /** Where the API is, such as `http://127.0.0.1:3000/tools`. */
  url: string
  /** Identifies the user. */
  headers: Record<string, string>
  notesUrl: string
}

/** Returns the stream of the chat. */
export async function driveApp({ url, headers, notesUrl }: Driven): Promise<string> {
  const send = async (method: string, path: string, body?: unknown) => {
    const init = { method, headers: { ...headers, 'content-type': 'application/json' } }
    const response = await fetch(
      `${url}/api/${path}`,
      body === undefined ? init : { ...init, body: JSON.stringify(body) },
    )
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    return response
  }
  const added = await (await send('POST', 'mcp', { name: 'notes', url: notesUrl })).json()
  if (added.state.status !== 'connected') throw new Error(JSON.stringify(added.state))
  await send('PUT', 'models/anthropic/key', { key: 'sk-own' })
  await send('POST', 'threads', { id: 'chat' })
  const messages = [{ role: 'user', parts: [{ type: 'text', text: 'Note that I need milk.' }] }]
  const answer = await send('POST', 'threads/chat/messages', { messages })
  let text = ''
  let isAnswered = false
  for await (const chunk of answer.body as ReadableStream<Uint8Array>) {
    text += new TextDecoder().decode(chunk)
    const [, id] = /"type":"data-approval","id":"(\w+)"/.exec(text) ?? []
    if (id === undefined || isAnswered) continue
    isAnswered = true
    await send('POST', `approvals/${id}/answer`, { decision: 'allow' })
  }
  return text
}
