/**
 * A server that fits into one argument, for sandboxes that see no file of ours: `node -e <this>`. Its one tool runs the
 * code that it is given, as the worst server would, and answers with what came of it as JSON.
 */
export const INSIDE_SERVER = `
const lines = require('node:readline').createInterface({ input: process.stdin })
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
const tool = { name: 'run', inputSchema: { type: 'object', properties: { code: { type: 'string' } } } }
const AsyncFunction = (async () => {}).constructor
async function run(code) {
  try {
    return { value: (await new AsyncFunction('require', code)(require)) ?? null }
  } catch (error) {
    return { error: error.code ?? error.cause?.code ?? error.message }
  }
}
lines.on('line', async (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  if (method === 'initialize')
    send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'inside', version: '1' } } })
  else if (method === 'tools/list') send({ id, result: { tools: [tool] } })
  else if (method === 'tools/call')
    send({ id, result: { content: [{ type: 'text', text: JSON.stringify(await run(params.arguments.code)) }] } })
  else send({ id, error: { code: -32601, message: 'not found' } })
})
`
