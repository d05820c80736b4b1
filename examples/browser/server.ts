/** The MCP server of this example: notes over HTTP, for pages of any origin that have its key. */
import { type ServerType, serve } from '@hono/node-server'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { Hono } from 'hono'
import { cors } from 'hono/cors'
import { z } from 'zod'

const KEY = 's3cret'

export async function startNotes(port = 0): Promise<{ url: string; close(): Promise<void> }> {
  const notes = ['Buy bread', 'Call Ann']
  const { fetch } = createMcpHandler(() => serverOf(notes))
  const app = new Hono()
    // Without CORS headers the browser blocks requests, answers and the session ID.
    .use(cors({ origin: '*', exposeHeaders: ['mcp-session-id', 'www-authenticate'] }))
    .all('/mcp', async (c) => (c.req.header('x-api-key') === KEY ? fetch(c.req.raw) : c.text('Which key?', 401)))
  const listening = await new Promise<{ server: ServerType; port: number }>((resolve) => {
    const server = serve({ fetch: app.fetch, port, hostname: '127.0.0.1' }, (info) =>
      resolve({ server, port: info.port }),
    )
  })
  return {
    url: `http://127.0.0.1:${listening.port}/mcp`,
    close: () => new Promise((resolve) => listening.server.close(() => resolve())),
  }
}

function serverOf(notes: string[]): McpServer {
  const server = new McpServer({ name: 'notes', version: '1.0.0' })
  const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] })
  server.registerTool('list_notes', { annotations: { readOnlyHint: true } }, () => text(notes.join(', ')))
  server.registerTool('add_note', { inputSchema: z.object({ note: z.string() }) }, ({ note }) => {
    notes.push(note)
    return text('Added.')
  })
  server.registerTool('delete_notes', { annotations: { destructiveHint: true } }, () => {
    notes.length = 0
    return text('All gone.')
  })
  return server
}
