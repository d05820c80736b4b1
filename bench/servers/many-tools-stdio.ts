/** A small server with a given number of tools: `node many-tools-stdio.ts <number> <tools>`. No SDK, so that it starts fast. */
import { createInterface } from 'node:readline'

const WORDS =
  'account archive budget calendar card channel chart city cluster comment company contact customer date deal document email event field file folder group invoice issue label link list map member message metric note office order page payment person plan price project query record report request review role route rule schedule score search site source status step store table tag task team template thread ticket token topic trade type unit user value version video view week window zone'.split(
    ' ',
  )
const [number = 0, count = 29] = process.argv.slice(2).map(Number)
let state = number * 7919 + 1
const word = () => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return WORDS[state % WORDS.length] as string
}
const words = (length: number) => Array.from({ length }, word).join(' ')
const tools = Array.from({ length: count }, (_, at) => ({
  name: `${word()}_${word()}_${at}`,
  description: `${words(30)}.`,
  inputSchema: {
    type: 'object',
    properties: Object.fromEntries(
      Array.from({ length: 6 }, () => [word(), { type: 'string', description: words(12) }]),
    ),
  },
}))

const results: Record<string, () => object> = {
  initialize: () => ({
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: `server-${number}`, version: '1.0.0' },
  }),
  'tools/list': () => ({ tools }),
  ping: () => ({}),
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line)
  if (id === undefined) return
  const result = results[method]?.()
  const answer = result ? { result } : { error: { code: -32_601, message: 'Method not found' } }
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`)
})
