/** The least that a call can take on this server: its bytes over a kept connection of `node:http`, and nothing of a client. */
import { Agent, request } from 'node:http'
import type { Open } from './contenders.ts'
import type { Target } from './targets.ts'

const MODERN = '2026-07-28'
const clientInfo = { name: 'bench', version: '1.0.0' }
const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': MODERN,
  'io.modelcontextprotocol/clientInfo': clientInfo,
  'io.modelcontextprotocol/clientCapabilities': {},
}

export async function floor({ url, era }: Target & { type: 'http' }): Promise<Open> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(era === 'modern' ? { 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/call', 'mcp-name': 'echo' } : {}),
  }
  const post = (message: object) =>
    new Promise<{ session: string | undefined; text: string }>((resolve, reject) => {
      const outgoing = request(url, { method: 'POST', agent, headers }, (incoming) => {
        const parts: Buffer[] = []
        incoming.on('data', (part: Buffer) => parts.push(part))
        incoming.on('end', () => {
          const session = incoming.headers['mcp-session-id'] as string | undefined
          resolve({ session, text: Buffer.concat(parts).toString() })
        })
      })
      outgoing.on('error', reject)
      outgoing.end(JSON.stringify({ jsonrpc: '2.0', ...message }))
    })
  if (era === 'legacy') {
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
    const { session } = await post({ id: 0, method: 'initialize', params })
    Object.assign(headers, { 'mcp-protocol-version': '2025-11-25', 'mcp-session-id': session })
    await post({ method: 'notifications/initialized' })
  }
  let id = 1
  const params = {
    name: 'echo',
    arguments: { text: 'hello' },
    ...(era === 'modern' ? { _meta: ENVELOPE } : {}),
  }
  return {
    async call() {
      const { text } = await post({ id: id++, method: 'tools/call', params })
      if (!text.includes('hello')) throw new Error(`Not the echo: ${text}`)
    },
    close: async () => agent.destroy(),
  }
}
