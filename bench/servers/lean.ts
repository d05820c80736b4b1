/** Hand-written JSON-RPC, as little work as a server can do, so that what is measured is the client. One era each. */
export type Era = 'legacy' | 'modern'

interface Message {
  id?: number | string
  method?: string
  params?: { arguments?: unknown }
}

const inputSchema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
const TOOLS = Array.from({ length: 20 }, (_, index) => ({
  name: index === 0 ? 'echo' : `echo_${index}`,
  description: 'Says it again.',
  inputSchema,
}))
const INFO = { serverInfo: { name: 'lean', version: '1.0.0' }, capabilities: { tools: {} } }

/** The answer as JSON; undefined where none is due. */
export function answer(message: Message, era: Era): string | undefined {
  if (message.id === undefined) return undefined
  return JSON.stringify({ jsonrpc: '2.0', id: message.id, ...outcome(message, era) })
}

function outcome({ method, params }: Message, era: Era): object {
  const unknown = { error: { code: -32_601, message: 'Method not found' } }
  const complete = era === 'modern' ? { resultType: 'complete' } : {}
  const keeps = era === 'modern' ? { ttlMs: 0, cacheScope: 'private' } : {}
  switch (method) {
    case 'initialize':
      return era === 'modern' ? unknown : { result: { protocolVersion: '2025-11-25', ...INFO } }
    case 'server/discover':
      return era === 'legacy'
        ? unknown
        : { result: { ...complete, supportedVersions: ['2026-07-28'], ...INFO, ...keeps } }
    case 'tools/list':
      return { result: { ...complete, tools: TOOLS, ...keeps } }
    case 'tools/call':
      return { result: { ...complete, content: [{ type: 'text', text: JSON.stringify(params?.arguments ?? {}) }] } }
    default:
      return unknown
  }
}
