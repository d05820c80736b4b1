/** The MCP server of this example: a small GitHub over HTTP, with annotations. */
import { serve } from '@hono/node-server'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'

export async function startGithub(): Promise<{ url: string; close(): void }> {
  const issues = [{ title: 'It does not start', state: 'open' }]
  const { fetch } = createMcpHandler(() => serverOf(issues))
  return new Promise((resolve) => {
    const server = serve({ fetch: (request) => fetch(request), port: 0, hostname: '127.0.0.1' }, ({ port }) =>
      resolve({ url: `http://127.0.0.1:${port}/mcp`, close: () => void server.close() }),
    )
  })
}

function serverOf(issues: Array<{ title: string; state: string }>): McpServer {
  const server = new McpServer({ name: 'github', version: '1.0.0' })
  const answer = (value: unknown) => ({ content: [{ type: 'text' as const, text: JSON.stringify(value) }] })
  const reads = {
    description: 'Lists the issues of the repository.',
    annotations: { readOnlyHint: true },
    inputSchema: z.object({ state: z.enum(['open', 'closed']) }),
  }
  server.registerTool('list_issues', reads, ({ state }) => answer(issues.filter((issue) => issue.state === state)))
  const creates = { description: 'Creates an issue.', inputSchema: z.object({ title: z.string() }) }
  server.registerTool('create_issue', creates, ({ title }) => {
    issues.push({ title, state: 'open' })
    return answer({ created: title })
  })
  server.registerTool('delete_repo', { annotations: { destructiveHint: true } }, () => answer('gone'))
  return server
}
