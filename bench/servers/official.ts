/** The tools of the lean servers, on the official server SDK. */
import { McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'

export function makeServer(): McpServer {
  const server = new McpServer({ name: 'official', version: '1.0.0' })
  for (let index = 0; index < 20; index++)
    server.registerTool(
      index === 0 ? 'echo' : `echo_${index}`,
      { description: 'Says it again.', inputSchema: z.object({ text: z.string() }) },
      async (input) => ({ content: [{ type: 'text', text: JSON.stringify(input) }] }),
    )
  return server
}
