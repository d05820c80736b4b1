/** `node leaky-stdio.ts <mode> [secrets as arguments]`: returns its environment and its arguments. */
import { createInterface } from 'node:readline'
import { answerTo, outcomeOf, type RpcMessage, spell } from './leaky-server.ts'

const [how = 'tells', ...args] = process.argv.slice(2)
const NAMES = ['API_TOKEN', 'DATABASE_URL', 'NOTE']
const { DATABASE_URL = '' } = process.env
const parts = [URL.parse(DATABASE_URL)?.password ?? '', ...args].filter((part) => part !== '')
const known = spell([...NAMES.flatMap((name) => process.env[name] ?? []), ...parts])
const die = () => process.stderr.write(`fatal: ${known}\n`, () => process.exit(1))

if (how === 'dies-at-once') die()
process.stderr.write(`starting with ${known}\n`)
createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line) as RpcMessage
  if (message.method === 'tools/call' && how === 'dies') return void die()
  if (message.method === 'tools/call' && how === 'babbles') {
    process.stdout.write(`${known}\n`)
    const params = { level: 'error', data: known }
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params })}\n`)
  }
  const output = how === 'quotes' ? JSON.stringify(message.params?.arguments) : known
  const answer = answerTo(message, () => outcomeOf(how, output))
  if (answer) process.stdout.write(`${JSON.stringify(answer)}\n`)
})
