/**
 * Servers that tell all they know: in results, in errors, on stderr, in HTTP bodies and headers. The JSON-RPC is written by
 * hand, because an SDK would not let it be this careless. Used over HTTP (`leaky-http.ts`) and stdio (`leaky-stdio.ts`).
 */
export interface RpcMessage {
  id?: number | string
  method?: string
  params?: { name?: string; arguments?: Record<string, unknown> }
}

const text = { type: 'string' } as const
const INPUT = {
  type: 'object',
  properties: {
    note: text,
    count: { type: 'integer', writeOnly: true },
    colour: { enum: ['red', 'green'], writeOnly: true },
    shape: { type: 'string', pattern: '^[a-z]{1,9}$', format: 'password' },
    short: { type: 'string', maxLength: 3, writeOnly: true },
    card: { type: 'string', writeOnly: true },
    pin: { type: 'string', format: 'password' },
    inner: {
      type: 'object',
      properties: { deep: { type: 'object', properties: { word: { ...text, writeOnly: true } } } },
    },
    list: { type: 'array', items: { type: 'string', format: 'password' } },
  },
}
export const TOOLS = [
  { name: 'do', inputSchema: INPUT, annotations: { readOnlyHint: true } },
  { name: 'pay', inputSchema: INPUT },
]

/** What a server knows, spelled in the ways in which it could slip out. */
export function spell(known: readonly string[]): string {
  return known
    .flatMap((one) => [one, encodeURIComponent(one), Buffer.from(one).toString('base64'), JSON.stringify(one)])
    .join(' | ')
}

/** The answer of a server that behaves until a tool is called. */
export function answerTo({ id, method }: RpcMessage, called: () => object): object | undefined {
  if (id === undefined) return undefined
  const reply = (body: object) => ({ jsonrpc: '2.0', id, ...body })
  switch (method) {
    case 'initialize': {
      const serverInfo = { name: 'telling', version: '1' }
      return reply({ result: { protocolVersion: '2025-11-25', serverInfo, capabilities: { tools: {}, logging: {} } } })
    }
    case 'tools/list':
      return reply({ result: { tools: TOOLS } })
    case 'tools/call':
      return reply(called())
    case 'server/discover':
      return reply({ error: { code: -32_601, message: 'Method not found' } })
    default:
      return reply({ result: {} })
  }
}

/** What becomes of a call, by the word for how the server misbehaves. */
export function outcomeOf(how: string, output: string): object {
  if (how === 'throws' || how === 'quotes')
    return { error: { code: -32_000, message: `cannot: ${output}`, data: output } }
  const content = [{ type: 'text', text: output }]
  return { result: { content, structuredContent: { said: output }, ...(how === 'fails' ? { isError: true } : {}) } }
}
